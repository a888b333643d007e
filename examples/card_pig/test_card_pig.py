"""The card game: what no round may break, the rules of each variant, the seat in the terminal."""

import random
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import card_pig
import play
import pytest
from card_pig import Game, Player, Round, RuleError, Variant, kilos_of, study

VARIANTS = {
    "base": Variant(),
    "out at once": Variant(out_at_once=True),
    "talk": Variant(talk=True),
    "stock": Variant(stock=True),
    "five cards": Variant(cards=5),
    "three cards": Variant(cards=3),
    "five with a stock": Variant(cards=5, stock=True),
    "spoons": Variant(spoons=True),
    "fire": Variant(in_turn=True),
    "kilo": Variant(penalty_rounds=12),
}
of_each_variant = pytest.mark.parametrize("variant", VARIANTS.values(), ids=VARIANTS)


def bots(count: int, **traits: object) -> list[Player]:
    return [Player(str(number), **traits) for number in range(count)]


def hand(*ranks: str) -> list[card_pig.Card]:
    return [(rank, suit) for rank, suit in zip(ranks, card_pig.SUITS, strict=False)]


class Watched(Round):
    """Checks its cards after every pass."""

    def put(self, seat: int, card: card_pig.Card) -> None:
        super().put(seat, card)
        self.check()


@of_each_variant
@pytest.mark.parametrize("policy", card_pig.POLICIES)
def test_no_card_is_lost_and_no_hand_too_large(
    monkeypatch: pytest.MonkeyPatch, variant: Variant, policy: str
) -> None:
    monkeypatch.setattr(card_pig, "Round", Watched)
    monkeypatch.setattr(card_pig, "MOST_PASSES", 300)
    for count in {3, 5, variant.most_players}:
        game = Game(variant, bots(count, policy=policy, slips=0.002), random.Random(7))
        for _ in range(4):
            if not game.over:
                done = game.deal()
                assert isinstance(done, Watched)
                done.run()
                assert done.over
                game.score(done)


@of_each_variant
def test_every_game_ends(variant: Variant) -> None:
    for count in range(3, variant.most_players + 1):
        game = Game(variant, bots(count), random.Random(count))
        while not game.over:
            done = game.deal()
            if variant.cards == 4 and not variant.stock and not variant.penalty_rounds:
                assert len({rank for rank, _ in done.deck}) == len(game.playing)
            done.run()
            done.check()
            game.score(done)
        assert game.winners and (variant.penalty_rounds or len(game.winners) == 2)


def test_a_round_that_never_ends_is_given_up_and_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(card_pig, "MOST_PASSES", 3)
    found = study(Variant(), bots(6, slips=0.0), 2, 1)
    assert found.capped >= 2 * card_pig.MOST_CAPPED and found.unfinished == 2


def test_the_same_seed_gives_the_same_games() -> None:
    one, same, other = (study(Variant(), bots(5), 30, seed) for seed in (3, 3, 4))
    assert one == same != other


def test_five_players_play_with_twenty_cards() -> None:
    assert Variant().deck(5) == [(r, s) for r in ("A", "K", "Q", "J", "10") for s in "♠♥♦♣"]


def test_anna_gets_her_fourth_seven() -> None:
    anna, ben, carl = Player("Anna"), Player("Ben", policy=None), Player("Carl", policy=None)
    done = Round(Variant(), [anna, ben, carl], 0, random.Random(0))
    done.hands[0] = [("7", "♠"), ("7", "♥"), ("7", "♦"), ("K", "♣")]
    done.spots[2].append(("7", "♣"))
    done.put(0, ("K", "♣"))
    assert sorted(done.hands[0]) == sorted(("7", suit) for suit in card_pig.SUITS)
    done.run(done.now_s + 1.0)  # she touches her nose within a second
    assert done.touched == [0] and not done.over


