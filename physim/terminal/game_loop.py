"""A game of people and bots at one terminal: who is asked, what is thrown, what is shown.

A throw as a small picture of letters that every terminal has.

Who sits where: people by their names, bots by their strategies.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from physim.errors import GameError, PhysimError, shown
from physim.game.game import read_move, standings, tell
from physim.game.game_state import Banked, Called, Event, Removed, State, Thrown
from physim.game.outcomes import Distribution, Outcomes
from physim.rules.hog_call import predictions
from physim.rules.ruleset import RuleSet
from physim.rules.throws import Throw
from physim.strategy.match import NAMES, distinct_names, first_to_shout, make_players, read_spec
from physim.strategy.policies import Strategy
from physim.strategy.solver import Solution
from physim.terminal.advice import Adviser
from physim.terminal.console import Console
from physim.terminal.savefile import SavedGame
from physim.types import Pose

HELP = """\
  roll (r)             throw the pigs
  bank (b)             stop, and keep the turn's points
  advice (a)           whether to throw, and why
  call NAME POSITIONS  a Hog Call for the next throw: Ben trotter+razorback
  remove NAME          take a player out of the game
  scores (s)           everybody's points
  quit (q)             leave; the game is kept"""
MOST_BARREN, MOST_WITHOUT_LEAD = 200, 3_000
"""Throws in a row that bring no points, and that take nobody beyond what somebody has had: after so
many the game is left, as it might go on for ever. One throw of real pigs in five brings none."""

_SHORT = {
    "r": "roll",
    "b": "bank",
    "a": "advice",
    "s": "scores",
    "q": "quit",
    "h": "help",
    "?": "help",
}
_WORDS = ("roll", "bank", "advice", "call", "remove", "scores", "help", "quit")


class Table:
    """People and bots."""

    def __init__(
        self,
        saved: SavedGame,
        bots: Sequence[Strategy | None],
        outcomes: Outcomes,
        adviser: Adviser,
        console: Console,
        *,
        pause: bool,
        show: Callable[[int, str], bool] | None = None,
    ) -> None:
        """Sits down.

        Args:
            saved: the game.
            bots: one a seat; None for a person.
            outcomes: of the throws that are still to come.
            adviser: for the risk and on request.
            console: of all people.
            pause: waits before a bot's throw, so that people can look and call.
            show: shows the throw of that number, from 0, under a title; returns once people have
                seen it. False if it can show no more.
        """
        self._saved, self._game = saved, saved.game
        self._bots, self._outcomes, self._adviser = bots, outcomes, adviser
        self._console, self._pause = console, pause and None in bots
        self._show = show
        self._barren = self._without_lead = 0
        self._lead = max(self._game.state.scores)
        self._told = -1  # moves that had been made when the state was last shown

    def play(self) -> bool:
        """Plays on.

        Returns:
            Whether the game is over; otherwise somebody left.

        Raises:
            GameError: no further throw, a game that would not end, or that cannot be saved.
            EOFError: there is no more input.
        """
        while self._game.winner is None:
            bot = self._bots[self._game.state.current]
            if not (self._person_moves() if bot is None else self._bot_moves(bot)):
                return False
        return True

    def _bot_moves(self, bot: Strategy) -> bool:
        state = self._game.state
        if state.rolls and state.call is None and not bot.rolls_again(state):
            self._do(Banked())
            return True
        if self._pause:
            line = self._ask(f"{self._game.current.name} throws: Enter, or call > ")
            if line:
                return self._obey(line)
        self._throw()
        return True

    def _person_moves(self) -> bool:
        state = self._game.state
        name = self._game.current.name
        if self._told != len(self._game.events):  # not again after a question
            self._told = len(self._game.events)
            turn = f" + {state.turn_total} this turn = {state.total}" if state.rolls else ""
            self._console.say(f"{name}: {state.scores[state.current]}{turn}")
            self._console.say(self._adviser.risk(state))
        return self._obey(self._ask(f"{name}: roll or bank > "))

    def _ask(self, prompt: str) -> str:
        names = [player.name for player in self._game.players]
        words = [*_WORDS, *names, *predictions(self._game.start.rules)]
        return self._console.ask(
            prompt, standings(self._game.start, self._game.state), words
        ).strip()

    def _obey(self, line: str) -> bool:
        """Does what was typed; says what is wrong with it. False for leaving."""
        verb, _, rest = line.partition(" ")
        verb = _SHORT.get(verb.lower(), verb.lower())
        if verb == "quit":
            return False
        try:
            self._move(verb, rest.strip(), line)
        except _Refused as refusal:
            self._console.say(f"No: {refusal}")
        return True

    def _move(self, verb: str, rest: str, line: str) -> None:
        game, say = self._game, self._console.say
        if verb in ("call", "remove"):
            try:
                event = read_move(f"{verb} {rest}", game.players, game.start.rules)
            except PhysimError as error:
                raise _Refused(str(error)) from error
            self._do(event)
        elif not line:
            raise _Refused("enter roll (r) or bank (b); help lists the rest")
        elif verb not in _WORDS or rest:
            raise _Refused(f"{shown(line)} is no move here; enter one of {', '.join(_WORDS)}")
        elif verb in ("roll", "bank") and self._bots[game.state.current] is not None:
            raise _Refused(f"it is the turn of {game.current.name}, who plays alone; press Enter")
        elif verb == "roll":
            self._throw()
        elif verb == "bank":
            self._do(Banked())
        elif verb == "advice":
            for text in self._adviser.advise(game.state):
                say(text)
        elif verb == "scores":
            say(standings(game.start, game.state))
        else:
            say(HELP)

    def _throw(self) -> None:
        """The bots may call, and the pigs roll."""
        state = self._game.state
        if state.call is None:
            shout = first_to_shout(state, self._bots)
            if shout is not None:
                seat, prediction = shout
                self._do(Called(self._game.players[seat].id, prediction))
        self._do(Thrown(self._outcomes.next_throw()))

    def _do(self, event: Event) -> None:
        """Makes a move, saves the game, and tells what happened."""
        game = self._game
        before = game.state.copy()
        try:
            game.do(event)
        except PhysimError as error:
            raise _Refused(str(error)) from error
        self._saved.save()
        if isinstance(event, Thrown):
            self._let_see(before)
            for line in picture(event.throw):
                self._console.say(line)
        for line in tell(game.start, before, event, game.state):
            self._console.say(line)
        if isinstance(event, Removed) or game.state.turns != before.turns:
            self._console.say(standings(game.start, game.state))
            self._console.say()
        if isinstance(event, Thrown):
            self._check_progress(event.throw)

    def _check_progress(self, throw: Throw) -> None:
        """Ends what might go on for ever: bots throw again whatever comes up.

        Raises:
            GameError: too many throws in a row have brought nothing.
        """
        lead = max(self._game.state.scores)
        self._barren = 0 if throw.points else self._barren + 1
        self._without_lead = 0 if lead > self._lead else self._without_lead + 1
        self._lead = max(self._lead, lead)
        if self._barren >= MOST_BARREN:
            what = f"{MOST_BARREN} throws in a row have brought no points (the last: "
            what += f"{throw.outcome.value}); take other pigs or another --source, with --new"
        elif self._without_lead >= MOST_WITHOUT_LEAD:
            what = f"{MOST_WITHOUT_LEAD:,} throws in a row have taken nobody beyond {self._lead} "
            what += "points; take other players or a lower --target, with --new"
        else:
            return
        if self._game.winner is None:
            raise GameError(
                f"{what}. This game, which might never end, is kept in {self._saved.path}"
            )

    def _let_see(self, before: State) -> None:
        """Shows the throw that was made there, before it is told."""
        if self._show is None:
            return
        title = (
            f"{self._game.players[before.current].name}: {before.scores[before.current]} + "
            f"{before.turn_total} this turn"
        )
        if not self._show(before.throws, title):
            self._show = None
            self._console.say("The window is closed; the game goes on without it.")


class _Refused(Exception):
    """A move that was not made; the text is for whoever typed it."""


WIDTH = 26  # of one pig, for the longest caption

_STANDING = r"""
     ________/\
  ~ /          \__
   |          o __)
    \_________ /
     |_|   |_|
