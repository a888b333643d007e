"""The window, in a process of its own.

PyBullet ends its process without an exception where there is no display, or when the display
goes away, and lets a process have one window at a time. So each window gets a process: this
module starts it and tells how it ended.
"""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import time
import traceback
from pathlib import Path
from typing import Any

from physim.errors import DisplayError, PhysimError

BAD_INPUT, _FAILED = 2, 70
_OPEN = "open"
_FRAME_S = 1 / 60
_NO_DISPLAY = "no display for the window"
_REMEDY = "`physim render` draws the same rolls without one (pictures, GIF, MP4, GLB)"


def watch(plan: dict[str, Any], index: int, run: Path | None, width: int, height: int) -> None:
    """Opens the window and waits until it is closed.

    Args:
        plan: what `BatchPlan` takes; not used with `run`.
        index: of the first roll.
        run: a dataset whose rolls are shown, or None.
        width: of the window [pixels].
        height: [pixels].

    Raises:
        DisplayError: no display, or it went away.
        PhysimError: an unusable name or dataset.
    """
    if sys.platform.startswith("linux") and not os.environ.get("DISPLAY"):
        raise DisplayError(f"{_NO_DISPLAY} (DISPLAY is not set); {_REMEDY}")
    asked = {
        "plan": plan,
        "index": index,
        "run": None if run is None else str(run),
        "size": [width, height],
    }
    process = subprocess.Popen(
        [sys.executable, "-m", "physim.view.watch"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    try:
        said, _ = process.communicate(json.dumps(asked))
    finally:
        if process.poll() is None:
            process.terminate()
            process.wait()
    opened = said.startswith(_OPEN)
    said = said.removeprefix(_OPEN).strip()
    if process.returncode == BAD_INPUT:
        raise PhysimError(said)
    if process.returncode == _FAILED:
        raise RuntimeError(f"the window's process failed:\n{said}")
    display = os.environ.get("DISPLAY", "")
    if process.returncode != 0 and not (opened and _reachable(display)):
        what = "the window's display went away" if opened else _NO_DISPLAY
        raise DisplayError(f"{what} (DISPLAY={display}); {_REMEDY}")


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
        try:
            connection.connect(address)
        except OSError:
            return False
    return True


def main() -> int:
    """The window's process: reads what is asked for on stdin, says on stdout what happened."""
    asked = json.loads(sys.stdin.read())
    out = os.fdopen(os.dup(1), "w")  # PyBullet prints on stdout
    os.dup2(2, 1)
    from physim.batch.plan import BatchPlan
    from physim.view.show import Show
    from physim.world.bullet_window import Window, WindowClosed

    run = None if asked["run"] is None else Path(asked["run"])
    width, height = asked["size"]
    try:
        plan = BatchPlan(n=1, **asked["plan"])
        with Window(width, height) as window:
            print(_OPEN, file=out, flush=True)
            with Show(window, plan, asked["index"], run, width / height) as show:
                while not show.over:
                    began = time.monotonic()
                    show.beat(began)
                    time.sleep(max(0.0, _FRAME_S - (time.monotonic() - began)))
    except PhysimError as error:
        print(error, file=out, flush=True)
        return BAD_INPUT
    except (WindowClosed, KeyboardInterrupt):
        pass
    except Exception:  # its own stderr is full of what libraries print
        print(traceback.format_exc(), file=out, flush=True)
        return _FAILED
    return 0


if __name__ == "__main__":
    sys.exit(main())
