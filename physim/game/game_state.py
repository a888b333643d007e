"""Where a game stands, what each move makes of it, and the entries of its log.

Players are seats in a `State`, from 0 in the order of turns; a player who is out keeps the seat.
Its moves take for granted that they are allowed, and a tournament plays on it directly.

Who plays, in which order, from which scores: all that a game starts with.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass

import numpy as np

from physim import config
from physim.errors import GameError, shown, shown_name
from physim.rules.ruleset import Effect, RuleSet, is_right, transfer
from physim.rules.score import Throw


@dataclass(frozen=True)
class PendingCall:
    """A Hog Call for the next throw."""

    caller: int
    prediction: str


@dataclass(slots=True)
class State:
    """A game between two moves."""

    rules: RuleSet
    scores: list[int]  # banked points a seat, never below zero
    out: list[bool]  # whether a seat is out of the game
    first: int  # seat that began; a round ends before its turn
    current: int  # seat whose turn it is
    turn_total: int = 0  # points of this turn, not banked yet
    rolls: int = 0  # throws of this turn that counted
    call: PendingCall | None = None  # for the next throw
    turns: int = 0  # finished ones, the one in which the game ended too
    throws: int = 0  # all, those that were rolled again included
    rerolls: int = 0  # throws that were rolled again
    winner: int | None = None  # seat; None while the game goes on

    @classmethod
    def start(cls, rules: RuleSet, scores: Sequence[int], first: int = 0) -> State:
        """Before the first throw."""
        return cls(rules, list(scores), [False] * len(scores), first, first)

    def copy(self) -> State:
        """One that later moves leave alone."""
        other = copy(self)
        other.scores, other.out = list(self.scores), list(self.out)
        return other

    @property
    def seats(self) -> int:
        return len(self.scores)

    @property
    def playing(self) -> list[int]:
        """Seats that are not out."""
        return [seat for seat, out in enumerate(self.out) if not out]

    @property
    def total(self) -> int:
        """What the current player would have after banking, the limit of `exactly` left aside."""
        return self.scores[self.current] + self.turn_total

    def best_opponent(self) -> int:
        """The most points that another player who is still in has banked."""
        return max(self.scores[seat] for seat in self.playing if seat != self.current)

    def shout(self, caller: int, prediction: str) -> None:
        """A Hog Call."""
        self.call = PendingCall(caller, prediction)

    def throw(self, throw: Throw) -> None:
        """A throw of the current player's."""
        self.throws += 1
        points = throw.points
        if points and self.call is None:
            self.turn_total += points
            self.rolls += 1
            return
        effect = self.rules.effect(throw.outcome)
        if effect is Effect.ROLLS_AGAIN:  # a call stays for it
            self.rerolls += 1
            return
        self.rolls += 1
        call, self.call = self.call, None
        if effect is Effect.SCORES:
            self.turn_total += points or 0
            if call is not None:
                self._settle(call, throw)
        elif effect is not Effect.NOTHING:
            if effect is Effect.LOSES_SCORE:
                self.scores[self.current] = 0
            if effect is Effect.ELIMINATES:
                self.remove(self.current)
            else:
                self._end_turn()

    def add(self, points: int) -> None:
        """Points of this turn that somebody typed in; negative ones take back."""
        self.turn_total += points
        self.rolls += 1

    def bank(self) -> None:
        """The current player stops."""
        seat, total = self.current, self.total
        if not self.rules.overshot(total):
            self.scores[seat] = total
        self._end_if_reached(seat)
        if self.winner is None:
            self._end_turn()

    def remove(self, seat: int) -> None:
        """Takes a player out, with the banked points as they are."""
        self.out[seat] = True
        if self.call is not None and self.call.caller == seat:
            self.call = None
        playing = self.playing
        if len(playing) == 1:
            self._end_game(playing[0])
        elif seat == self.current:
            self._end_turn()

    def correct(self, seat: int, score: int) -> None:
        """Sets a player's banked points."""
        self.scores[seat] = score
        self._end_if_reached(seat)

    def _settle(self, call: PendingCall, throw: Throw) -> None:
        right = is_right(call.prediction, throw, self.rules)
        changes = transfer(self.rules, right, throw.points or 0)
        for seat, change in zip((call.caller, self.current), changes, strict=True):
            self.scores[seat] = max(0, self.scores[seat] + change)
        # One of the two at most has gained.
        self._end_if_reached(call.caller if right else self.current)

    def _end_if_reached(self, seat: int) -> None:
        if self.rules.end == "at_once" and self.rules.reached(self.scores[seat]):
            self._end_game(seat)

    def _end_game(self, winner: int) -> None:
        self._clear_turn()
        self.winner = winner

    def _clear_turn(self) -> None:
        self.turn_total = self.rolls = 0
        self.call = None
        self.turns += 1

    def _end_turn(self) -> None:
        self._clear_turn()
        round_ends = False
        while True:
            self.current = (self.current + 1) % self.seats
            round_ends = round_ends or self.current == self.first
            if not self.out[self.current]:
                break
        if round_ends and self.rules.end == "end_of_round":
            order = sorted(self.playing, key=lambda seat: (seat - self.first) % self.seats)
            at_target = [seat for seat in order if self.rules.reached(self.scores[seat])]
            if at_target:  # of equal scores `max` takes the first
                self.winner = max(at_target, key=self.scores.__getitem__)


@dataclass(frozen=True)
class Called:
    """A Hog Call for the next throw; `prediction` in the form of `read_prediction`."""

    player: str
    prediction: str


