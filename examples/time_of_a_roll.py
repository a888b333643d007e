"""Where the time of a roll goes: tosses, compiled physics, PyBullet's steps, meetings, naming.

    python examples/time_of_a_roll.py [ROLLS] [ENGINE]

Prints milliseconds of processor time a roll, the mean over the rolls of seed 1.
"""

import sys
import time
from collections import Counter
from collections.abc import Callable
from typing import Any

from physim.physics.fast.pair import PigPair
from physim.physics.fast.single import SinglePig
from physim.physics.fast.world import World
from physim.simulator import Setup, Simulator

# Of each part of a roll, the method that does its work.
PARTS: dict[str, tuple[type, str]] = {
    "tosses": (Simulator, "_release"),
    "physics": (World, "settle"),  # flight, contact by the compiled engine, proximity, rest
    "steps": (SinglePig, "step"),  # by PyBullet, of a pig alone
    "meetings": (PigPair, "settle"),  # both pigs in one engine
    "naming": (Simulator, "classify_and_score"),
}
spent: Counter[str] = Counter()


def timed(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    """The function, with its processor time moved to `name` from what it is part of."""

    def wrapper(*args: Any, **kwargs: Any) -> Any:
        others = sum(spent.values())
        start = time.process_time()
        try:
            return function(*args, **kwargs)
        finally:
            inside = sum(spent.values()) - others
            spent[name] += time.process_time() - start - inside

    return wrapper


def main(rolls: int, engine: str) -> None:
    """Rolls with the parts of a roll wrapped in clocks."""
    for name, (owner, method) in PARTS.items():
        setattr(owner, method, timed(name, getattr(owner, method)))
    with Simulator(Setup.named(engine=engine)) as simulator:
        simulator.roll(1, 0)  # the first roll also compiles
        spent.clear()
        start = time.process_time()
        simulated_s = sum(simulator.roll(1, index).time_s for index in range(rolls))
        total = time.process_time() - start
    print(f"{rolls} rolls of {simulated_s / rolls:.3f} s each by the engine `{engine}`")
    for name in PARTS:
        print(f"{name:8} {1e3 * spent[name] / rolls:7.2f} ms")
    print(f"{'all':8} {1e3 * total / rolls:7.2f} ms a roll, {rolls / total:.0f} rolls a second")


if __name__ == "__main__":
    main(
        int(sys.argv[1]) if len(sys.argv) > 1 else 200,
        sys.argv[2] if len(sys.argv) > 2 else "pybullet",
    )
