"""Where the time of a roll goes: flight, contact, bodies, watching, looking, naming.

    python examples/time_of_a_roll.py [ROLLS]

Prints milliseconds of processor time a roll, the mean over the rolls of seed 1.
"""

import sys
import time
from collections import Counter
from collections.abc import Callable
from typing import Any

from physim.physics.engine import Engine
from physim.physics.fast.bounds import ProximityMonitor
from physim.physics.fast.flight import Flight
from physim.physics.fast.pair import PigPair
from physim.physics.fast.single import SinglePig
from physim.simulator import Setup, Simulator

# Of each part of a roll, the methods that do its work.
PARTS: dict[str, tuple[tuple[type, str], ...]] = {
    "flight": ((Flight, "__init__"), (Flight, "plain"), (Flight, "attitude")),
    "contact": ((Engine, "run"),),
    "bodies": ((PigPair, "place"), (SinglePig, "place")),
    "watching": (  # whether the pigs may meet
        (ProximityMonitor, "steps_ahead"),
        (ProximityMonitor, "possible_contact"),
    ),
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


def main(rolls: int) -> None:
    """Rolls with the parts of a roll wrapped in clocks."""
    for name, methods in PARTS.items():
        for owner, method in methods:
            setattr(owner, method, timed(name, getattr(owner, method)))
    simulated_s, steps = 0.0, 0
    with Simulator(Setup.named()) as simulator:
        settle = simulator.settle

        def counted(*args: Any) -> Any:
            nonlocal steps
            rest = settle(*args)
            steps += rest.steps
            return rest

        simulator.roll(1, 0)  # the first roll also warms up
        simulator.settle = timed("checking", counted)
        simulator.classify_and_score = timed("naming", simulator.classify_and_score)
        spent.clear()
        start = time.process_time()
        for index in range(rolls):
            simulated_s += simulator.roll(1, index).time_s
        total = time.process_time() - start
    print(f"{rolls} rolls, {simulated_s / rolls:.3f} s and {steps / rolls:.0f} steps each")
    for name in (*PARTS, "checking", "naming"):
        print(f"{name:8} {1e3 * spent[name] / rolls:7.2f} ms")
    print(f"{'all':8} {1e3 * total / rolls:7.2f} ms a roll, {rolls / total:.0f} rolls a second")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 200)
