"""The window, in a process of its own: starting it, its side of the pipe, and how it ended.

PyBullet ends its process without an exception where there is no display, or when the display
goes away, and lets a process have one window at a time. So each window gets a process.
"""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import TextIO

from physim.errors import DisplayError, PhysimError

OPEN = "open"
"""The first line of a window's process on stdout, once its window is there."""

_BAD_INPUT, _FAILED = 2, 70
_FRAME_S = 1 / 60
_NO_DISPLAY = "no display for the window"
_REMEDY = "`physim render` draws the same rolls without one (pictures, GIF, MP4, GLB)"


def start(module: str) -> subprocess.Popen[str]:
    """A window's process, which is told on stdin what to show.

    Raises:
        DisplayError: no display is named, or one of another machine that does not answer.
    """
    display = os.environ.get("DISPLAY", "")
    if sys.platform.startswith("linux") and not display:
        raise DisplayError(f"{_NO_DISPLAY} (DISPLAY is not set); {_REMEDY}")
    # PyBullet would wait for minutes for a machine that is not there.
    if _is_remote(display) and not _reachable(display):
        raise DisplayError(f"{_NO_DISPLAY} (DISPLAY={display}); {_REMEDY}")
    return subprocess.Popen(
        [sys.executable, "-m", module],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        encoding="utf-8",
    )


def stop(process: subprocess.Popen[str]) -> None:
    """Ends the process if it has not ended itself."""
    if process.poll() is None:
        process.terminate()
        process.wait()


def check_ending(code: int, said: str, opened: bool) -> None:
    """Raises what a process that has ended had to say.

    Args:
        code: its exit code.
        said: on stdout, after `OPEN`.
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


def serve(show: Callable[[TextIO], None]) -> int:
    """The process's own side: shows something, and says on stdout how it went.

    Args:
        show: takes where to write for the parent; its end, or that of the window, is the end.

    Returns:
        The exit code.
    """
    from physim.window.bullet_gui import WindowClosed

    out = os.fdopen(os.dup(1), "w", encoding="utf-8")  # PyBullet prints on stdout
    os.dup2(2, 1)
    try:
        show(out)
    except PhysimError as error:
        print(error, file=out, flush=True)
        return _BAD_INPUT
    except (WindowClosed, KeyboardInterrupt, BrokenPipeError):
        pass
    except Exception:  # its own stderr is full of what libraries print
        print(traceback.format_exc(), file=out, flush=True)
        return _FAILED
    return 0


def frames() -> Iterator[float]:
    """The wall clock [s], once a frame."""
    while True:
        began = time.monotonic()
        yield began
        time.sleep(max(0.0, _FRAME_S - (time.monotonic() - began)))


def _is_remote(display: str) -> bool:
    """Whether it is reached over the network."""
    host = display.rpartition(":")[0]
    return host not in ("", "unix") and "/" not in host


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
