"""`physim watch`: rolls in a window until it is closed."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any, TextIO

from physim.view.window_process import OPEN, check_ending, frames, serve, start, stop


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
    asked = {
        "plan": plan,
        "index": index,
        "run": None if run is None else str(run),
        "size": [width, height],
    }
    process = start("physim.view.watch")
    try:
        said, _ = process.communicate(json.dumps(asked))
    finally:
        stop(process)
    opened = said.startswith(OPEN)
    check_ending(process.returncode, said.removeprefix(OPEN).strip(), opened)


def _show(out: TextIO) -> None:
    """The window's process: reads on stdin what is asked for."""
    asked = json.loads(sys.stdin.read())
    from physim.batch.plan import BatchPlan
    from physim.view.show import Show
    from physim.world.bullet_window import Window

    run = None if asked["run"] is None else Path(asked["run"])
    width, height = asked["size"]
    plan = BatchPlan(n=1, **asked["plan"])
    with Window(width, height) as window:
        print(OPEN, file=out, flush=True)
        with Show(window, plan, asked["index"], run, width / height) as show:
            for now_s in frames():
                show.beat(now_s)
                if show.over:
                    break


if __name__ == "__main__":
    sys.exit(serve(_show))
