"""200 rolls in one window; prints the memory of the process [bytes] after 40 and after 200."""

import os
import sys
from pathlib import Path

from physim.dataset.plan import BatchPlan
from physim.window.bullet_gui import Window
from physim.window.show import Show

ROLLS, FIRST = 200, 40


def memory() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


seen = {}
with Window(320, 240) as window, Show(window, BatchPlan(n=1), 0, None, 4 / 3) as show:
    for number in range(1, ROLLS + 1):
        now_s = 20.0 * number
        show.beat(now_s)
        show.beat(now_s + 0.3)  # in the air
        show.beat(now_s + 10.0)  # at rest
        show.press("r")
        seen[number] = memory()
sys.stderr.write(f"{ROLLS} rolls\n")
print("memory", seen[FIRST], seen[ROLLS], flush=True)
