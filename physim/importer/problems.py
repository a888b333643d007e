"""What was found in a mesh, and what was done about it."""

from __future__ import annotations

from dataclasses import dataclass

from physim.values import FloatArray


@dataclass(frozen=True)
class Problem:
    """One finding.

    Attributes:
        kind: one word or two, such as "holes".
        where: the place, in the file's axes and mm, or what it is about.
        action: what was done, or what to do.
        solved: False where the mesh cannot be used before the user does what `action` says.
    """

    kind: str
    where: str
    action: str
    solved: bool = True


def place(point_mm: FloatArray) -> str:
    """A point as text."""
    x, y, z = (round(float(c), 1) + 0.0 for c in point_mm)
    return f"near ({x:g}, {y:g}, {z:g}) mm"
