"""The real window, on a display without a screen (Xvfb), driven by keys as a user would.

Software rendering is slow, above all on a busy machine: the tests wait for what they expect to
see, and not for a time.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
from PIL import ImageGrab, features

from physim.config import HAS_PYBULLET
from physim.errors import DisplayError, PhysimError
from physim.window import window_process
from physim.window.game_window import GameWindow
from physim.window.watch import watch
from tests.pigs.shapes import box, write_model

pytestmark = pytest.mark.skipif(not HAS_PYBULLET, reason="needs PyBullet")
MISSING = [name for name in ("Xvfb", "xdotool") if shutil.which(name) is None]
needs_display = pytest.mark.skipif(
    bool(MISSING) or not features.check("xcb"),
    reason=f"needs {', '.join(MISSING) or 'a Pillow with XCB'} (apt-get install xvfb xdotool)",
)
PATIENCE_S = 200.0
Picture = np.ndarray


class Display:
    """An X server in memory."""

    def __init__(self, screen: str = "640x480x24", *options: str) -> None:
        read, write = os.pipe()
        plain = ["Xvfb", "-displayfd", str(write), "-screen", "0", screen, "-nolisten", "tcp"]
        self.process = subprocess.Popen(
            [*plain, *options],
            pass_fds=[write],
            stderr=subprocess.DEVNULL,
        )
        os.close(write)
        with os.fdopen(read) as stream:
            self.name = f":{stream.readline().strip()}"

    def end(self) -> None:
        self.process.terminate()
        self.process.wait()

    def picture(self) -> Picture:
        return np.asarray(ImageGrab.grab(xdisplay=self.name).convert("RGB")).astype(int)

    def do(self, *words: str) -> str:
        done = subprocess.run(
            ["xdotool", *words],
            env={**os.environ, "DISPLAY": self.name},
            capture_output=True,
            text=True,
            check=False,
        )
        return done.stdout

    def window(self) -> str:
        found = self.do("search", "--name", "Bullet Physics").split()
        return found[-1] if found else ""

    def close_window(self) -> None:
        """Cuts it off as window managers do: PyBullet's window does not ask to be told."""
        end = time.monotonic() + PATIENCE_S
        while (window := self.window()) and time.monotonic() < end:
            self.do("windowkill", window)
            time.sleep(0.3)

    def press(self, key: str) -> None:
        self.do("windowfocus", self.window())
        self.do("key", "--delay", "150", key)


@pytest.fixture
def display() -> Iterator[Display]:
    display = Display()
    yield display
    display.end()


@pytest.fixture
def start(display: Display) -> Iterator[Callable[..., subprocess.Popen[str]]]:
    started: list[subprocess.Popen[str]] = []

    def begin(*options: str) -> subprocess.Popen[str]:
        arguments = ["watch", "--width", "640", "--height", "480", "--seed", "3", *options]
        process = subprocess.Popen(
            [sys.executable, "-m", "physim", *arguments],
            env={**os.environ, "DISPLAY": display.name, "LP_NUM_THREADS": "1"},
            stderr=subprocess.PIPE,
            text=True,
        )
        started.append(process)
        return process

    yield begin
    for process in started:
        if process.poll() is None:
            process.terminate()
        process.communicate()


@pytest.fixture
def brick(tmp_path: Path) -> str:
    """A pig of twelve triangles, which is drawn many times as fast as a real one."""
    return str(write_model(tmp_path / "brick", *box((40.0, 18.0, 20.0))))


def wait_for(what: Callable[[], bool], process: subprocess.Popen[str] | None = None) -> None:
    end = time.monotonic() + PATIENCE_S
    while time.monotonic() < end:
        if what():
            return
        assert process is None or process.poll() is None, process.communicate()[1]
        time.sleep(0.1)
    pytest.fail("it was never seen")


def pigs_in(picture: Picture) -> int:
    """Pink pixels, not the red of the axis that PyBullet draws at first."""
    red, green, blue = np.moveaxis(picture, 2, 0)
    return int(((red > green + 30) & (red > blue + 15) & (green > 80)).sum())


def ink_in(picture: Picture) -> int:
    """Dark pixels, as letters have them."""
    return int((picture.sum(axis=2) < 200).sum())


def table_in(picture: Picture) -> tuple[int, ...]:
    """The colour of the table's front, where no text stands."""
    return tuple(int(c) for c in np.median(picture[380:410, 520:600].reshape(-1, 3), axis=0))


@needs_display
def test_keys_do_what_they_say_and_the_window_ends_cleanly(
    display: Display, start: Callable[..., subprocess.Popen[str]], brick: str
) -> None:
    process = start("--model", brick)
    # The sign in the middle that says that it is at work; PyBullet's own first picture has none.
    wait_for(lambda: 100 < ink_in(display.picture()[200:280, 150:]) < 2_000, process)
    wait_for(lambda: pigs_in(display.picture()) > 40, process)
    before = table_in(display.picture())
    display.press("u")  # laminate to wood
    wait_for(lambda: sum(abs(np.subtract(table_in(display.picture()), before))) > 25, process)
    wait_for(lambda: pigs_in(display.picture()) > 40, process)
    plain = display.picture()
    display.press("g")  # the panel with the sliders
    wait_for(lambda: (np.abs(display.picture() - plain).sum(axis=2) > 60).mean() > 0.2, process)
    display.press("q")
    assert process.wait(PATIENCE_S) == 0


