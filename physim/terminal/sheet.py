"""A score sheet on paper: this package's door to the PDF library."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from physim.errors import ConfigError, optional, shown
from physim.files import told, write_whole
from physim.rules.ruleset import Effect, End, Pays, RuleSet
from physim.rules.score import SCORING_POSES, score_table
from physim.types import Outcome

MAX_COLUMNS = 12
_BLANK = 6  # columns where nobody is named
_UPRIGHT = 6  # columns that fit an upright page
_FONT, _LAST_LETTER = "Helvetica", "\xff"  # of every reader; it has the letters of Latin-1
_MARGIN_MM, _NUMBER_MM, _HEAD_MM = 12.0, 10.0, 9.0
_LOWEST_LINE_MM = 6.0  # that can be written in
_TURN_SHARE = 0.4  # of a column: a turn's points are shorter than the score
_LIGHT = 190  # of 255
_HOW = "On each line: the turn's points to the left, the score with them to the right."


def write_sheet(path: Path, rules: RuleSet, names: Sequence[str], rounds: int) -> None:
    """A4: the points, the rules, and a column a player with a line a round.

    One page, and more where the lines would be too low to write in.

    Args:
        path: of the PDF.
        rules: that the sheet reminds of.
        names: of the players; none leaves the columns' heads blank.
        rounds: lines to write in.

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
    for name in columns:
        if not name.isprintable() or max(name, default="") > _LAST_LETTER:
            raise ConfigError(
                f"the sheet's font cannot write {shown(name)}; write it otherwise, or leave "
                "--players out and fill the names in by hand"
            )
    pdf = fpdf.FPDF("portrait" if len(columns) <= _UPRIGHT else "landscape", format="A4")
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
    _grid(pdf, columns, rounds)
    with told(ConfigError, f"--sheet {path}: cannot be written", "name a file elsewhere"):
        write_whole(path, bytes(pdf.output()))


def point_lines() -> list[str]:
    """What a throw is worth, in words."""
    table = score_table()
    single = [f"{_words(pose.value)} {table.single[pose]}" for pose in SCORING_POSES]
    double = [
        f"{_words(pose.value)} {table.by_outcome[Outcome(f'double_{pose.value}')]}"
        for pose in SCORING_POSES
    ]
    return [
        f"One pig so, the other on a side: {', '.join(single)}. Two different ones: the sum.",
        f"Both so: {', '.join(double)}.",
        f"Both on a side: the same one, sider {table.by_outcome[Outcome.SIDER]}; opposite ones "
        "(one dot up, one down), pig out.",
    ]


def rule_lines(rules: RuleSet) -> list[str]:
    """What ends a turn and the game, in words."""
    costs = {
        Effect.LOSES_TURN: "lose the turn's points",
        Effect.LOSES_SCORE: "lose all points of the game",
        Effect.ELIMINATES: "out of the game",
        Effect.NOTHING: "no points",
        Effect.ROLLS_AGAIN: "throw again",
    }
    told = [
        f"{what}, {costs[rules.effect(outcome)]}"
        for what, outcome in (
            ("pig out", Outcome.PIG_OUT),
            ("oinker (the pigs touch)", Outcome.OINKER),
            ("piggyback (one on the other)", Outcome.PIGGYBACK),
            ("a pig off the table", Outcome.OFF_TABLE),
        )
    ]
    lines = [
        f"To win: {_words(rules.reach.value)} {rules.target}; the game ends at "
        f"{'once' if rules.end is End.AT_ONCE else 'the end of the round'}.",
        f"No points: {'; '.join(told)}.",
    ]
    if rules.hog_call:
        gain = "its points" if rules.hog_call_pays is Pays.SINGLE_DOUBLE else "double its points"
        lines.append(
            f"Hog Call: with {rules.hog_call_least_points} points banked, shout before another "
            f"player's throw and name its {rules.hog_call_predicts.value}. Right: you gain {gain}, "
            "the thrower loses double. Wrong: you lose double, the thrower gains double."
        )
    return lines


def _grid(pdf: Any, columns: Sequence[str], rounds: int) -> None:
    """A column a player, and a line a round with its number; on as many pages as it takes.

    A turn's points go to the left of a column's light line, the score to the right.
    """
    top = pdf.get_y()
    height = max(_LOWEST_LINE_MM, (pdf.h - _MARGIN_MM - top - _HEAD_MM) / rounds)
    width = (pdf.w - 2 * _MARGIN_MM - _NUMBER_MM) / len(columns)
    number = 0
    while number < rounds:
        if number:
            pdf.add_page()
            top = pdf.get_y()
        first = top + _HEAD_MM
        lines = min(int((pdf.h - _MARGIN_MM - first) / height + 1e-6), rounds - number)
        pdf.set_draw_color(_LIGHT)
        for column in range(len(columns)):
            middle = _MARGIN_MM + _NUMBER_MM + (column + _TURN_SHARE) * width
            pdf.line(middle, first, middle, first + lines * height)
        pdf.set_draw_color(0)
        pdf.set_xy(_MARGIN_MM, top)
        pdf.cell(_NUMBER_MM, _HEAD_MM, "", border=1)
        for name in columns:
            pdf.cell(width, _HEAD_MM, _fitting(pdf, name, width - 2), border=1, align="C")
        pdf.set_font(_FONT, size=8)
        for line in range(lines):
            pdf.set_xy(_MARGIN_MM, first + line * height)
            number += 1
            pdf.cell(_NUMBER_MM, height, str(number), border=1, align="C")
            for _ in columns:
                pdf.cell(width, height, "", border=1)


def _fitting(pdf: Any, name: str, width_mm: float) -> str:
    """The name, in letters so small that it has room, or cut short."""
    for size in (10, 9, 8, 7):
        pdf.set_font(_FONT, "B", size)
        if pdf.get_string_width(name) <= width_mm:
            return name
    while pdf.get_string_width(name + "...") > width_mm:
        name = name[:-1]
    return name + "..."


def _words(name: str) -> str:
    return name.replace("_", " ")
