"""The score pad for real pigs on a real table: entries, whose turn it is, undo."""

from __future__ import annotations

import re

from physim.errors import GameError
from physim.game.game import Game, read_move, tell
from physim.game.game_state import Banked, Event, Points, Thrown
from physim.rules.hog_call import SHORT_POSES
from physim.rules.ruleset import End
from physim.rules.throws import labelled_throws, read_throw
from physim.terminal.savefile import Refused, Session, refusing
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
WORDS = ("bank", "undo", "turn", "correct", "remove", "call", "scores", "help", "quit")
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
_POINTS = re.compile(r"[+-]?\d{1,9}")
_TURN = re.compile(r"turn\s+(\d{1,9})")


class ScorePad(Session):
    """Keeps score."""

    def keep(self) -> bool:
        """Takes entries until somebody leaves; never over, as the last entry can be undone.

        Raises:
            GameError: the game cannot be saved.
            EOFError: there is no more input.
        """
        self._say_all(scoreboard(self.game))
        words = [*WORDS, *SHORT, *labelled_throws()]
        while True:
            self._offer()
            line = self.ask(self._prompt(), words)
            if line.lower() in ("quit", "q"):
                return False
            try:
                self._enter(line)
            except Refused as refusal:
                self.console.say(f"No: {refusal}")

    def _prompt(self) -> str:
        game, state = self.game, self.game.state
        if game.winner is not None:
            return "the game is over: undo or quit > "
        call = "" if state.call is None else f", called {state.call.prediction}"
        return f"{game.current.name} {state.scores[state.current]}+{state.turn_total}{call} > "

    def _offers_end(self) -> bool:
        """Whether banking now would reach the target."""
        state = self.game.state
        thrown = state.winner is None and state.rolls > 0 and state.call is None
        return thrown and state.rules.reached(state.total)

    def _offer(self) -> None:
        """Says so where banking now would reach the target, or pass one to be reached exactly."""
        state = self.game.state
        if self._offers_end():
            ends = "banks that; the round is played to its end"
            if state.rules.end is End.AT_ONCE:
                ends = "ends the game"
            self.console.say(
                f"{self.game.current.name} has {state.total} with this turn, {state.rules.target} "
                f"are needed: Enter (or bank) {ends}."
            )
        elif state.winner is None and state.rolls and state.rules.overshot(state.total):
            self.console.say(f"{state.total} is more than {state.rules.target}: banks nothing.")

    def _enter(self, line: str) -> None:
        word = line.lower()
        if not line and not self._offers_end():
            self.console.say("Enter what the pigs show, or points, or bank; `help` lists it all.")
        elif word in ("help", "h", "?"):
            self.console.say(HELP)
        elif word in ("scores", "score"):
            self._say_all(scoreboard(self.game))
        elif word in ("undo", "z"):
            self._undo()
        else:
            turns = self.game.state.turns
            with refusing():
                events = read_entry(line or "bank", self.game)
            self._say_all(self.make(*events))
            if self.game.state.turns != turns:
                self._say_all(scoreboard(self.game))

    def _undo(self) -> None:
        game, after = self.game, self.game.state.copy()
        with refusing():
            event = game.undo()
        self.saved.save()
        self.console.say(f"Taken back: {tell(game.start, game.state, event, after)[0]}")

    def _say_all(self, lines: list[str]) -> None:
        for line in lines:
            self.console.say(line)


def scoreboard(game: Game) -> list[str]:
    """All players in lines of 80 columns at most; `*` stands before whose turn it is."""
    state = game.state
    cells = []
    for seat, player in enumerate(game.players):
        mark = "*" if seat == state.current and state.winner is None else " "
        note = " won" if seat == state.winner else " out" if state.out[seat] else ""
        cells.append(f"{mark} {player.name} {state.scores[seat]}{note}")
    width = max(map(len, cells)) + 2
    columns = max(1, 79 // width)
    rows = (cells[first : first + columns] for first in range(0, len(cells), columns))
    return ["".join(cell.ljust(width) for cell in row).rstrip() for row in rows]


def read_entry(line: str, game: Game) -> list[Event]:
    """The moves of one line.

    Args:
        line: as `read_move` takes it, with short names; `5`, `+5` or `-5`; or `turn 23`.
        game: where it is to be made; a whole turn takes up to two moves.

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
    verb, _, rest = plain.partition(" ")
    verb = verb.lower()
    if verb in ("points", "correct", "remove"):
        plain = f"{verb} {rest}"
    elif verb == "call":  # the prediction is its last word, or two
        rest = " ".join(_long(word) if "+" in word else word for word in rest.split())
        plain = f"call {rest}"
    elif plain.lower() in ("b", "bank"):
        plain = "bank"
    else:
        plain = _long(plain)
    return [read_move(plain, game.players, game.start.rules)]


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
