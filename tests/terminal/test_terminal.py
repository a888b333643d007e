"""The commands in a terminal of 80 x 24: typed at, killed, taken up again."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import select
import signal
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("prompt_toolkit")

ROOT = Path(__file__).parents[2]
CTRL_C, CTRL_D, CTRL_Z, TAB = "\x03", "\x04", "\x1a", "\t"
_PATIENCE_S = 120.0  # a machine that is busy with other things
_CONTROL = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]|\x1b[=>]|[\r\x07]")
COLOUR = re.compile(r"\x1b\[(?:\d+;)*(?:3|4|9|10)\d(?:;\d+)*m")


class Screen:
    """A process at a terminal of its own."""

    rows, columns = 24, 80

    def __init__(self, folder: Path, *arguments: str, **environment: str) -> None:
        self._master, slave = pty.openpty()
        size = struct.pack("HHHH", self.rows, self.columns, 0, 0)
        fcntl.ioctl(slave, termios.TIOCSWINSZ, size)
        inherited = {k: v for k, v in os.environ.items() if k != "NO_COLOR"}
        self.process = subprocess.Popen(
            [sys.executable, "-m", "physim", *arguments],
            stdin=slave, stdout=slave, stderr=slave, cwd=folder, start_new_session=True,
            # This terminal does not tell where its cursor is.
            env={**inherited, "PYTHONPATH": str(ROOT), "TERM": "xterm",
                 "PROMPT_TOOLKIT_NO_CPR": "1", **environment},
        )  # fmt: skip
        os.close(slave)
        self.raw = ""

    @property
    def text(self) -> str:
        """All that was written, without what moves the cursor."""
        return _CONTROL.sub("", self.raw)

    def type(self, keys: str) -> None:
        os.write(self._master, keys.encode())

    def wait_for(self, words: str) -> None:
        deadline = time.monotonic() + _PATIENCE_S
        while words not in self.text:
            assert time.monotonic() < deadline, f"no {words!r} in {self.text!r}"
            assert self._read(), f"ended without {words!r}: {self.text!r}"

    def end(self) -> int:
        """Reads to the end; the exit code."""
        while self._read():
            pass
        os.close(self._master)
        return self.process.wait(_PATIENCE_S)

    def kill(self, number: signal.Signals) -> int:
        self.process.send_signal(number)
        return self.end()

    def _read(self) -> bool:
        ready, _, _ = select.select([self._master], [], [], _PATIENCE_S)
        assert ready, f"nothing more after {self.text!r}"
        try:
            piece = os.read(self._master, 65536)
        except OSError:  # the other end is closed
            return False
        self.raw += piece.decode()
        return bool(piece)


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    (tmp_path / "throws.txt").write_text("trotter snouter\nrazorback side_dot_up\npig_out\n")
    yield tmp_path


def test_the_pad_survives_kill_9_and_goes_on(folder: Path) -> None:
    pad = Screen(folder, "scorepad", "--players", "Ana", "Ben")
    pad.wait_for("Ana 0+0 >")
    pad.type("t up\r")
    pad.wait_for("Ana: trotter, 5 points; 5 this turn")
    assert pad.kill(signal.SIGKILL) == -signal.SIGKILL
    pad = Screen(folder, "scorepad")
    pad.wait_for("Ana 0+5 >")
    pad.type(f"raz{TAB} sn{TAB}\r")
    pad.wait_for("Ana: razorback+snouter, 15 points; 20 this turn")
    pad.wait_for("Ana 0+20 >")
    pad.type(CTRL_C)
    assert pad.end() == 130
    assert "interrupted. The score is kept in physim-scorepad.json; `physim scorepad`" in pad.text
    pad = Screen(folder, "scorepad")
    pad.wait_for("Ana 0+20 >")
    pad.type(CTRL_D)
    assert pad.end() == 0 and "The score is kept" in pad.text


def test_a_game_survives_kill_9_and_goes_on_with_its_next_throw(folder: Path) -> None:
    game = Screen(folder, "play", "--players", "Ana", "hold:20", "--source", "throws.txt")
    game.wait_for("Ana: roll >")
    game.type("roll\r")
    game.wait_for("Ana: trotter+snouter, 15 points; 15 this turn")
    assert game.kill(signal.SIGKILL) == -signal.SIGKILL
    game = Screen(folder, "play")
    game.wait_for("Going on after 1 move.")
    game.wait_for("Ana: 0 + 15 this turn = 15")
    game.type("roll\rbank\r")
    game.wait_for("hold:20 throws: Enter, or call >")
    assert "Ana: razorback, 5 points; 20 this turn" in game.text
    game.type("\r")
    game.wait_for("hold:20: pig_out, loses the 0 of this turn")
    assert game.kill(signal.SIGTERM) == 143
    assert "The game is kept in physim-play.json; `physim play` goes on with it." in game.text


def test_who_is_taken_out_is_asked_for_and_ctrl_z_is_no_part_of_an_entry(folder: Path) -> None:
    game = Screen(folder, "play", "--players", "Ana", "Ben", "--source", "throws.txt")
    game.wait_for("Ana: roll >")
    game.type("remove ben\r")
    game.wait_for("Take Ben out? Ana then wins. y or n >")
    game.type("n\r")
    game.wait_for("n > n")
    game.type("r\r")
    game.wait_for("Ana: 0 + 15 this turn = 15")
    game.wait_for("Ana: roll or bank >")
    game.type("b\r")
    game.wait_for("Ben: roll >")
    game.type("undo\r")
    game.wait_for("Taken back: Ana banks 15: 15")
    asked_again = "0.4 % all 15; +1.5 on average.\nAna: roll or bank >"
    game.wait_for(f"Taken back: Ana banks 15: 15\nAna: 0 + 15 this turn = 15\nNext throw: 21.3 % "
                  f"lose the turn's 15, {asked_again}")  # fmt: skip
    # No job control in a session of its own: the signal to stop is not heeded there.
    game.type(f"{CTRL_Z}sco{CTRL_Z}res\r")
    game.wait_for("Ana 0 + 15 this turn, Ben 0")
    game.type("remove ben\ry\r")
    game.wait_for("Ana wins with 0")
    assert game.end() == 0 and "^Z" not in game.text


@pytest.mark.parametrize(
    ("environment", "lacks"),
    [({"TERM": "dumb"}, re.compile("\x1b")), ({"NO_COLOR": "1"}, COLOUR), ({}, re.compile("\0"))],
)
def test_without_colour_and_without_a_cursor(
    folder: Path, environment: dict[str, str], lacks: re.Pattern[str]
) -> None:
    assert COLOUR.search("\x1b[0;31m") and COLOUR.search("\x1b[38;5;9m")
    assert not COLOUR.search("\x1b[0;7m")  # reversed, as the status line is
    pad = Screen(folder, "scorepad", "--players", "Ana", "Ben", **environment)
    pad.wait_for("Ana 0+0 >")
    pad.type("turn 23\r")
    pad.wait_for("Ben 0+0 >")
    pad.type("quit\r")
    assert pad.end() == 0
    assert not lacks.search(pad.raw)
    assert "Ana banks 23: 23" in pad.text


class SmallScreen(Screen):
    """One of 40 x 20."""

    rows, columns = 20, 40


def test_a_narrow_terminal_is_told_lines_that_fit(folder: Path) -> None:
    game = SmallScreen(folder, "play", "--players", "Ana", "Ben", "--source", "throws.txt")
    game.wait_for("Ana: roll >")
    game.type("help\r")
    game.wait_for("    leave; the game is kept")
    game.type("\r")
    game.wait_for("Ana: trotter+snouter, 15 points; 15\n  this turn")
    game.wait_for("Ana: roll or bank >")
    game.type("quit\r")
    assert game.end() == 0
    told = game.text.splitlines()
    assert max(len(line) for line in told if " >" not in line) < 40  # but for what is typed
    black, pink = told.index("  black: trotter"), told.index("  pink: snouter")
    assert black < pink  # one pig above the other
