"""A game of people and bots at one terminal: who is asked, what is thrown, shown and advised.

Each throw is drawn as a small picture of letters that every terminal has.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cached_property

from physim.errors import GameError, hint, shown
from physim.game.game import Game, read_move, standings
from physim.game.game_state import Banked, Called, Event, Removed, State, Thrown
from physim.game.outcomes import Distribution, odds
from physim.rules.ruleset import RuleSet
from physim.rules.score import Throw
from physim.strategy.policies import (
    KINDS,
    Strategy,
    distinct_names,
    first_to_shout,
    make_players,
    read_spec,
    turn_is_done,
)
from physim.strategy.solver import SOON, Solution, break_even, sweep
from physim.terminal.console import Console
from physim.terminal.savefile import SavedGame, Session, Stopped
from physim.types import PIG_NAMES, Pose

HELP = """\
  Enter                throw; of a bot: its whole turn
  roll (r)             throw once, also for a bot, to call in between
  bank (b)             stop, and keep the turn's points
  advice (a)           whether to throw, and why
  call NAME POSITIONS  a Hog Call for the next throw, such as: call Ben t+r,
                       call Ben double snouter, sooee Ben sider; positions are
                       t(rotter) r(azorback) s(nouter) j(owler)
  undo (u)             take back what was typed last, but no throw
  remove NAME          take a player out of the game
  scores (s)           everybody's points
  quit (q)             leave; the game is kept"""
MOST_BARREN, MOST_WITHOUT_LEAD = 200, 3_000
"""Throws in a row that bring no points, and that take nobody beyond what somebody has had: after so
many the game is left, as it might go on for ever. One throw of real pigs in five brings none."""
WORDS = ("roll", "bank", "advice", "call", "undo", "remove", "scores", "help", "quit")
_SHORT = {word[0]: word for word in ("roll", "bank", "advice", "undo", "scores", "help")}
_SHORT |= {"?": "help", "sooee": "call"}


class Adviser:
    """Knows the odds; solves the game of two when it is asked for the first time."""

    def __init__(
        self, distribution: Distribution, rules: RuleSet, solved: Callable[[], Solution]
    ) -> None:
        """Takes the throws that are expected, the rules, and what solves the game of two.

        Raises:
            ConfigError: throws with which no game would end.
        """
        self.odds, self._rules, self._solved = odds(distribution, rules), rules, solved

    @cached_property
    def solution(self) -> Solution:
        """Of the game of two."""
        return self._solved()

    def risk(self, state: State) -> str:
        """The next throw in one line: what may be lost, and what it brings on average."""
        chances, banked, turn = self.odds, state.scores[state.current], state.turn_total
        ends = f"lose the turn's {turn}" if turn else "end the turn"
        parts = [f"{100 * chances.loses_turn:.1f} % {ends}"]
        if chances.loses_score and banked + turn:
            parts.append(f"{100 * chances.loses_score:.1f} % all {banked + turn}")
        if chances.eliminates:
            parts.append(f"{100 * chances.eliminates:.1f} % the game")
        lost = chances.ends_turn * turn + (chances.loses_score + chances.eliminates) * banked
        return f"Next throw: {', '.join(parts)}; {chances.expected_points - lost:+.1f} on average."

    def advise(self, state: State) -> list[str]:
        """Whether to throw or to bank, and why."""
        if state.call is not None:
            return ["A Hog Call waits: throw."]
        if state.rolls and state.total >= state.rules.target and turn_is_done(state):
            return ["Bank: no further point could help."]
        others = [state.scores[seat] for seat in state.playing if seat != state.current]
        ahead = max((score for score in others if state.rules.reached(score)), default=-1)
        if state.total <= ahead:  # only where the round is played to its end
            return [f"Throw: the round is the last, and {state.total} are no more than {ahead}."]
        target = self._rules.target
        solvable = self._rules.end == "at_once" and target <= SOON
        # Beyond a target that must be reached exactly nothing is solved.
        if state.seats == 2 and solvable and max(state.scores) < target:
            return self._best(state)
        # By points alone.
        turn, even = state.turn_total, break_even(self.odds, state.scores[state.current])
        if even is None:
            return ["Throw: nothing can be lost."]
        if not state.rolls:
            return [f"Throw, and go on while the turn has fewer than {even:.1f} points."]
        verdict = "Throw" if turn < even else "Bank"
        return [
            f"{verdict}: a throw gains on average while the turn has fewer than {even:.1f} "
            f"points; it has {turn}."
        ]

    def _best(self, state: State) -> list[str]:
        """By the probability to win against best play, Hog Calls left aside."""
        own, other = state.scores[state.current], state.scores[1 - state.current]
        hold = int(self.solution.hold_values()[own, other])
        plan = f"Best play at {own} to {other} holds at {hold} points in the turn."
        if not state.rolls:
            return [f"Throw. {plan}"]
        throw, bank = self.win_probabilities(own, other, state.turn_total)
        verdict = "Throw" if throw > bank else "Bank"
        chances = f"{100 * throw:.1f} % to win by a throw, {100 * bank:.1f} % by banking."
        return [f"{verdict}: {chances}", plan]

    def win_probabilities(self, own: int, other: int, turn: int) -> tuple[float, float]:
        """Of throwing once more and of banking, with best play after it.

        Args:
            own: banked points of the player whose turn it is, below the target.
            other: the other player's, likewise.
            turn: points in the turn, such that banking would not reach the target.
        """
        values = self.solution.values
        _, turns = sweep(self.odds, self._rules, values, wanted={turn})
        _, throwing = turns[turn]
        return float(throwing[own, other]), 1.0 - float(values[other, own + turn])


class GameLoop(Session):
    """People and bots at the table."""

    def __init__(
        self,
        saved: SavedGame,
        console: Console,
        bots: Sequence[Strategy | None],
        throws: Iterator[Throw],
        adviser: Adviser,
        *,
        pause: bool,
        show: Callable[[int, str], bool] | None = None,
    ) -> None:
        """Sits down.

        Args:
            saved: the game.
            console: of all people.
            bots: one a seat; None for a person.
            throws: that are still to come.
            adviser: tells the risk, and more on request.
            pause: waits before a bot's throw, so that people can look and call.
            show: shows the throw of that number, from 0, under a title; False if it can no more.
        """
        super().__init__(saved, console)
        self._bots, self._throws, self._adviser = bots, throws, adviser
        self._pause, self._show = pause and None in bots, show
        self._barren = self._without_lead = 0
        self._lead = max(self.game.state.scores)
        self._let_throw = -1  # number of the turn that a bot plays without a question
        self._told = -1  # moves that had been made when the state was last shown

    def play(self) -> bool:
        """Plays on, and returns whether the game is over; otherwise somebody left.

        Raises:
            Stopped: no further throw, a game that would not end, or that cannot be saved.
            EOFError: there is no more input.
        """
        while self.game.winner is None:
            state = self.game.state
            bot = self._bots[state.current]
            if bot is not None and bot.banks(state):
                self._do(Banked())
                continue
            line = self._ask(self.game.current.name, bot)
            if line.lower() in ("quit", "q"):
                return False
            self.attempt(line)
        return True

    def _ask(self, name: str, bot: Strategy | None) -> str:
        """What people want now; empty where a bot is to throw."""
        state = self.game.state
        if bot is not None:
            if not self._pause or self._let_throw == state.turns:
                return ""
            return self.ask(f"{name} throws: Enter, or call > ", WORDS)
        if self._told != len(self.game.events):  # not again after a question
            self._told = len(self.game.events)
            turn = f" + {state.turn_total} this turn = {state.total}" if state.rolls else ""
            self.console.say(f"{name}: {state.scores[state.current]}{turn}")
            self.console.say(self._adviser.risk(state))
            if state.rolls and state.call is None and state.rules.reached(state.total):
                at_once = state.rules.end == "at_once"
                ends = "wins" if at_once else "reaches the target; the round is the last"
                self.console.say(f"Banking {ends}.")
        what = "roll" if state.call or not state.rolls else "roll or bank"
        return self.ask(f"{name}: {what} > ", WORDS)

    def _enter(self, line: str) -> None:
        game, say = self.game, self.console.say
        verb, _, rest = line.partition(" ")
        verb = verb.lower().rstrip("!,:")
        verb = _SHORT.get(verb, verb)
        alone = self._bots[game.state.current] is not None
        if verb in ("call", "remove"):
            move = read_move(f"{verb} {rest}", game.players, game.start.rules)
            if not isinstance(move, Removed) or self._agreed(move):
                self._do(move)
        elif line and (verb not in WORDS or rest):
            near = hint(verb, WORDS) or "; `help` lists the moves"
            raise GameError(f"{shown(line)} is no move here{near}")
        elif verb == "bank" and alone:
            raise GameError(f"it is the turn of {game.current.name}, who plays alone; press Enter")
        elif verb in ("", "roll"):
            if not line:
                self._let_throw = game.state.turns
            self._throw()
        elif verb == "bank":
            self._do(Banked())
        elif verb == "undo":
            self._take_back()
        elif verb == "advice":
            for text in self._adviser.advise(game.state):
                say(text)
        else:
            say(HELP if verb == "help" else standings(game.start, game.state))

    def _agreed(self, move: Removed) -> bool:
        """Whether people who type are sure, as a game of two would be over."""
        game = self.game
        if not self.console.typed:
            return True
        seat = game.start.seat(move.player)
        others = [game.players[other].name for other in game.state.playing if other != seat]
        ends = f" {others[0]} then wins." if len(others) == 1 else ""
        name = game.players[seat].name
        return self.ask(f"Take {name} out?{ends} y or n > ", ()).lower() in ("y", "yes")

    def _take_back(self) -> None:
        """Undoes what a person typed last; throws stay, and bots would only do the same again."""
        game = self.game
        last = game.events[-1] if game.events else None
        if isinstance(last, Thrown):
            raise GameError("a throw stays; undo takes back what was typed since the last one")
        if isinstance(last, Banked):
            seat = Game(game.start, game.events[:-1]).state.current
            if self._bots[seat] is not None:
                raise GameError(f"{game.players[seat].name} banked; what a bot does stays")
        self.undo()

    def _throw(self) -> None:
        """The bots may call, and the pigs roll."""
        if self.game.state.call is None:
            shout = first_to_shout(self.game.state, self._bots)
            if shout is not None:
                seat, prediction = shout
                self._do(Called(self.game.players[seat].id, prediction))
        for throw in self._throws:
            self._do(Thrown(throw))
            self._check_progress(throw)
            return
        raise Stopped("the script has no further throw; add some, or take another source")

    def _do(self, event: Event) -> None:
        """Makes a move, saves the game, and tells what happened."""
        game, say = self.game, self.console.say
        before = game.state.copy()
        lines = self.make(event)
        if isinstance(event, Thrown):
            name, banked = game.players[before.current].name, before.scores[before.current]
            title = f"{name}: {banked} + {before.turn_total} this turn"
            if self._show is not None and not self._show(before.throws, title):
                self._show = None
                say("The window is closed; the game goes on without it.")
            lines = picture(event.throw, self.console.columns) + lines
        for line in lines:
            say(line)
        if isinstance(event, Removed) or game.state.turns != before.turns:
            say(standings(game.start, game.state))
            say()

    def _check_progress(self, throw: Throw) -> None:
        """Ends what might go on for ever by GameError: bots throw again whatever comes up."""
        lead = max(self.game.state.scores)
        self._barren = 0 if throw.points else self._barren + 1
        self._without_lead = 0 if lead > self._lead else self._without_lead + 1
        self._lead = max(self._lead, lead)
        in_vain = f"brought no points (the last: {throw.outcome.value}); take other pigs or another"
        no_lead = f"taken nobody beyond {self._lead} points; take other players or a lower"
        for count, most, what in (
            (self._barren, MOST_BARREN, f"{in_vain} --source"),
            (self._without_lead, MOST_WITHOUT_LEAD, f"{no_lead} --target"),
        ):
            if count >= most and self.game.winner is None:
                raise Stopped(
                    f"{most:,} throws in a row have {what}, with --new. This game, which might "
                    f"never end, is kept in {self.saved.path}"
                )


def seat_names(players: Sequence[str]) -> list[str]:
    """Names at the table: a strategy's name, or anything with a colon, is a bot."""
    bots = [text for text in players if _is_bot(text)]
    for spec in bots:
        read_spec(spec)
    names = iter(distinct_names(bots))
    return [next(names) if _is_bot(text) else text for text in players]


