"""The score pad for real pigs on a real table: entries, whose turn it is, undo.

What the swineherd types about real pigs: short names, points, a whole turn.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from physim.errors import GameError, PhysimError
from physim.game.game import Game, read_move, standings, tell
from physim.game.game_state import Banked, Event, Points, Thrown
from physim.rules.hog_call import SHORT_POSES, predictions
from physim.rules.ruleset import End
from physim.rules.throws import labelled_throws, read_throw
from physim.terminal.console import Console
from physim.terminal.savefile import SavedGame
from physim.types import Outcome, Pose

HELP = """\
  t up, trotter snouter   how the two pigs lie: t(rotter) r(azorback) s(nouter)
                          j(owler), up or down: on a side, dot up or down
  out  oinker  piggyback  a Pig Out, pigs that touch, a pig on the other
  5  +10  -1              points of this turn, without the pigs
  turn 23                 a whole turn, banked; turn 0: lost
  bank (b)                the turn is over, its points are banked
  undo                    takes the last move back, as far as the start; a whole
                          turn is two: its points, and banking them
  correct NAME 40         sets somebody's banked points
  remove NAME             takes a player out
  call NAME t+r           a Hog Call for the next throw (trotter+razorback)
  scores  help  quit      the pad is saved after every entry"""
_WORDS = ("bank", "undo", "turn", "correct", "remove", "call", "scores", "help", "quit")


class Pad:
    """Keeps score."""

    def __init__(self, saved: SavedGame, console: Console) -> None:
        """Takes the game and who is asked."""
        self._saved, self._game, self._console = saved, saved.game, console

    def keep(self) -> None:
        """Takes entries until somebody leaves.

        Raises:
            GameError: the game cannot be saved.
            EOFError: there is no more input.
        """
        for line in scoreboard(self._game):
            self._console.say(line)
        while True:
            self._offer()
            line = self._ask()
            if line.lower() in ("quit", "q"):
                return
            self._enter(line)

    def _ask(self) -> str:
        game, state = self._game, self._game.state
        names = [player.name for player in game.players]
        words = [*_WORDS, *SHORT, *labelled_throws(), *names, *predictions(game.start.rules)]
        status = standings(game.start, state)
        if game.winner is not None:
            prompt = "the game is over: undo or quit > "
        else:
            call = "" if state.call is None else f", called {state.call.prediction}"
            prompt = (
                f"{game.current.name} {state.scores[state.current]}+{state.turn_total}{call} > "
            )
        return self._console.ask(prompt, status, words).strip()

    def _offers_end(self) -> bool:
        """Whether banking now would reach the target."""
        state = self._game.state
        return (
            state.winner is None
            and state.rolls > 0
            and state.call is None
            and state.rules.reached(state.total)
        )

    def _offer(self) -> None:
        state = self._game.state
        if self._offers_end():
            ends = (
                "ends the game"
                if state.rules.end is End.AT_ONCE
                else "banks that; the round is played to its end"
            )
            self._console.say(
                f"{self._game.current.name} has {state.total} with this turn, {state.rules.target} "
                f"are needed: Enter (or bank) {ends}."
            )
        elif state.winner is None and state.rolls and state.rules.overshot(state.total):
            self._console.say(f"{state.total} is more than {state.rules.target}: banks nothing.")

    def _enter(self, line: str) -> None:
        say, word = self._console.say, line.lower()
        if not line:
            if not self._offers_end():
                say("Enter what the pigs show, or points, or bank; `help` lists it all.")
                return
            line = "bank"
        if word in ("help", "h", "?"):
            say(HELP)
        elif word in ("scores", "score"):
            for text in scoreboard(self._game):
                say(text)
        elif word in ("undo", "z"):
            self._undo()
        else:
            self._make(line)

    def _make(self, line: str) -> None:
        game = self._game
        turns, made = game.state.turns, 0
        told: list[str] = []
        try:
            for event in read_entry(line, game):
                before = game.state.copy()
                game.do(event)
                made += 1
                told += tell(game.start, before, event, game.state)
        except PhysimError as error:
            for _ in range(made):  # an entry is made as a whole, or not
                game.undo()
            self._console.say(f"No: {error}")
            return
        self._saved.save()
        for text in told:
            self._console.say(text)
        if game.state.turns != turns:
            for text in scoreboard(game):
                self._console.say(text)

    def _undo(self) -> None:
        game = self._game
        after = game.state.copy()
        try:
            event = game.undo()
        except PhysimError as error:
            self._console.say(f"No: {error}")
            return
        self._saved.save()
        self._console.say(f"Taken back: {tell(game.start, game.state, event, after)[0]}")


def scoreboard(game: Game) -> list[str]:
    """All players in lines of 80 columns at most; `*` stands before whose turn it is."""
    state = game.state
    cells = []
    for seat, player in enumerate(game.players):
        mark = "*" if seat == state.current and state.winner is None else " "
        note = " won" if seat == state.winner else " out" if state.out[seat] else ""
        cells.append(f"{mark} {player.name} {state.scores[seat]}{note}")
    width = max(map(len, cells)) + 2
    return list(_rows(cells, width))


def _rows(cells: list[str], width: int) -> Iterator[str]:
    columns = max(1, 79 // width)
    for first in range(0, len(cells), columns):
        yield "".join(cell.ljust(width) for cell in cells[first : first + columns]).rstrip()


SHORT = {
    **SHORT_POSES,
    "jowler": Pose.LEANING_JOWLER.value,
    "up": Pose.SIDE_DOT_UP.value,
    "down": Pose.SIDE_DOT_DOWN.value,
    "o": Outcome.OINKER.value,
    "bacon": Outcome.OINKER.value,
    "out": Outcome.PIG_OUT.value,
}
"""Names that are quick to type; a pose alone stands beside a pig on its side."""

_VERBS = ("points", "call", "correct", "remove")
_POINTS = re.compile(r"[+-]?\d{1,9}")
_TURN = re.compile(r"turn\s+(\d{1,9})")


def read_entry(line: str, game: Game) -> list[Event]:
    """The moves of one line.

    Args:
        line: as `read_move` takes it, with short names; `5`, `+5` or `-5`; or `turn 23`.
        game: where it is to be made; a single call takes up to two moves.

    Raises:
        GameError: a form, player or number that is none.
        ConfigError: an unknown throw or prediction.
    """
    plain = line.strip()
    turn = _TURN.fullmatch(plain.lower())
    if turn:
        return _whole_turn(int(turn[1]), game)
    if _POINTS.fullmatch(plain):
        return [Points(int(plain))]
    if plain.lower() in ("b", "bank"):
        return [Banked()]
    verb, _, rest = plain.partition(" ")
    verb = verb.lower()
    if verb in _VERBS:
        if verb == "call":  # the prediction is its last word, or two
            rest = " ".join(_long(word) if "+" in word else word for word in rest.split())
        return [read_move(f"{verb} {rest}", game.players, game.start.rules)]
    if not plain:
        raise GameError("an empty line is no entry; enter a throw, points, or bank")
    return [Thrown(read_throw(_long(plain)))]


def _long(text: str) -> str:
    """A throw with the short names written out."""
    words = text.lower().replace("+", " ").split()
    joint = "+" if "+" in text else " "
    return joint.join(SHORT.get(word, word) for word in words)


def _whole_turn(points: int, game: Game) -> list[Event]:
    """A turn that somebody added up; with 0 points it was lost to a pig out."""
    if game.state.rolls:
        raise GameError(
            f"the turn has {game.state.turn_total} points already; add to them with +N and bank, "
            "or undo them first"
        )
    if points == 0:
        return [Thrown(read_throw(Outcome.PIG_OUT.value))]
    return [Points(points), Banked()]