def three() -> Round:
    people = [Player(name, policy=None) for name in "ABC"]
    done = Round(Variant(), people, 0, random.Random(1))
    done.hands = [hand("A", "A", "A", "A"), hand("K", "K", "K", "Q"), hand("K", "Q", "Q", "Q")]
    return done


def test_only_the_first_touch_must_be_genuine() -> None:
    done = three()
    done.touch(0)
    done.touch(1)
    assert (done.loser, done.winner, done.false_touch) == (2, 0, False)
    done = three()
    done.touch(1)
    assert (done.loser, done.winner, done.false_touch) == (1, None, True)


def test_a_card_is_put_down_before_one_is_picked_up() -> None:
    done = three()
    done.put(1, ("K", "♠"))
    assert len(done.hands[1]) == 3 and not done.may_put(1)
    with pytest.raises(RuleError, match="one card"):
        done.put(1, ("K", "♥"))
    done.put(0, ("A", "♠"))  # what the one to the right passes is picked up at once
    assert ("A", "♠") in done.hands[1] and len(done.hands[1]) == 4


def test_who_sees_more_loses_less() -> None:
    first, *others = bots(5)
    alert = study(Variant(), [replace(first, attention=2.0), *others], 300, 1)
    dreaming = study(Variant(), [replace(first, attention=0.1), *others], 300, 1)
    assert alert.lost[0] < 0.1 and dreaming.lost[0] > 0.2
    assert alert.won[0] > 0.7 and dreaming.won[0] < 0.1


def lost_by(game: Game, seat: int, winner: int | None = None) -> list[int]:
    done = game.deal()
    done.loser, done.winner = seat, winner
    return game.score(done)


@pytest.mark.parametrize(
    ("variant", "rounds"),
    [(Variant(), 3), (Variant(out_at_once=True), 1), (Variant(spoons=True), 6)],
)
def test_the_word_spelled_is_out_and_a_rank_leaves(variant: Variant, rounds: int) -> None:
    game = Game(variant, bots(4), random.Random(0))
    for left in range(rounds, 0, -1):
        assert len(game.deal().deck) == 16
        assert lost_by(game, 1) == ([1] if left == 1 else [])
    assert game.playing == [0, 2, 3] and len(game.deal().deck) == 12
    for _ in range(rounds):
        lost_by(game, 0)
    assert game.over and game.winners == [2, 3]


def test_who_talks_to_a_pig_becomes_one() -> None:
    game = Game(Variant(talk=True), bots(5, chats=1.0), random.Random(0))
    lost_by(game, 0)
    assert game.playing == [0, 1, 2, 3, 4]  # nobody is a PIG yet
    for _ in range(2):
        lost_by(game, 0)
    assert len(game.playing) == 2 and game.over


def test_the_winner_deals_next_with_a_stock() -> None:
    game = Game(Variant(stock=True), bots(5), random.Random(0))
    lost_by(game, 0, winner=3)
    assert game.dealer == 3
    done = game.deal()
    assert len(done.deck) == 52 and len(done.stock) == 32


def test_the_pile_is_turned_over_when_the_stock_is_empty() -> None:
    people = [Player(name, policy=None) for name in "ABC"]
    done = Round(Variant(stock=True), people, 0, random.Random(1))
    done.discards, done.stock = done.stock, []
    first = done.discards[0]
    done.put(0, done.hands[0][0])
    assert first in done.hands[0] and done.discards == []
    done.put(2, done.hands[2][0])  # to the dealer's right: onto the pile
    assert len(done.discards) == 1 and not done.spots[2]