"""
_ON_BACK = r"""
     |"|   |"|
     _________
    /         \__
   |          o _)
  ~ \________ \/
"""
_DOT_UP = r"""

     ________/\
  ~ /   (*)    \__
   |          o __)
    \==______==/
"""
_DOT_DOWN = r"""

     ________/\
  ~ /          \__
   |          o __)
    \==______==/
"""
_ON_SNOUT = r"""
  ~ ___
   /   \_
  //     \_/\
   \\__     o\
       \|_|\__)
"""
_ON_JOWL = r"""
  ~ ____  //
   /    \_//
   \ |_    \_/\
    \|_\_  o   )
         \_|__/)
"""
_OTHER = r"""



        ?

"""


def _art(text: str) -> tuple[str, ...]:
    """The lines between the first and the last newline, all of one size."""
    lines = text.split("\n")[1:-1]
    return tuple(line.ljust(WIDTH) for line in lines)


_PICTURES = {
    Pose.SIDE_DOT_UP: _art(_DOT_UP),
    Pose.SIDE_DOT_DOWN: _art(_DOT_DOWN),
    Pose.TROTTER: _art(_STANDING),
    Pose.RAZORBACK: _art(_ON_BACK),
    Pose.SNOUTER: _art(_ON_SNOUT),
    Pose.LEANING_JOWLER: _art(_ON_JOWL),
    Pose.OTHER: _art(_OTHER),
}
_PIGS = ("black", "pink")


def picture(throw: Throw) -> list[str]:
    """Both pigs side by side with the names of their poses; empty where the poses are not known.

    Pigs that touch are drawn apart, as they would lie alone.
    """
    if throw.poses is None:
        return []
    rows = zip(*(_PICTURES[pose] for pose in throw.poses), strict=True)
    lines = ["".join(row).rstrip() for row in rows]
    while not lines[0]:
        del lines[0]
    captions = (f"  {name}: {pose.value}" for name, pose in zip(_PIGS, throw.poses, strict=True))
    return [*lines, "".join(caption.ljust(WIDTH) for caption in captions).rstrip()]


@dataclass(frozen=True)
class Seat:
    """A place at the table; `spec` is a bot's strategy, None for a person."""

    name: str
    spec: str | None = None


def read_seats(players: Sequence[str]) -> list[Seat]:
    """What each text stands for: a strategy's name, or anything with a colon, is a bot.

    Raises:
        ConfigError: an unknown strategy.
    """
    specs = [text if _is_bot(text) else None for text in players]
    for spec in specs:
        if spec is not None:
            read_spec(spec)
    names = iter(distinct_names(spec for spec in specs if spec is not None))
    return [
        Seat(text) if spec is None else Seat(next(names), spec)
        for text, spec in zip(players, specs, strict=True)
    ]


def make_bots(
    seats: Sequence[Seat],
    rules: RuleSet,
    distribution: Distribution,
    solution: Callable[[], Solution],
) -> list[Strategy | None]:
    """A strategy a seat; None for a person.

    Raises:
        ConfigError: `optimal` among more than two.
    """
    specs = [seat.spec for seat in seats if seat.spec is not None]
    made = iter(make_players(specs, rules, distribution, seats=len(seats), solution=solution))
    return [None if seat.spec is None else next(made) for seat in seats]


def _is_bot(text: str) -> bool:
    return ":" in text or text.strip().replace("-", "_") in NAMES
