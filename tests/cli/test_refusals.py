"""What a system refuses is told as what it is: which limit, which folder, and what to do."""

from __future__ import annotations

import errno
import io
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import click
import pytest

from physim.cli import main as command_line
from physim.cli.output import stream
from tests.cli.test_commands import complaint

TEMPORARY = tempfile.gettempdir()


def refused(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str], error: Exception
) -> str:
    """What is told where a command meets this error."""

    def fail() -> None:
        raise error

    monkeypatch.setitem(command_line.cli.commands, "fail", click.Command("fail", callback=fail))
    return complaint(capfd, "fail")


@pytest.mark.parametrize(
    ("error", "says"),
    [
        (OSError(errno.EMFILE, "Too many open files"), "(`ulimit -n`)"),
        (OSError(errno.EFBIG, "File too large"), "(`ulimit -f`)"),
        (BlockingIOError(errno.EAGAIN, "Resource temporarily unavailable"), "(`ulimit -u`)"),
        (OSError(errno.ENOMEM, "Cannot allocate memory"), "(`ulimit -v`)"),
        (MemoryError(), "not enough memory (Cannot allocate memory); free some"),
        (ImportError("libparquet.so: failed to map segment from shared object"), "(`ulimit -v`)"),
        (OSError(errno.ENOSPC, "No space left on device", "d/x"), "d/x: the system refused it (No"),
        (BrokenPipeError(errno.EPIPE, "Broken pipe"), "what the command needs (Broken pipe)"),
        (OSError("AF_UNIX path too long"), "what the command needs (AF_UNIX path too long)"),
        (
            FileNotFoundError(2, "No such file", tempfile.gettempdir() + "/pymp-1/gone"),
            "set TMPDIR to",
        ),
    ],
)
def test_no_refusal_is_told_as_one_of_stdout(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str], error: Exception, says: str
) -> None:
    told = refused(monkeypatch, capfd, error)
    assert says in told and "stdout" not in told


def test_a_stream_names_itself_in_an_error() -> None:
    with Path("/dev/full").open("wb") as full:
        results = stream(full.fileno(), "stdout")
        with pytest.raises(OSError, match="No space left on device: 'stdout'"):
            print("a", file=results, flush=True)
        with pytest.raises(OSError, match="No space"):
            results.close()


def test_letters_that_an_encoding_lacks_are_written_as_codes() -> None:
    run = subprocess.run(
        [sys.executable, "-m", "physim", "score", "trötter", "trotter"],
        env={**os.environ, "PYTHONIOENCODING": "ascii", "LC_ALL": "C"},
        capture_output=True,
        check=False,
    )
    assert run.returncode == 2 and b"tr\\xf6tter" in run.stderr


@pytest.mark.parametrize(
    ("arguments", "ok"),
    [
        (("batch", "4", "--workers", "1", "--out", "d"), False),
        (("scorepad", "--players", "Ana", "Ben"), False),
        (("model", "check", "a.stl"), False),
        (("score", "trotter", "trotter"), True),
        (("roll",), True),
        (("--help",), True),
    ],
)
def test_a_system_without_the_modules_of_unix_is_told_in_one_line(
    tmp_path: Path, arguments: tuple[str, ...], ok: bool
) -> None:
    """Windows, that is; what needs none of them works there."""
    program = (
        "import sys; sys.modules['fcntl'] = sys.modules['resource'] = None\n"
        "import physim; assert physim.score('trotter', 'trotter').score == 20\n"
        "from physim.cli.start import main; main()"
    )
    run = subprocess.run(
        [sys.executable, "-c", program, *arguments],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(Path(command_line.__file__).parents[2])},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == (0 if ok else 2)
    lines = run.stderr.splitlines()
    assert len(lines) == (0 if ok else 1)
    assert ok or "Linux and macOS, and on Windows in WSL" in lines[0]


def test_a_window_that_is_slow_to_show_its_first_roll_is_announced(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """On a terminal, at once; software OpenGL takes some 15 s for the first roll."""

    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    said = []
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setattr(
        "physim.window.watch.watch", lambda *given: said.append(terminal.getvalue())
    )
    with pytest.raises(SystemExit) as stop:
        command_line.main(["watch"])
    assert stop.value.code == 0 and "first roll takes a while" in said[0]