def make_bots(
    players: Sequence[str],
    rules: RuleSet,
    distribution: Distribution,
    solution: Callable[[], Solution],
) -> list[Strategy | None]:
    """A strategy a seat; None for a person."""
    specs = [text for text in players if _is_bot(text)]
    made = iter(make_players(specs, rules, distribution, seats=len(players), solution=solution))
    return [next(made) if _is_bot(text) else None for text in players]


def _is_bot(text: str) -> bool:
    return ":" in text or text.strip().replace("-", "_") in KINDS


_WIDTH, _HEIGHT = 26, 5  # of one pig, for the longest caption
_ART = {
    Pose.TROTTER: r"""
     ________/\
  ~ /          \__
   |          o __)
    \_________ /
     |_|   |_|""",
    Pose.RAZORBACK: r"""
     |"|   |"|
     _________
    /         \__
   |          o _)
  ~ \________ \/""",
    Pose.SIDE_DOT_UP: r"""
     ________/\
  ~ /   (*)    \__
   |          o __)
    \==______==/""",
    Pose.SIDE_DOT_DOWN: r"""
     ________/\
  ~ /          \__
   |          o __)
    \==______==/""",
    Pose.SNOUTER: r"""
  ~ ___
   /   \_
  //     \_/\
   \\__     o\
       \|_|\__)""",
    Pose.LEANING_JOWLER: r"""
  ~ ____  //
   /    \_//
   \ |_    \_/\
    \|_\_  o   )
         \_|__/)""",
    Pose.OTHER: "\n        ?\n",
}


def picture(throw: Throw, columns: int = 2 * _WIDTH) -> list[str]:
    """Both pigs with the names of their poses, side by side where there is room for it.

    Empty where the poses are not known.

    Pigs that touch are drawn apart, as they would lie alone.
    """
    if throw.poses is None:
        return []
    drawn = []
    for name, pose in zip(PIG_NAMES, throw.poses, strict=True):
        lines = _ART[pose].split("\n")[1:]
        drawn.append([*[""] * (_HEIGHT - len(lines)), *lines, f"  {name}: {pose.value}"])
    if columns < 2 * _WIDTH:
        return [line for pig in drawn for line in pig if line]
    rows = [
        "".join(line.ljust(_WIDTH) for line in row).rstrip() for row in zip(*drawn, strict=True)
    ]
    while not rows[0]:
        del rows[0]
    return rows
