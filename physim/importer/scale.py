"""The unit of a mesh: declared, said by its file, or guessed from its size."""

from __future__ import annotations

from dataclasses import dataclass

from physim.errors import ModelError
from physim.importer.problems import Problem
from physim.importer.reading import RawMesh
from physim.pigs.mesh import MAX_LENGTH_M, MIN_LENGTH_M

UNITS_MM = {"mm": 1.0, "cm": 10.0, "inch": 25.4, "m": 1000.0, "foot": 304.8, "micron": 1e-3}
GUESSED = ("mm", "inch", "m")  # in this order the first that gives a likely size
LIKELY_MM = (10.0, 300.0)
USUAL_MM = (8.0, 500.0)  # beyond, only with `force`


@dataclass(frozen=True)
class Scale:
    """How a file's lengths become millimetres.

    Attributes:
        mm: length of one unit of the file [mm].
        unit: its name, or "" where the size was given.
        how: where it comes from.
    """

    mm: float
    unit: str
    how: str


def scale_of(raw: RawMesh, longest: float, unit: str | None, length_mm: float | None) -> Scale:
    """The scale of a mesh.

    Args:
        raw: the mesh.
        longest: side of what is used of it, in its own unit.
        unit: declared by the user, or None.
        length_mm: the longest side is made this long, whatever the unit; or None.
    """
    if length_mm is not None:
        return Scale(length_mm / longest, "", "scaled to the length given")
    if unit is not None:
        return Scale(UNITS_MM[unit], unit, f"1 unit = 1 {unit}, as given")
    if raw.y_up and _likely(longest):  # 10 to 300 m: the common slip of writing mm into glTF
        how = f"glTF is in metres, yet {longest:g} m are no pig's: 1 unit taken for 1 mm"
        return Scale(1.0, "mm", how)
    if raw.unit:
        return Scale(UNITS_MM[raw.unit], raw.unit, f"1 unit = 1 {raw.unit}, as the file says")
    if raw.unit_remark and _likely(longest * UNITS_MM[raw.unit_remark]):
        how = f"1 unit taken for 1 {raw.unit_remark}, as its text says and the size allows"
        return Scale(UNITS_MM[raw.unit_remark], raw.unit_remark, how)
    for guess in GUESSED:
        if _likely(longest * UNITS_MM[guess]):
            return Scale(UNITS_MM[guess], guess, f"1 unit taken for 1 {guess}, from the size")
    return Scale(1.0, "mm", "1 unit taken for 1 mm, no unit gives a likely size")


def size_note(
    scale: Scale, found_mm: float, force: bool, declared: bool, name: str
) -> list[Problem]:
    """What there is to say of a size.

    Args:
        scale: that gave it.
        found_mm: the longest side.
        force: take an unlikely size too.
        declared: whether the user said the unit or the length.
        name: of the file.

    Raises:
        ModelError: an absurd size.
    """
    low, high = 1e3 * MIN_LENGTH_M, 1e3 * MAX_LENGTH_M
    if not low <= found_mm <= high or (not force and not USUAL_MM[0] <= found_mm <= USUAL_MM[1]):
        usual = "from {:g} to {:g} mm".format(*((low, high) if force else USUAL_MM))
        remedy = "give --unit or --length-mm"
        if low <= found_mm <= high:
            remedy += ", or --force to take it as it is"
        raise ModelError(
            f"{name}: {_plain(found_mm)} mm long ({scale.how}); a pig is {usual}; {remedy}"
        )
    if declared:
        return []
    return [Problem("unit", f"{found_mm:.1f} mm long", f"{scale.how}; else give --unit")]


def _plain(length_mm: float) -> str:
    """A length to read: 37500, 0.02."""
    return f"{length_mm:.0f}" if length_mm >= 100 else f"{length_mm:.3g}"


def _likely(length_mm: float) -> bool:
    return LIKELY_MM[0] <= length_mm <= LIKELY_MM[1]