@dataclass(frozen=True)
class Thrown:
    """A throw of the player whose turn it is."""

    throw: Throw


@dataclass(frozen=True)
class Points:
    """Points of this turn typed in without the throw; negative ones take back."""

    points: int


@dataclass(frozen=True)
class Banked:
    """The player whose turn it is stops."""


@dataclass(frozen=True)
class Removed:
    """A player is taken out of the game."""

    player: str


@dataclass(frozen=True)
class Corrected:
    """The swineherd sets a player's banked points."""

    player: str
    score: int


Event = Called | Thrown | Points | Banked | Removed | Corrected


def call_refusal(state: State, seat: int, names: Sequence[object]) -> str:
    """Why this player may not shout now; empty for one who may."""
    rules, name = state.rules, names[seat]
    if not rules.hog_call:
        return f"the rules {rules.name} have no Hog Call; change them by hog_call=true"
    if state.call is not None:
        return f"{names[state.call.caller]} was the first to shout; one Hog Call a throw"
    if seat == state.current:
        return f"{name} has the pigs: only another player may call"
    if state.out[seat]:
        return f"{name} is out of the game and cannot call"
    banked, needed = state.scores[seat], rules.hog_call_least_points
    return (
        "" if banked >= needed else f"{name} has {banked} points banked; a Hog Call needs {needed}"
    )


MAX_PLAYERS = 100
_LONGEST_NAME = 40
_JOINERS = re.compile("[\u200c\u200d\ufe0e\ufe0f\U000e0020-\U000e007f]")
"""Letters without a shape of their own: Persian has them, and emoji of families and flags."""


@dataclass(frozen=True)
class Player:
    """A player; the id never changes, whoever else leaves."""

    id: str
    name: str


@dataclass(frozen=True)
class Start:
    """A game before its first throw."""

    rules: RuleSet
    players: tuple[Player, ...]  # at least two, in the order of turns
    scores: tuple[int, ...]  # banked; other than 0 where a game is taken up from elsewhere
    first: int = 0  # seat that begins

    def seat(self, player: str) -> int:
        """The place of a player's id, or GameError."""
        ids = [one.id for one in self.players]
        if player not in ids:
            raise GameError(f"no player `{shown_name(player)}` (valid: {', '.join(ids)})")
        return ids.index(player)


def plain_name(name: str) -> str:
    """A name as people compare it: no case, no joiners, one space for many, accents composed."""
    seen = _JOINERS.sub("", " ".join(name.split()))
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", seen).casefold())


def player_called(text: str, players: Sequence[Player]) -> Player | None:
    """Who is meant by exactly this name, else by the one name that fits but for case, else by id.

    None is returned where nobody is.
    """
    exact = [player for player in players if player.name == text]
    alike = [player for player in players if plain_name(player.name) == plain_name(text)]
    by_id = [player for player in players if player.id == text.strip().lower()]
    for found in (exact, alike, by_id):
        if len(found) == 1:
            return found[0]
    return None


def start(
    rules: RuleSet,
    names: Sequence[str],
    scores: Sequence[int] | None = None,
    *,
    first: str | None = None,
    game_number: int = 0,
    rng: np.random.Generator | None = None,
) -> Start:
    """A new game.

    Args:
        rules: of the game.
        names: of the players, in the order of turns; no two alike for `plain_name`.
        scores: banked points that they start with; None for 0 each.
        first: who begins, as `player_called` takes it; None leaves it to the rules.
        game_number: from 0, for rules by which the first player rotates.
        rng: for rules by which the first player is drawn.

    Raises:
        GameError: too few or too many players, two of one name, or impossible scores.
    """
    if not 2 <= len(names) <= MAX_PLAYERS:
        raise GameError(
            f"a game has 2 to {MAX_PLAYERS} players, found {len(names)}; name each of them"
        )
    plain = [config.text("a player's name", name).strip() for name in names]
    given = [0] * len(plain) if scores is None else list(scores)
    if len(given) != len(plain):
        raise GameError(f"{len(plain)} players, but {len(given)} scores to start from")
    for name, score in zip(plain, given, strict=True):
        if not _JOINERS.sub("", name).isprintable() or not plain_name(name):
            raise GameError(f"{shown(name)} is no name of a player: it has letters without a shape")
        if sum(not unicodedata.combining(letter) for letter in plain_name(name)) > _LONGEST_NAME:
            raise GameError(
                f"{shown(name)} is no name of a player: at most {_LONGEST_NAME} letters"
            )
        same = [other for other in plain if plain_name(other) == plain_name(name)]
        if len(same) > 1:
            called = name if same[0] == same[1] else f"{same[0]} and {same[1]}, which look alike"
            raise GameError(f"two players are called {called}; give each a name of their own")
        if type(score) is not int or not 0 <= score < rules.target:
            raise GameError(
                f"{name} cannot start from {shown(score)}: points from 0 to "
                f"{rules.target - 1}, below the target"
            )
    players = tuple(Player(f"p{number}", name) for number, name in enumerate(plain, start=1))
    seat = 0
    if first is not None:
        begins = player_called(first, players)
        if begins is None:
            raise GameError(
                f"{shown_name(first)} cannot begin: not one of the players ({', '.join(plain)})"
            )
        seat = players.index(begins)
    if first is None and rules.first_player == "rotation":
        seat = game_number % len(plain)
    if first is None and rules.first_player == "random":
        if rng is None:
            raise GameError("the rules draw the first player: give a seed, or name who begins")
        seat = int(rng.integers(len(plain)))
    return Start(rules, players, tuple(given), seat)
