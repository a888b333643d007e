"""Score of real pigs on a real table: a pad of entries, turns and undo, or a sheet of paper.

The one door to the PDF library.
"""

from __future__ import annotations

import re
from collections.abc import Container, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from unicodedata import bidirectional

from physim.errors import ConfigError, GameError, how_to_install, optional, shown
from physim.files import told, write_whole
from physim.game.game import Game, read_move
from physim.game.game_state import Banked, Event, Points, Thrown
from physim.game.turns import turns_of
from physim.rules.ruleset import COSTS, RuleSet
from physim.rules.score import SCORING_POSES, SHORT_WORDS, labelled_throws, point_table, read_throw
from physim.terminal.console import Console, width
from physim.terminal.savefile import SavedGame, Session
from physim.types import Outcome

HELP = """\
  t up, trotter snouter   how the two pigs lie: t(rotter) r(azorback) s(nouter)
                          j(owler), up or down: on a side, dot up or down
  out (p)  sider (d)      pigs on opposite sides, on the same side
  oinker (o)  piggyback   pigs that touch, a pig on the other
  5  +10  -1              points of this turn, without the pigs
  turn 23                 a whole turn, banked; turn 0: lost
  bank (b)                the turn is over, its points are banked
  undo                    takes the last move back, as far as the start; a
                          whole turn is two: its points, and banking them
  redo                    makes again what undo took back
  turns                   a line a round: points before + this turn = after
  correct NAME 40         sets somebody's banked points
  remove NAME             takes a player out
  call NAME t+r           a Hog Call for the next throw (trotter+razorback)
  scores  help  quit      the pad is saved after every entry"""
WORDS = (
    "bank",
    "undo",
    "redo",
    "turns",
    "turn",
    "correct",
    "remove",
    "call",
    "scores",
    "help",
    "quit",
)
_POINTS = re.compile(r"[+-]?\d{1,9}")
_TURN = re.compile(r"\d{1,9}")

MAX_COLUMNS = 12
_BLANK = 6  # columns where nobody is named
_UPRIGHT = 6  # columns that fit an upright page
_FONT, _LAST_LETTER = "Helvetica", "\xff"  # of every reader; it has the letters of Latin-1
_FURTHER_FONT = "mpl-data/fonts/ttf/DejaVuSans.ttf"  # Matplotlib ships it
_MARGIN_MM, _NUMBER_MM = 12.0, 10.0
_LOWEST_LINE_MM = 6.0  # that can be written in
_TURN_SHARE = 0.4  # of a column: a turn's points are shorter than the score
_HOW = "On each line: the turn's points to the left, the score with them to the right."


class ScorePad(Session):
    """Keeps score."""

    def __init__(self, saved: SavedGame, console: Console) -> None:
        """Takes the game and who is asked."""
        super().__init__(saved, console)
        self._undone: list[Event] = []  # since the last entry, the first one last

    def keep(self) -> bool:
        """Takes entries until somebody leaves; never over, as the last entry can be undone.

        Raises:
            GameError: the game cannot be saved.
            EOFError: there is no more input.
        """
        self._say_all(scoreboard(self.game, self.console.columns))
        words = [*WORDS, *SHORT_WORDS, *labelled_throws()]
        while True:
            offered = self._offer()
            line = self.ask(self._prompt(), words)
            if line.lower() in ("quit", "q"):
                return False
            self.attempt("bank" if offered and not line else line)

    def _prompt(self) -> str:
        game, state = self.game, self.game.state
        if game.winner is not None:
            return "the game is over: undo or quit > "
        call = "" if state.call is None else f", called {state.call.prediction}"
        return f"{game.current.name} {state.scores[state.current]}+{state.turn_total}{call} > "

    def _offer(self) -> bool:
        """Whether banking now would reach the target; says so, or that it would be too much."""
        state = self.game.state
        if state.winner is not None or not state.rolls or state.call is not None:
            return False
        if state.rules.overshot(state.total):
            self.console.say(f"{state.total} is more than {state.rules.target}: banks nothing.")
        if not state.rules.reached(state.total):
            return False
        at_once = state.rules.end == "at_once"
        ends = "ends the game" if at_once else "banks that; the round is played to its end"
        self.console.say(
            f"{self.game.current.name} has {state.total} with this turn, {state.rules.target} are "
            f"needed: Enter (or bank) {ends}."
        )
        return True

    def _enter(self, line: str) -> None:
        word = line.lower()
        if not line:
            over = "The game is over; quit, then --new begins the next one, or undo."
            entries = "Enter what the pigs show, or points, or bank; `help` lists it all."
            self.console.say(entries if self.game.winner is None else over)
        elif word in ("help", "h", "?"):
            self.console.say(HELP)
        elif word in ("scores", "score"):
            self._say_all(scoreboard(self.game, self.console.columns))
        elif word in ("undo", "z"):
            self._undone.append(self.undo())
        elif word == "turns":
            self._say_all(turn_table(self.game, self.console.columns))
        else:
            turns = self.game.state.turns
            if word == "redo":
                if not self._undone:
                    raise GameError("nothing to redo: no undo since the last entry")
                told = self.make(self._undone[-1])
                self._undone.pop()
            else:
                told = self.make(*read_entry(line, self.game))
                self._undone.clear()
            self._say_all(told)
            if self.game.winner is not None:
                self._say_all(turn_table(self.game, self.console.columns))
            if self.game.state.turns != turns:
                self._say_all(scoreboard(self.game, self.console.columns))

    def _say_all(self, lines: list[str]) -> None:
        for line in lines:
            self.console.say(line)


