"""The card game Pig: its rules, and players with reaction times in simulated seconds.

Everyone passes cards to the left at once, to collect four of a kind; who has them touches the nose,
the last to follow loses the round and gets a letter of P-I-G. It has nothing but the name in common
with Pass the Pigs.

A round is a queue of events: a player puts a card down, notices a nose, touches the own one. The
same seed gives the same game.
"""

from __future__ import annotations

import heapq
import random
from collections import Counter, deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

RANKS = ("A", "K", "Q", "J", "10", "9", "8", "7", "6", "5", "4", "3", "2")
PENALTY_RANKS = ("K", "Q", "J", "2", "3", "4", "5", "6", "8", "9", "10")
SUITS = "♠♥♦♣"
MOST_PASSES = 20_000  # of a round; one that takes more has no loser and is counted
MOST_CAPPED = 20  # such rounds in a row, after which a game ends without winners

Card = tuple[str, str]  # rank and suit


class RuleError(ValueError):
    """Options that do not go together, or a move that the rules forbid."""


@dataclass(frozen=True)
class Variant:
    """The rules of a game; the defaults are those of the base game."""

    cards: int = 4  # in a hand; of 5, four of a kind are collected, of 3, three
    out_at_once: bool = False  # one letter is enough
    talk: bool = False  # nobody may talk to a PIG; who does becomes one
    stock: bool = False  # the whole deck; the dealer draws from it, who sits to the right discards
    spoons: bool = False  # one fewer than players, in place of noses
    in_turn: bool = False  # one card goes round ("Fire!"), in place of all at once
    penalty_rounds: int = 0  # so many rounds with a penalty pile, in place of letters

    def __post_init__(self) -> None:
        numbers = self.penalty_rounds > 0
        for wrong, text in (
            (self.cards not in (3, 4, 5), f"a hand has 3, 4 or 5 cards, not {self.cards}"),
            (self.penalty_rounds < 0, "the number of rounds with a penalty pile is positive"),
            (self.stock and self.in_turn, "a stock does not go with passing in turn"),
            (self.stock and numbers, "a stock leaves no cards for a penalty pile"),
            (numbers and (self.out_at_once or self.talk or self.spoons), "with a penalty pile "
             "nobody drops out: it goes with no letters, PIGs or spoons"),
            (self.spoons and self.out_at_once, "out at once needs no word: no spoons"),
        ):  # fmt: skip
            if wrong:
                raise RuleError(text)

    @property
    def word(self) -> str:
        """What a player who is out has spelled."""
        return "G" if self.out_at_once else "SPOONS" if self.spoons else "PIG"

    @property
    def kind(self) -> int:
        """So many cards of a rank are collected."""
        return min(self.cards, 4)

    @property
    def most_players(self) -> int:
        """As many as the deck suffices for: with a stock, a card has to be left over."""
        ranks = len(PENALTY_RANKS) if self.penalty_rounds else len(RANKS)
        return min(13, (4 * ranks - self.stock) // self.cards)

    def check_players(self, count: int) -> None:
        """Refuses a number of players that this variant has no cards for."""
        if not 3 <= count <= self.most_players:
            raise RuleError(f"this variant is for 3 to {self.most_players} players, not {count}")

    def deck(self, players: int) -> list[Card]:
        """The cards of a round: all with a stock, else as many whole ranks as the hands need."""
        ranks = PENALTY_RANKS if self.penalty_rounds else RANKS
        count = len(RANKS) if self.stock else -(-self.cards * players // 4)
        return [(rank, suit) for rank in ranks[:count] for suit in SUITS]


Policy = Callable[[Sequence[Card], random.Random], Card]


def pass_fewest(hand: Sequence[Card], rng: random.Random) -> Card:
    """Keeps pairs and triples: passes a card of the rank of which there are fewest."""
    held = Counter(rank for rank, _ in hand)
    least = min(held.values())
    return rng.choice([card for card in hand if held[card[0]] == least])


POLICIES: dict[str, Policy] = {
    "any": lambda hand, rng: rng.choice(hand),
    "fewest": pass_fewest,
}


@dataclass(frozen=True)
class Player:
    """One player; the numbers are assumptions."""

    name: str
    pace_s: float = 2.0  # mean time to choose a card [s]
    reaction_s: float = 0.4  # mean time from noticing to touching [s]
    attention: float = 0.5  # glances at the others a second
    slips: float = 0.0002  # how often a card is mistaken for the last one wanted: a false touch
    chats: float = 0.02  # chance a round of talking to a PIG
    policy: str | None = "fewest"  # one of `POLICIES`; None for a person, who is asked


@dataclass
class Round:
    """One round, from the deal to its loser; cards go to the left, to the next of `seats`."""

    variant: Variant
    seats: Sequence[Player]
    dealer: int
    rng: random.Random
    now_s: float = 0.0
    passes: int = 0
    touched: list[int] = field(default_factory=list)
    loser: int | None = None
    winner: int | None = None
    false_touch: bool = False
    capped: bool = False

    def __post_init__(self) -> None:
        count, size = len(self.seats), self.variant.cards
        self.deck = self.variant.deck(count)
        cards = list(self.deck)
        self.rng.shuffle(cards)
        self.hands = [cards[seat : count * size : count] for seat in range(count)]
        left = cards[count * size :]
        self.stock, self.aside = (left, []) if self.variant.stock else ([], left)
        self.discards: list[Card] = []
        self.spots: list[deque[Card]] = [deque() for _ in self.seats]  # to the left of each
        self.waiting = [False] * count
        self._events: list[tuple[float, int, str, int, int]] = []
        self._serial = 0
        for seat in range(count):
            if self.complete(seat):
                self._later(seat, "touch", self.seats[seat].reaction_s)
            elif not self.variant.in_turn or seat == self.left_of(self.dealer):
                self._later(seat, "put", self.seats[seat].pace_s)

    @property
    def over(self) -> bool:
        """Whether the round has a loser, or was given up."""
        return self.loser is not None or self.capped

    def left_of(self, seat: int) -> int:
        """The next player."""
        return (seat + 1) % len(self.seats)

    def complete(self, seat: int) -> bool:
        """Whether a hand holds what is collected."""
        held = Counter(rank for rank, _ in self.hands[seat])
        return max(held.values(), default=0) >= self.variant.kind

    def may_put(self, seat: int) -> bool:
        """Whether it is this player's to put a card down."""
        full = len(self.hands[seat]) >= self.variant.cards
        return full and not self.over and (not self.variant.in_turn or self._turn == seat)

    @property
    def _turn(self) -> int:
        return (self.dealer + 1 + self.passes) % len(self.seats)

    def run(self, until_s: float = float("inf")) -> None:
        """Goes on to this time, or to the end of the round."""
        while self._events and not self.over and self._events[0][0] <= until_s:
            self.now_s, _, what, seat, touches = heapq.heappop(self._events)
            if what == "put" and self.may_put(seat):
                policy = POLICIES[self.seats[seat].policy or "fewest"]
                self.put(seat, policy(self.hands[seat], self.rng))
            elif what == "notice" and touches == len(self.touched) and seat not in self.touched:
                self._later(seat, "touch", self.seats[seat].reaction_s)
            elif what == "touch":
                self.touch(seat)
        if not self.over and until_s < float("inf"):
            self.now_s = max(self.now_s, until_s)

    def put(self, seat: int, card: Card) -> None:
        """Puts a card down to the left, and picks up the one from the right if it is there."""
        if not self.may_put(seat) or card not in self.hands[seat]:
            raise RuleError("pass one card of your hand, when it is your turn")
        self.hands[seat].remove(card)
        self.passes += 1
        taker = self.left_of(seat)
        if self.variant.stock and taker == self.dealer:
            self.discards.append(card)
        else:
            self.spots[seat].append(card)
        self.waiting[seat] = not self.variant.in_turn
        for hungry in (seat, taker, self.dealer):
            if self.waiting[hungry] or (self.variant.in_turn and hungry == taker):
                self._pick(hungry)
        if self.passes >= MOST_PASSES and not self.touched:
            self.capped = True

    def _pick(self, seat: int) -> None:
        if self.variant.stock and seat == self.dealer:
            if not self.stock:  # the pile is turned over: what was put down first comes first
                self.stock, self.discards = self.discards[::-1], []
            card = self.stock.pop() if self.stock else None
        else:
            card = self.spots[seat - 1].popleft() if self.spots[seat - 1] else None
        if card is None:
            return
        self.waiting[seat] = False
        self.hands[seat].append(card)
        player = self.seats[seat]
        if player.policy is None:
            return
        if self.complete(seat) or self.rng.random() < player.slips:
            self._later(seat, "touch", player.reaction_s)
        else:
            self._later(seat, "put", player.pace_s)

    def touch(self, seat: int) -> None:
        """Touches the nose, grabs a spoon, or slams the hand; only the first has to be right."""
        if self.over or seat in self.touched:
            return
        if not self.touched and not self.complete(seat):
            self.loser, self.false_touch = seat, True
            return
        self.touched.append(seat)
        self.winner = self.touched[0]
        others = [other for other in range(len(self.seats)) if other not in self.touched]
        if len(others) == 1:
            self.loser = others[0]
        for other in others:  # the more noses are touched, the sooner one is seen
            glances = self.seats[other].attention * len(self.touched)
            self._later(other, "notice", 1.0 / glances)

    def _later(self, seat: int, what: str, mean_s: float) -> None:
        """An event of a player, unless a person is asked; glances come at random."""
        if self.seats[seat].policy is None:
            return
        if what == "notice":
            wait_s = self.rng.expovariate(1.0 / mean_s)
        else:
            wait_s = mean_s * self.rng.uniform(0.5, 1.5)
        self._serial += 1
        event = (self.now_s + wait_s, self._serial, what, seat, len(self.touched))
        heapq.heappush(self._events, event)

    def check(self) -> None:
        """An AssertionError if a card was lost or made, or a hand is too large."""
        cards = [*self.stock, *self.discards, *self.aside]
        for group in (*self.hands, *self.spots):
            cards += group
        assert sorted(cards) == sorted(self.deck)
        most = self.variant.cards + self.variant.in_turn  # in turn, one more is looked at
        assert all(len(hand) <= most for hand in self.hands)


@dataclass
class Game:
    """A game over many rounds; players are named by their number, `playing` are still in."""

    variant: Variant
    players: Sequence[Player]
    rng: random.Random
    rounds: int = 0
    capped: int = 0
    false_touches: int = 0
    passes: int = 0

    def __post_init__(self) -> None:
        self.variant.check_players(len(self.players))
        numbers = range(len(self.players))
        self.playing = list(numbers)
        self.letters, self.lost = [0 for _ in numbers], [0 for _ in numbers]
        self.kilos: list[list[Card]] = [[] for _ in numbers]
        hands = self.variant.deck(len(self.players))
        whole = [(rank, suit) for rank in RANKS for suit in SUITS]
        self.pile = [card for card in whole if card not in hands]  # of use as the penalty pile
        self.rng.shuffle(self.pile)
        self.dealer = self.rng.choice(self.playing)
        self._capped_in_a_row = 0

    @property
    def over(self) -> bool:
        """Whether two are left, the rounds are played, or nobody ever gets four of a kind."""
        if self._capped_in_a_row >= MOST_CAPPED:
            return True
        if self.variant.penalty_rounds:
            return self.rounds >= self.variant.penalty_rounds
        return len(self.playing) <= 2

    @property
    def winners(self) -> list[int]:
        """The last two, or those with the fewest kilos; nobody while the game goes on."""
        if not self.over or self._capped_in_a_row >= MOST_CAPPED:
            return []
        if not self.variant.penalty_rounds:
            return list(self.playing)
        weights = [kilos_of(cards) for cards in self.kilos]
        return [number for number, weight in enumerate(weights) if weight == min(weights)]

    def deal(self) -> Round:
        """The next round."""
        seats = [self.players[number] for number in self.playing]
        return Round(self.variant, seats, self.playing.index(self.dealer), self.rng)

    def score(self, done: Round) -> list[int]:
        """Takes down how a round ended; who dropped out by it."""
        numbers = list(self.playing)
        self.rounds += 1
        self.passes += done.passes
        self.false_touches += done.false_touch
        next_dealer = numbers[done.left_of(done.dealer)]
        if self.variant.stock and done.winner is not None:
            next_dealer = numbers[done.winner]
        out: list[int] = []
        if done.loser is None:
            self.capped += 1
            self._capped_in_a_row += 1
        else:
            self._capped_in_a_row = 0
            loser = numbers[done.loser]
            self.lost[loser] += 1
            if self.variant.penalty_rounds:
                self._weigh(loser)
            else:
                self.letters[loser] += 1
                if self.letters[loser] == len(self.variant.word):
                    out.append(loser)
        if self.variant.talk and len(self.playing) - len(out) < len(self.players):
            for number in numbers:
                left = len(numbers) - len(out)
                chats = self.rng.random() < self.players[number].chats
                if chats and number not in out and left > 2:
                    self.letters[number] = len(self.variant.word)
                    out.append(number)
        self.playing = [number for number in numbers if number not in out]
        while next_dealer not in self.playing:
            next_dealer = numbers[(numbers.index(next_dealer) + 1) % len(numbers)]
        self.dealer = next_dealer
        return out

    def _weigh(self, loser: int) -> None:
        """Draws a card from the pile; a 7 that is not the first puts all back under it."""
        if not self.pile:
            return
        card = self.pile.pop()
        if card[0] == "7" and self.kilos[loser]:
            self.pile[:0] = [card, *self.kilos[loser]]
            self.kilos[loser] = []
        else:
            self.kilos[loser].append(card)

    def play(self) -> Game:
        """Plays to the end."""
        while not self.over:
            done = self.deal()
            done.run()
            self.score(done)
        return self


def kilos_of(cards: Sequence[Card]) -> int:
    """An Ace counts 100, the others what they show."""
    return sum(100 if rank == "A" else int(rank) for rank, _ in cards)


@dataclass(frozen=True)
class Study:
    """What many games came to: rounds of each, totals, shares of rounds lost and of games won."""

    rounds: list[int]
    passes: int
    capped: int
    false_touches: int
    lost: list[float]
    won: list[float]
    unfinished: int


def study(variant: Variant, players: Sequence[Player], games: int, seed: int) -> Study:
    """Plays many games; game k of a seed is always the same."""
    done = [
        Game(variant, players, random.Random(f"{seed}/{number}")).play() for number in range(games)
    ]
    rounds = sum(game.rounds for game in done)
    numbers = range(len(players))
    return Study(
        rounds=[game.rounds for game in done],
        passes=sum(game.passes for game in done),
        capped=sum(game.capped for game in done),
        false_touches=sum(game.false_touches for game in done),
        lost=[sum(game.lost[k] for game in done) / max(1, rounds) for k in numbers],
        won=[sum(k in game.winners for game in done) / max(1, games) for k in numbers],
        unfinished=sum(not game.winners for game in done),
    )


def worth_of_attention(
    variant: Variant, players: Sequence[Player], games: int, seed: int, factors: Sequence[float]
) -> list[tuple[float, float]]:
    """How often the first player wins with so many times the attention: (factor, share won)."""
    first, *others = players
    changed = [replace(first, attention=first.attention * factor) for factor in factors]
    won = [study(variant, [one, *others], games, seed).won[0] for one in changed]
    return list(zip(factors, won, strict=True))
