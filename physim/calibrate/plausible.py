"""What may be fitted, and which values of it are plausible: bounds and weak priors.

ASSUMPTIONS, all of them: nobody has published measures of the toy, its plastic or the rig. A prior
says what one would expect before seeing any rolls, from handbook values and from the look of the
toy; no number here comes from an outcome table. One was narrowed after a first fit: that of
restitution, since rolls left the table far more often than anybody tells of the toy.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass

from physim.pigs.shape import PigShape, shape_range

SHAPE, TOSS = "shape.", "toss."
COM = ("com_forward_mm", "com_left_mm", "com_up_mm")  # along the pig's axes
COM_DIFFERENCE = tuple(name.replace("_mm", "_difference_mm") for name in COM)
_PAINT = ("dot_x_mm", "dot_z_mm", "dot_radius_mm")  # flush: no roll depends on them

_PLACE_MM, _PLACE_SD_MM = 2.5, 0.8  # of a place on a toy 38 mm long
_SIZE_SHARE, _SIZE_SD_SHARE = 0.2, 0.06
_ANGLE_DEG, _ANGLE_SD_DEG = 25.0, 8.0
_SIZES = ("radius_mm", "length_mm", "width_mm", "height_mm", "thickness_mm", "scale", "spread")


@dataclass(frozen=True)
class Parameter:
    """One number that a fit may change.

    Attributes:
        name: as on the command line and in the result.
        unit: of all its numbers; "" for a plain number.
        low, high: no fit leaves these bounds.
        prior_mean, prior_sd: of a normal distribution, cut off at the bounds.
        description: what it is.
    """

    name: str
    unit: str
    low: float
    high: float
    prior_mean: float
    prior_sd: float
    description: str


_COM_TEXT = "shift of the centre of mass from the evenly filled body's: walls of uneven thickness"
_TWO_TEXT = "shift of the black pig's centre of mass less the pink one's: two castings differ"
_PAIR_TEXT = "of pig and table, product of both factors on the default surface (soft plastic)"
_FIXED = (
    *(Parameter(name, "mm", -1.0, 1.0, 0.0, 0.3, _COM_TEXT) for name in COM),
    *(Parameter(name, "mm", -0.6, 0.6, 0.0, 0.15, _TWO_TEXT) for name in COM_DIFFERENCE),
    # Soft plastic on a hard surface: .35 to .5. With twice this spread a fit took .53, and two
    # rolls in a hundred left the table, which nobody tells of the toy.
    Parameter("restitution", "", 0.2, 0.6, 0.42, 0.04, _PAIR_TEXT),
    Parameter("friction", "", 0.2, 0.8, 0.45, 0.1, _PAIR_TEXT),
)
# The rig is known by its name and its two heights alone, so these priors are wide.
_TRAPDOOR = (
    ("separation_mm", "mm", 60.0, 250.0, 150.0, 40.0, "between the two pigs on the door"),
    ("separation_spread_mm", "mm", 0.0, 20.0, 5.0, 4.0, "how evenly they are set down"),
    ("yaw_spread_deg", "deg", 0.0, 45.0, 12.0, 8.0, "how carelessly they are turned"),
    ("door_angle_deg", "deg", 0.0, 70.0, 20.0, 15.0, "of the door as the pigs leave it"),
    ("door_angle_spread_deg", "deg", 0.0, 25.0, 10.0, 5.0, "from roll to roll"),
    ("pitch_rate_rad_s", "rad/s", 0.0, 25.0, 8.0, 5.0, "of the door as the pigs leave it"),
    ("pitch_rate_spread_rad_s", "rad/s", 0.0, 12.0, 4.0, 2.0, "from roll to roll"),
    ("spin_spread_rad_s", "rad/s", 0.0, 12.0, 3.0, 2.0, "each pig's own, about every axis"),
    ("slide_m_s", "m/s", 0.0, 0.6, 0.15, 0.1, "down the door"),
    ("slide_spread_m_s", "m/s", 0.0, 0.3, 0.08, 0.05, "from pig to pig"),
    ("drift_spread_m_s", "m/s", 0.0, 0.15, 0.03, 0.02, "along the hinge"),
)


def registry(shape: PigShape | None) -> dict[str, Parameter]:
    """Every parameter by name.

    Args:
        shape: of the model that the fit starts from; priors of a shape stand around it, since it
            was modelled after the look of the toy. None for a mesh from elsewhere.
    """
    toss = (Parameter(TOSS + name, *rest) for name, *rest in _TRAPDOOR)  # type: ignore[arg-type]
    parameters = [*_FIXED, *toss, *(_of_shape(shape) if shape is not None else ())]
    return {parameter.name: parameter for parameter in parameters}


def _of_shape(shape: PigShape) -> Iterator[Parameter]:
    for key, value in asdict(shape).items():
        if key in _PAINT:
            continue
        if key.endswith("_deg"):
            unit, reach, spread = "deg", _ANGLE_DEG, _ANGLE_SD_DEG
        elif key.endswith(_SIZES):
            unit = "mm" if key.endswith("_mm") else ""
            reach, spread = _SIZE_SHARE * abs(value), _SIZE_SD_SHARE * abs(value)
        else:
            unit, reach, spread = "mm", _PLACE_MM, _PLACE_SD_MM
        lowest, highest = shape_range(key)
        low, high = max(value - reach, lowest), min(value + reach, highest)
        if low < high:  # else a size of 0, of which no share can be changed
            yield Parameter(SHAPE + key, unit, low, high, value, spread, "see `PigShape`")