@needs_display
def test_the_window_s_own_cross_ends_it_too(
    display: Display, start: Callable[..., subprocess.Popen[str]], brick: str
) -> None:
    process = start("--model", brick)
    wait_for(lambda: pigs_in(display.picture()) > 40, process)
    display.close_window()
    assert process.wait(PATIENCE_S) == 0


@needs_display
def test_a_display_that_goes_away_is_told_in_one_message(
    display: Display, start: Callable[..., subprocess.Popen[str]], brick: str
) -> None:
    process = start("--toss", "hand", "--model", brick)
    wait_for(lambda: pigs_in(display.picture()) > 20, process)
    display.process.kill()
    _, said = process.communicate(timeout=PATIENCE_S)
    assert process.returncode == 2
    assert said.count("\n") == 1 and "went away" in said and "physim render" in said


@needs_display
@pytest.mark.slow
@pytest.mark.timeout(3600)
def test_200_rolls_need_no_more_memory_than_40(display: Display) -> None:
    program = Path(__file__).with_name("many_rolls_in_a_window.py")
    done = subprocess.run(
        [sys.executable, str(program)],
        env={**os.environ, "DISPLAY": display.name, "LP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        check=True,
    )
    found = re.search(r"memory (\d+) (\d+)", done.stdout)  # PyBullet prints too
    assert found is not None, done.stdout
    after_40, after_200 = map(int, found.groups())
    assert after_200 < 1.1 * after_40 + 10_000_000


@needs_display
def test_the_window_beside_a_game_shows_each_roll_until_it_is_closed(
    display: Display, monkeypatch: pytest.MonkeyPatch, brick: str
) -> None:
    monkeypatch.setenv("DISPLAY", display.name)
    monkeypatch.setenv("LP_NUM_THREADS", "1")
    with GameWindow({"seed": 3, "model": brick}, size=(320, 240)) as window:
        assert window.show(0, "Ana: 0 + 0 this turn")
        assert pigs_in(display.picture()) > 10
        wait_for(lambda: ink_in(display.picture()[:60, :160]) > 60)  # title, outcome and poses
        assert window.show(1, "Ana: 0 + 5 this turn")
        display.close_window()
        assert not window.show(2, "Ana: 0 + 10 this turn")
        assert not window.show(3, "Ana: 0 + 15 this turn")


@needs_display
def test_what_the_window_beside_a_game_cannot_show_is_told(
    display: Display, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DISPLAY", display.name)
    with pytest.raises(PhysimError, match="unknown toss"), GameWindow({"toss": "catapult"}):
        pass


@needs_display
@pytest.mark.parametrize(
    "options", [("640x480x24", "-extension", "GLX"), ("640x480x8",)], ids=["no GLX", "8 bits"]
)
def test_a_display_without_opengl_is_told(
    monkeypatch: pytest.MonkeyPatch, options: tuple[str, ...]
) -> None:
    display = Display(*options)
    monkeypatch.setenv("DISPLAY", display.name)
    try:
        with pytest.raises(DisplayError, match=r"no OpenGL \(GLX\).*physim render"):
            watch({}, 0, None, 300, 300)
        with pytest.raises(DisplayError, match=r"no OpenGL .*without --watch"), GameWindow({}):
            pass
    finally:
        display.end()


@pytest.mark.parametrize(
    ("code", "opened", "there", "says"),
    [
        (0, False, True, "no OpenGL"),
        (1, False, True, "no OpenGL"),
        (-9, False, True, "ended by signal 9"),
        (0, False, False, "no display"),
        (-11, False, False, "no display"),
        (1, True, False, "went away"),
        (0, True, False, ""),
        (1, True, True, ""),
    ],
)
def test_an_end_before_the_window_was_there_is_a_failure_whatever_its_code(
    monkeypatch: pytest.MonkeyPatch, code: int, opened: bool, there: bool, says: str
) -> None:
    monkeypatch.setattr(window_process, "_reachable", lambda display: there)
    if says:
        with pytest.raises(DisplayError, match=says):
            window_process.check_ending(code, "", opened)
    else:
        window_process.check_ending(code, "", opened)


def test_no_display_beside_a_game_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("", ":4321"):
        monkeypatch.setenv("DISPLAY", name)
        with pytest.raises(DisplayError, match="without --watch"), GameWindow({}):
            pass


def test_no_display_is_told_in_one_message_that_names_render(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("DISPLAY", raising=False)
    with pytest.raises(DisplayError, match=r"DISPLAY is not set.*physim render"):
        watch({}, 0, None, 300, 300)


def test_a_display_that_is_not_there_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DISPLAY", ":4321")
    with pytest.raises(DisplayError, match=r"no display .*:4321.*physim render"):
        watch({}, 0, None, 300, 300)


def test_a_machine_that_does_not_answer_is_told_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """PyBullet would wait for it for minutes; 192.0.2.1 is nobody's address."""
    monkeypatch.setenv("DISPLAY", "192.0.2.1:0")
    monkeypatch.setattr(subprocess, "Popen", None)  # no window's process is started
    with pytest.raises(DisplayError, match=r"no display .*192\.0\.2\.1:0.*physim render"):
        watch({}, 0, None, 300, 300)
