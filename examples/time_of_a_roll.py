"""Where the time of a roll goes: bodies, flight, contact, naming.

    python examples/time_of_a_roll.py [ROLLS]

Prints milliseconds of processor time a roll, the mean over the rolls of seed 1.
"""

import sys
import time
from collections import Counter
from collections.abc import Callable
from typing import Any

from physim.roll import Setup, Simulator
from physim.world import bullet, settle

spent: Counter[str] = Counter()


def timed(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    """The function, with its processor time added to `spent`."""

    def wrapper(*args: Any, **kwargs: Any) -> Any:
        start = time.process_time()
        try:
            return function(*args, **kwargs)
        finally:
            spent[name] += time.process_time() - start

    return wrapper


def main(rolls: int) -> None:
    """Rolls with the parts of a roll wrapped in clocks."""
    settle.first_contact = timed("flight", settle.first_contact)
    settle.in_step = timed("flight", settle.in_step)
    bullet.Engine.place = timed("bodies", bullet.Engine.place)
    simulated_s, steps = 0.0, 0
    with Simulator(Setup.named()) as simulator:
        simulator.roll(1, 0)  # the first roll also warms up
        spent.clear()
        start = time.process_time()
        simulator.settle = timed("settle", simulator.settle)
        simulator.judge = timed("naming", simulator.judge)
        for index in range(rolls):
            simulated_s += simulator.roll(1, index).time_s
            engine = simulator._engine
            steps += engine.steps if engine else 0
        total = time.process_time() - start
    spent["contact"] = spent.pop("settle") - spent["flight"] - spent["bodies"]
    print(f"{rolls} rolls, {simulated_s / rolls:.3f} s and {steps / rolls:.0f} steps each")
    for name in ("flight", "bodies", "contact", "naming"):
        print(f"{name:8} {1e3 * spent[name] / rolls:7.2f} ms")
    print(f"{'all':8} {1e3 * total / rolls:7.2f} ms a roll, {rolls / total:.0f} rolls a second")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 200)
