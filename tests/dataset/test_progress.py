from __future__ import annotations

import io

import pytest

from physim.dataset import progress
from physim.dataset.progress import ProgressLine


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    now = [100.0]
    monkeypatch.setattr(progress.time, "monotonic", lambda: now[0])
    return now


def test_a_log_tells_the_first_result_at_once_and_then_now_and_then(clock: list[float]) -> None:
    log = io.StringIO()
    line = ProgressLine(log)
    line.begin("loading")  # on a terminal only
    for seconds, done in [(0, 0), (1, 1), (2, 30), (11.5, 300), (12, 310), (20, 1000)]:
        clock[0] = 100.0 + seconds
        line(done, 1000)
    line.close()
    assert log.getvalue().splitlines() == [
        "1 of 1,000 rolls",
        "300 of 1,000 rolls, 26.1/s, 00:27 left",
        "1,000 of 1,000 rolls, 50.0/s, 00:00 left",
    ]


def test_a_terminal_shows_one_line_from_the_start(clock: list[float]) -> None:
    terminal = Terminal()
    line = ProgressLine(terminal)
    line.begin("loading models and workers ...")
    line(0, 40)
    clock[0] += 0.01
    line(1, 40)
    clock[0] += 0.01
    line(2, 40)  # too soon
    clock[0] += 0.98
    line(40, 40)
    line.close()
    shown = [text.rstrip() for text in terminal.getvalue().split("\r")]
    assert shown == [
        "",
        "loading models and workers ...",
        "1 of 40 rolls",
        "40 of 40 rolls, 40.0/s, 00:00 left",
    ]


def test_rolls_that_were_there_are_told_and_not_counted_as_new(clock: list[float]) -> None:
    log = io.StringIO()
    line = ProgressLine(log)
    line(500, 1000)
    clock[0] += 10
    line(600, 1000)
    assert log.getvalue().splitlines() == [
        "500 of 1,000 rolls were there already",
        "600 of 1,000 rolls, 10.0/s, 00:40 left",
    ]


def test_what_is_done_soon_shows_nothing(clock: list[float]) -> None:
    log = io.StringIO()
    line = ProgressLine(log, "games", after_s=3)
    line(0, 40)
    line.note("solving")
    clock[0] += 2.9
    line(40, 40)
    line.close()
    assert log.getvalue() == ""


def test_what_takes_longer_is_told_in_its_own_words(clock: list[float]) -> None:
    log = io.StringIO()
    line = ProgressLine(log, "games", after_s=3)
    line(0, 4000)
    clock[0] += 4
    line(1000, 4000)
    line.note("too soon")
    clock[0] += 11
    line.note("sweep 12")
    assert log.getvalue().splitlines() == [
        "1,000 of 4,000 games, 250.0/s, 00:12 left",
        "sweep 12",
    ]
