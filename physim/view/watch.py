"""The window, in a process of its own.

PyBullet ends its process without an exception where there is no display, or when the display
goes away, and lets a process have one window at a time. So each window gets a process: this
module starts it and tells how it ended.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from physim.errors import DisplayError, PhysimError

BAD_INPUT = 2
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
    words = said.strip().splitlines()
    if process.returncode == BAD_INPUT and words and words[-1].startswith("error: "):
        raise PhysimError(words[-1].removeprefix("error: "))
    if process.returncode != 0:
        opened = any(word == "open" for word in words)
        what = "the window's display went away" if opened else _NO_DISPLAY
        raise DisplayError(f"{what} (DISPLAY={os.environ.get('DISPLAY', '')}); {_REMEDY}")


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
            print("open", file=out, flush=True)
            with Show(window, plan, asked["index"], run, width / height) as show:
                while not show.over:
                    began = time.monotonic()
                    show.beat(began)
                    time.sleep(max(0.0, _FRAME_S - (time.monotonic() - began)))
    except PhysimError as error:
        print("error: " + " ".join(str(error).split()), file=out, flush=True)
        return BAD_INPUT
    except (WindowClosed, KeyboardInterrupt):
        pass
    return 0


if __name__ == "__main__":
    sys.exit(main())
