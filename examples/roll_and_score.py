"""Three rolls, with what touches the table.

python examples/roll_and_score.py
"""

from physim import Setup, Simulator

with Simulator(Setup.named(toss="hand", surface="felt")) as simulator:
    for roll in simulator.rolls(seed=4, indices=range(3)):
        points = (
            "no points" if roll.score is None else f"{roll.score} point" + "s" * (roll.score != 1)
        )
        print(f"{roll.outcome.value}: {points}")
        for pig in roll.pigs:
            parts = ", ".join(contact.part for contact in pig.contacts)
            print(f"  {pig.name}: {pig.pose.value} on {parts} (margin {pig.margin:.2f})")