def test_kilos_and_the_seven_that_flushes() -> None:
    assert kilos_of([("A", "♠"), ("7", "♥"), ("3", "♦")]) == 110
    game = Game(Variant(penalty_rounds=5), bots(4), random.Random(0))
    assert {rank for rank, _ in game.deal().deck} == {"K", "Q", "J", "2"}
    assert not {"A", "7"} & set(card_pig.PENALTY_RANKS) and len(game.pile) == 52 - 16
    game.pile = [("5", "♠"), ("7", "♥"), ("A", "♠"), ("7", "♣")]
    lost_by(game, 1)
    assert kilos_of(game.kilos[1]) == 7  # as the first card, it counts 7
    lost_by(game, 1)
    assert kilos_of(game.kilos[1]) == 107
    lost_by(game, 1)
    assert game.kilos[1] == [] and len(game.pile) == 4
    assert game.pile[-1] == ("5", "♠")  # what was flushed lies under the pile
    lost_by(game, 2)
    lost_by(game, 3)
    assert game.over and game.winners == [0, 1]


def test_in_turn_one_card_goes_round() -> None:
    done = Round(Variant(in_turn=True), bots(4, slips=0.0), 2, random.Random(5))
    assert [done.may_put(seat) for seat in range(4)] == [False, False, False, True]
    done.put(3, done.hands[3][0])
    assert [len(cards) for cards in done.hands] == [5, 4, 4, 3]
    assert [done.may_put(seat) for seat in range(4)] == [True, False, False, False]


@pytest.mark.parametrize(
    ("variant", "most"),
    [
        (Variant(), 13), (Variant(stock=True), 12), (Variant(cards=5), 10), (Variant(cards=3), 13),
        (Variant(penalty_rounds=1), 11), (Variant(cards=5, stock=True), 10),
    ],
)  # fmt: skip
def test_limits_of_deck_and_players(variant: Variant, most: int) -> None:
    assert variant.most_players == most
    for count in (2, most + 1):
        with pytest.raises(RuleError, match=f"3 to {most} players"):
            Game(variant, bots(count), random.Random(0))
    done = Game(variant, bots(most), random.Random(0)).deal()
    assert all(len(cards) == variant.cards for cards in done.hands)
    assert len(done.aside) < 4 and len({rank for rank, _ in done.deck}) <= 13


@pytest.mark.parametrize(
    "options",
    [
        {"cards": 6}, {"stock": True, "in_turn": True}, {"penalty_rounds": 3, "spoons": True},
        {"penalty_rounds": -1}, {"spoons": True, "out_at_once": True},
    ],
)  # fmt: skip
def test_what_does_not_go_together(options: dict[str, object]) -> None:
    with pytest.raises(RuleError):
        Variant(**options)


def command(*arguments: str, typed: str = "") -> subprocess.CompletedProcess[str]:
    line = [sys.executable, str(Path(play.__file__)), *arguments]
    return subprocess.run(line, check=False, input=typed, capture_output=True, text=True)


def test_a_study_tells_rounds_and_attention() -> None:
    done = command("study", "--games", "20", "--players", "4")
    assert done.returncode == 0 and "rounds a game" in done.stdout and "4 times" in done.stdout
    assert done.stdout == command("study", "--games", "20", "--players", "4").stdout


@pytest.mark.parametrize(
    "arguments",
    [("--players", "2"), ("--players", "14"), ("--cards", "5", "--players", "11"), ("--cards", "x"),
     ("--stock", "--fire"), ("--pace-s", "0"), ("--games", "0"), ("--policy", "none")],
)  # fmt: skip
def test_bad_input_is_told(arguments: tuple[str, ...]) -> None:
    done = command("study", *arguments)
    assert done.returncode == 2 and done.stderr and "Traceback" not in done.stderr


def test_a_seat_is_played_to_the_end_and_left() -> None:
    clock = iter(range(100_000))
    people = [Player("You", policy=None), *bots(2, pace_s=0.5)]
    game = Game(Variant(out_at_once=True), people, random.Random(2))
    lines = list(play.seated(game, lambda _: "1", lambda: float(next(clock))))
    assert lines[-1].startswith("Won: ") and any("lost the round" in line for line in lines)
    done = command("seat", "--seed", "1", typed="1\nx\n9\nq\n")
    assert done.returncode == 0 and "left the table" in done.stdout
    assert command("seat", "--seed", "1", typed="1\n").returncode == 0  # the input ends
