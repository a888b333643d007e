"""The commands of people from the tests: arguments, and what is piped in."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pytest

from physim.cli.main import main


class Desk:
    """A folder to play in, and the commands there."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch, capfd: Any) -> None:
        self.folder, self._monkeypatch, self._capfd = folder, monkeypatch, capfd
        monkeypatch.chdir(folder)
        monkeypatch.setattr("physim.cli.game_options.PATIENCE_S", 1e9)  # no progress line

    def run(self, *arguments: object, typed: str = "") -> tuple[int, str, str]:
        """Exit code, stdout and stderr; `typed` has a line for each semicolon."""
        lines = "".join(f"{line.strip()}\n" for line in typed.split(";") if line.strip())
        self._monkeypatch.setattr("sys.stdin", io.StringIO(lines))
        with pytest.raises(SystemExit) as stop:
            main([str(argument) for argument in arguments])
        out, err = self._capfd.readouterr()
        assert isinstance(stop.value.code, int)
        return stop.value.code, out, err

    def events(self, name: str) -> list[dict[str, Any]]:
        data = json.loads((self.folder / name).read_text())
        events: list[dict[str, Any]] = data["events"]
        return events

    def script(self, *throws: str) -> Path:
        path = Path("throws.txt")  # in the folder to play in
        path.write_text("\n".join(throws) + "\n")
        return path


def refused(result: tuple[int, str, str], says: str) -> None:
    """One message, its remedy, exit code 2."""
    code, _, err = result
    (line,) = err.splitlines()
    assert code == 2 and line.startswith("physim: ") and says in line
