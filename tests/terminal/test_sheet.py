"""The score sheet as PDF."""

from __future__ import annotations

import re
import sys
import zlib

import pytest

from physim.rules.ruleset import load_rules, rule_set_names
from physim.terminal.scorepad import point_lines, rule_lines
from tests.terminal.commands import Desk, refused


def pages_of(pdf: bytes) -> list[str]:
    """The drawing commands of each page."""
    streams = re.findall(rb"stream\n(.*?)\nendstream", pdf, re.S)
    return [zlib.decompress(stream).decode("latin-1") for stream in streams]


@pytest.mark.parametrize(
    ("names", "columns"), [([], 6), (["Ana", "Zoë"], 2), (list("ABCDEFGHIJKL"), 12)]
)
def test_a_sheet_is_one_page_with_a_cell_a_player_and_round(
    desk: Desk, names: list[str], columns: int
) -> None:
    pytest.importorskip("fpdf")
    players = ("--players", *names) if names else ()
    code, out, err = desk.run("scorepad", "--sheet", "sheet.pdf", "--rounds", 10, *players)
    assert (code, out, err) == (0, "sheet.pdf\n", "")
    pdf = (desk.folder / "sheet.pdf").read_bytes()
    (page,) = pages_of(pdf)
    assert pdf.startswith(b"%PDF") and len(re.findall(rb"/Type /Page\b", pdf)) == 1
    # A head a player; on each line a cell for the turn's points and one for the score.
    assert page.count(" re S") == (columns + 1) + (2 * columns + 1) * 10
    for name in names:
        assert f"({name})" in page
    assert not (desk.folder / "physim-scorepad.json").exists()


def test_what_cannot_be_printed_is_told(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    sheet = ("scorepad", "--sheet", "sheet.pdf", "--players")
    pytest.importorskip("fpdf")
    refused(
        desk.run(*sheet, "\u0639\u0644\u06cc", "Ben"),
        "fill the names in by hand",
    )
    refused(desk.run(*sheet, *map(str, range(13))), "room for 12 players")
    monkeypatch.setitem(sys.modules, "fpdf", None)
    refused(desk.run(*sheet, "Ana", "Ben"), "-m pip install fpdf2 matplotlib;")
    assert not any(desk.folder.iterdir())


def test_a_name_that_latin_1_lacks_is_written_in_an_embedded_font(desk: Desk) -> None:
    pytest.importorskip("fpdf")
    pytest.importorskip("matplotlib")
    sheet = ("scorepad", "--sheet", "sheet.pdf", "--players")
    assert desk.run(*sheet, "\u0141ukasz", "O\u2019Brien")[0] == 0
    pdf = (desk.folder / "sheet.pdf").read_bytes()
    assert b"DejaVuSans" in pdf and b"/FontFile2" in pdf
    assert desk.run(*sheet, "Lukasz", "Brien")[0] == 0
    assert b"DejaVuSans" not in (desk.folder / "sheet.pdf").read_bytes()


@pytest.mark.parametrize(("paper", "box"), [("A4", "595.28 841.89"), ("letter", "612 792")])
def test_a_sheet_has_the_paper_that_is_asked_for(desk: Desk, paper: str, box: str) -> None:
    pytest.importorskip("fpdf")
    assert desk.run("scorepad", "--sheet", "s.pdf", "--paper", paper)[0] == 0
    sizes = re.findall(rb"/MediaBox \[0 0 ([\d. ]+)\]", (desk.folder / "s.pdf").read_bytes())
    assert sizes and {tuple(round(float(side), 1) for side in size.split()) for size in sizes} == {
        tuple(round(float(side), 1) for side in box.split())
    }


def test_the_sheet_reminds_of_the_rules_that_are_played() -> None:
    told = {name: " ".join(rule_lines(load_rules(name))) for name in rule_set_names()}
    assert "oinker (the pigs touch), lose all points of the game;" in told["box"]
    assert "oinker (the pigs touch), lose the turn's points;" in told["table"]
    assert "Hog Call" not in told["world_championship"]
    assert "you gain double its points" in told["box"]
    assert "name the positions of both pigs (no pig out, oinker or piggyback)" in told["box"]
    assert "name its points (not 0)" in told["wikipedia"]
    assert "Nobody falls below 0." in told["box"]
    assert "you gain its points" in told["wikipedia"]
    assert "leaning jowler 15. Two different ones: the sum. Both so: trotter 20" in " ".join(
        point_lines()
    )


def test_many_rounds_go_on_to_another_page_and_long_names_are_wrapped(desk: Desk) -> None:
    pytest.importorskip("fpdf")
    names = [*"ABCDEFGHIJK", "Maximiliane von und zu Hohenstein"]
    assert desk.run("scorepad", "--sheet", "s.pdf", "--rounds", 60, "--players", *names)[0] == 0
    pages = pages_of((desk.folder / "s.pdf").read_bytes())
    rows = [(page.count(" re S") - 13) // 25 for page in pages]
    assert sum(rows) == 60 and len(rows) > 1
    for page in pages:  # A4 across: 210 mm, of which 24 are margins
        assert "(Maximiliane" in page and "(Hohenstein" in page
    assert max(rows) * 6.0 <= 186
