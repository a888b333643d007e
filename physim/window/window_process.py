"""The window's process: starting it, both sides of the pipe, and how it ended.

PyBullet ends its process without an exception where there is no display, or when the display
goes away, and lets a process have one window at a time. So each window gets a process. It is asked
on stdin, a line of JSON each, and answers on stdout; the end of stdin is its end.
"""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import threading
import time
import traceback
from collections.abc import Callable, Mapping
from contextlib import suppress
from queue import Empty, SimpleQueue
from typing import Any

from physim.errors import DisplayError, PhysimError
from physim.window.bullet_gui import Window, WindowClosed
from physim.window.session import RollSession

Json = Mapping[str, Any]
_OPEN = "open"  # the first answer, once the window is there
_BAD_INPUT, _FAILED = 2, 70
_FRAME_S = 1 / 60
_END_S = 5.0  # after which a process that does not end is ended
_NO_DISPLAY = "no display for the window"
_REMEDY = "`physim render` draws the same rolls without one (pictures, GIF, MP4, GLB)"


class WindowProcess:
    """The process as its parent sees it. Use it with `with`."""

    def __init__(self, module: str, request: Json) -> None:
        """Takes the module that it runs, and what it is asked first: `size` and what it shows."""
        self._module, self._request = module, request
        self._process: subprocess.Popen[str] | None = None

    def __enter__(self) -> WindowProcess:
        """Opens the window.

        Raises:
            DisplayError: no display.
            PhysimError: what it was asked to show is unusable.
        """
        display = os.environ.get("DISPLAY", "")
        if sys.platform.startswith("linux") and not display:
            raise DisplayError(f"{_NO_DISPLAY} (DISPLAY is not set); {_REMEDY}")
        host = display.rpartition(":")[0]
        over_network = host not in ("", "unix") and "/" not in host
        # PyBullet would wait for minutes for a machine that is not there.
        if over_network and not _reachable(display):
            raise DisplayError(f"{_NO_DISPLAY} (DISPLAY={display}); {_REMEDY}")
        self._process = subprocess.Popen(
            [sys.executable, "-m", self._module],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            encoding="utf-8",
        )
        try:
            if (said := self.ask(self._request)) != _OPEN:
                self.check_end(said)
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *error: object) -> None:
        process, self._process = self._process, None
        if process is None:
            return
        assert process.stdin is not None
        with suppress(subprocess.TimeoutExpired, OSError):
            process.stdin.close()
            process.wait(_END_S)
        if process.poll() is None:
            process.terminate()
            process.wait()

    def ask(self, what: Json) -> str:
        """The line that the process answers with; empty if it has ended."""
        if self._process is None:
            return ""
        assert self._process.stdin is not None and self._process.stdout is not None
        with suppress(OSError):
            self._process.stdin.write(json.dumps(what) + "\n")
            self._process.stdin.flush()
        return self._process.stdout.readline().strip()

    def check_end(self, said: str = _OPEN) -> None:
        """Waits for the end, and raises what the process has to say, which began with `said`."""
        assert self._process is not None and self._process.stdout is not None
        said += "\n" + self._process.stdout.read()
        opened = said.startswith(_OPEN)
        check_ending(self._process.wait(), said.removeprefix(_OPEN).strip(), opened)


def check_ending(code: int, said: str, opened: bool) -> None:
    """Raises what a process that has ended had to say.

    Args:
        code: its exit code.
        said: on stdout, after the window was there.
        opened: whether its window was there; if not, something is raised whatever the code.

    Raises:
        DisplayError: no display, one without OpenGL, or it went away.
        PhysimError: what it was asked to show is unusable.
        RuntimeError: it failed.
    """
    if code == _BAD_INPUT:
        raise PhysimError(said)
    if code == _FAILED:
        raise RuntimeError(f"the window's process failed:\n{said}")
    display = os.environ.get("DISPLAY", "")
    there = _reachable(display)
    if opened and (code == 0 or there):  # the user has closed it
        return
    what = "the window's display went away" if opened else _NO_DISPLAY
    if there and code < 0:
        what = f"the window's process was ended by signal {-code}"
    elif there:  # PyBullet says so on its stdout, and ends its process with code 0
        what = "the display has no OpenGL (GLX), or too few colours"
    raise DisplayError(f"{what} (DISPLAY={display}); {_REMEDY}")


def serve(make: Callable[[Window, Json, Callable[[str], None]], RollSession]) -> int:
    """The process's own side: shows something, and says on stdout how it went.

    Args:
        make: the session, of a window that is not open yet, what was asked, and how to answer.

    Returns:
        The exit code.
    """
    out = os.fdopen(os.dup(1), "w", encoding="utf-8")  # PyBullet prints on stdout
    os.dup2(2, 1)

    def say(text: str) -> None:
        print(text, file=out, flush=True)

    try:
        asked = json.loads(sys.stdin.readline())
        window = Window(*asked["size"])
        session = make(window, asked, say)  # what is unusable is told before a window opens
        with window:
            say(_OPEN)
            with session:
                _loop(session)
    except PhysimError as error:
        say(str(error))
        return _BAD_INPUT
    except (WindowClosed, KeyboardInterrupt, BrokenPipeError):
        pass
    except Exception:  # its own stderr is full of what libraries print
        say(traceback.format_exc())
        return _FAILED
    return 0


def _loop(session: RollSession) -> None:
    """Updates the session once a frame, until one of both sides ends it."""
    lines = SimpleQueue[str]()

    def read() -> None:
        while line := sys.stdin.readline():
            lines.put(line)
        lines.put("")

    # Waiting for a line would keep the window from being drawn.
    threading.Thread(target=read, daemon=True).start()
    while not session.over:
        began_s = time.monotonic()
        with suppress(Empty):
            line = lines.get_nowait()
            if not line:
                return
            session.show(**json.loads(line))
        session.update(began_s)
        time.sleep(max(0.0, _FRAME_S - (time.monotonic() - began_s)))


def _reachable(display: str) -> bool:
    """Whether an X server still answers: if so, the user has closed the window.

    PyBullet's window does not hear of its being closed; it is cut off as by a lost display.
    """
    host, _, rest = display.rpartition(":")
    number = rest.partition(".")[0]
    if not number.isdigit():
        return False
    local = host in ("", "unix") or host.endswith("/unix")
    family = socket.AF_UNIX if local else socket.AF_INET
    address = f"/tmp/.X11-unix/X{number}" if local else (host, 6000 + int(number))
    with socket.socket(family, socket.SOCK_STREAM) as connection:
        connection.settimeout(2.0)
        with suppress(OSError):
            connection.connect(address)
            return True
    return False
