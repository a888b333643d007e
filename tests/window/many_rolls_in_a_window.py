"""200 rolls in one window; prints the memory of the process [bytes] after 40 and after 200."""

import os
import sys
from pathlib import Path

from physim.dataset.plan import BatchPlan
from physim.render.replay import ReplaySource
from physim.window.bullet_gui import Window
from physim.window.watch import WatchSession

ROLLS, FIRST = 200, 40


def memory() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


seen = {}
with Window(320, 240) as window, WatchSession(window, ReplaySource(BatchPlan(n=1)), 0) as session:
    for number in range(1, ROLLS + 1):
        now_s = 20.0 * number
        session.update(now_s)
        session.update(now_s + 0.3)  # in the air
        session.update(now_s + 10.0)  # at rest
        session.actions()["r"]()
        seen[number] = memory()
sys.stderr.write(f"{ROLLS} rolls\n")
print("memory", seen[FIRST], seen[ROLLS], flush=True)