def scoreboard(game: Game, room: int) -> list[str]:
    """All players in lines of so many columns; `*` stands before whose turn it is."""
    state = game.state
    cells = []
    for seat, player in enumerate(game.players):
        mark = "*" if seat == state.current and state.winner is None else " "
        note = " won" if seat == state.winner else " out" if state.out[seat] else ""
        turn = f"+{state.turn_total}" if mark == "*" and state.turn_total else ""
        cells.append(f"{mark} {player.name} {state.scores[seat]}{turn}{note}")
    widest = max(map(width, cells)) + 2
    columns = max(1, room // widest)
    padded = [cell + " " * (widest - width(cell)) for cell in cells]
    rows = (padded[first : first + columns] for first in range(0, len(cells), columns))
    return ["".join(row).rstrip() for row in rows]


def turn_table(game: Game, room: int) -> list[str]:
    """A line a round and a column a player, such as `62+21=83`; where that is too wide, a turn."""
    names = [player.name for player in game.players]
    rows: list[dict[str, str]] = []
    for turn in turns_of(game):
        if not rows or turn.player in rows[-1]:
            rows.append({})
        sum_of = f"{turn.before}+{turn.points}={turn.after}"
        lost = "lost" if turn.before == turn.after else f"lost, {turn.after}"
        rows[-1][turn.player] = sum_of if turn.ended_by == "bank" else lost
    if not rows:
        return ["No turn is finished yet."]
    table = [dict(zip(names, names, strict=True)), *rows]
    columns = [[row.get(name, "") for row in table] for name in names]
    widths = [max(map(width, column)) + 2 for column in columns]
    if sum(widths) - 2 > room:
        return [f"{name} {cell}" for row in rows for name, cell in row.items()]
    return [
        "".join(
            cell + " " * (wide - width(cell)) for cell, wide in zip(line, widths, strict=True)
        ).rstrip()
        for line in zip(*columns, strict=True)
    ]


def read_entry(line: str, game: Game) -> list[Event]:
    """The moves of one line.

    Args:
        line: as `read_move` takes it; `5`, `+5` or `-5`; or `turn 23`.
        game: where it is to be made; a whole turn takes up to two moves, but one that reaches the
            target is not banked yet.

    Raises:
        GameError: a form, player or number that is none.
        ConfigError: an unknown throw or prediction.
    """
    line = line.strip()
    verb, _, rest = line.partition(" ")
    verb, rest = verb.lower(), rest.strip()
    turn = game.state.turn_total
    if verb == "turn" and _TURN.fullmatch(rest):
        if game.state.rolls:
            raise GameError(
                f"the turn has {turn} points already; add to them with +N and bank, or undo them "
                "first"
            )
        points, state = int(rest), game.state
        if not points:
            return [Thrown(read_throw("pig_out"))]
        ends = state.rules.reached(state.scores[state.current] + points)
        return [Points(points)] if ends else [Points(points), Banked()]
    if verb == "turn":
        raise GameError("a whole turn is entered with its points, 0 or more, such as turn 23")
    if _POINTS.fullmatch(line):
        return [Points(int(line))]
    return [read_move(line, game.players, game.start.rules, WORDS)]


def write_sheet(
    path: Path, rules: RuleSet, names: Sequence[str], rounds: int, paper: str = "A4"
) -> None:
    """The points, the rules, and a column a player with a line a round.

    One page, and more where the lines would be too low to write in.

    Args:
        path: of the PDF.
        rules: that the sheet reminds of.
        names: of the players; none leaves the columns' heads blank.
        rounds: lines to write in.
        paper: `A4` or `Letter`.

    Raises:
        ConfigError: no PDF library, too many players, a name that the font cannot write, or a
            full disk.
    """
    fpdf = optional("fpdf", "pdf", "the sheet", "; without --sheet the pad keeps score here")
    columns = list(names) or [""] * _BLANK
    if len(columns) > MAX_COLUMNS:
        raise ConfigError(
            f"a sheet has room for {MAX_COLUMNS} players, found {len(columns)}; print two"
        )
    pdf = fpdf.FPDF("portrait" if len(columns) <= _UPRIGHT else "landscape", format=paper)
    pdf.set_title("Pass the Pigs: score sheet")
    pdf.set_margin(_MARGIN_MM)
    pdf.set_auto_page_break(False)
    pdf.add_page()
    pdf.set_font(_FONT, "B", 16)
    pdf.cell(0, 8, f"Pass the Pigs: to {rules.target}", new_x="LMARGIN", new_y="NEXT")
    pdf.set_font(_FONT, size=8)
    for line in (*point_lines(), *rule_lines(rules), _HOW):
        subject, _, text = line.partition(": ")
        pdf.multi_cell(
            0, 4, f"**{subject}:** {text}", align="L", markdown=True, new_x="LMARGIN", new_y="NEXT"
        )
    pdf.ln(2)
    _set_font_of(pdf, columns)
    _grid(pdf, columns, rounds)
    with told(ConfigError, f"--sheet {path}: cannot be written", "name a file elsewhere"):
        write_whole(path, bytes(pdf.output()))


def _set_font_of(pdf: Any, names: Sequence[str]) -> None:
    """A font that has all letters of the names, or a ConfigError: every reader's, or DejaVu Sans.

    Letters that are written from right to left or joined would take another library.
    """
    letters = set("".join(names))
    if max(letters, default="") <= _LAST_LETTER:
        return
    package = find_spec("matplotlib")
    has: Container[int] = ()
    if package is not None and package.submodule_search_locations:
        plain = Path(package.submodule_search_locations[0], _FURTHER_FONT)
        bold = plain.with_stem(f"{plain.stem}-Bold")  # of the heads
        if plain.is_file() and bold.is_file():
            pdf.add_font("DejaVu", fname=plain)
            pdf.add_font("DejaVu", style="B", fname=bold)
            pdf.set_font("DejaVu", size=8)
            has = pdf.fonts["dejavuB"].cmap
    for name in names:
        if any(ord(x) not in has or bidirectional(x) in ("R", "AL") for x in name):
            install = "" if package else f" or get a font by {how_to_install('pdf')},"
            raise ConfigError(
                f"the sheet's font cannot write {shown(name)}; write it otherwise,{install} or "
                "leave --players out and fill the names in by hand"
            )


def point_lines() -> list[str]:
    """What a throw is worth, in words."""
    points = point_table()
    single, double = (
        ", ".join(
            f"{_spaced(pose.value)} {points[Outcome(prefix + pose.value)]}"
            for pose in SCORING_POSES
        )
        for prefix in ("", "double_")
    )
    return [
        f"One pig so, the other on a side: {single}. Two different ones: the sum.",
        f"Both so: {double}.",
        f"Both on a side: the same one, sider {points[Outcome.SIDER]}; opposite ones "
        "(one dot up, one down), pig out.",
    ]


def rule_lines(rules: RuleSet) -> list[str]:
    """What ends a turn and the game, in words."""
    told = [
        f"{what}, {COSTS[rules.effect(outcome)]}"
        for what, outcome in (
            ("pig out", Outcome.PIG_OUT),
            ("oinker (the pigs touch)", Outcome.OINKER),
            ("piggyback (one on the other)", Outcome.PIGGYBACK),
            ("a pig off the table", Outcome.OFF_TABLE),
        )
    ]
    at_once = rules.end == "at_once"
    lines = [
        f"To win: {_spaced(rules.reach)} {rules.target}; the game ends "
        f"{'at once' if at_once else 'at the end of the round'}.",
        f"No points: {'; '.join(told)}.",
    ]
    if rules.hog_call:
        gain = "its points" if rules.hog_call_pays == "single_double" else "double its points"
        named = "its points (not 0)"
        if rules.hog_call_predicts == "positions":
            named = "the positions of both pigs (no pig out, oinker or piggyback)"
        lines.append(
            f"Hog Call: with {rules.hog_call_least_points} points banked, shout before another "
            f"player's throw and name {named}. Right: you gain {gain}, the thrower loses "
            "double. Wrong: you lose double, the thrower gains double. Nobody falls below 0."
        )
    return lines


def _grid(pdf: Any, columns: Sequence[str], rounds: int) -> None:
    """Two columns a player, and a line a round with its number; on as many pages as it takes."""
    room_mm = (pdf.h - _MARGIN_MM - pdf.get_y()) / (rounds + 1)
    share = (pdf.epw - _NUMBER_MM) / len(columns)
    widths = [_NUMBER_MM, *[_TURN_SHARE * share, (1 - _TURN_SHARE) * share] * len(columns)]
    pdf.set_auto_page_break(True, _MARGIN_MM)
    with pdf.table(
        col_widths=widths,
        line_height=max(_LOWEST_LINE_MM, room_mm - 1e-6),
        text_align="CENTER",
        padding=0,
    ) as table:
        head = table.row([""])
        for name in columns:
            head.cell(name, colspan=2)
        for number in range(1, rounds + 1):
            table.row([str(number), *[""] * (2 * len(columns))])


def _spaced(name: str) -> str:
    return name.replace("_", " ")
