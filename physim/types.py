"""Every value that crosses a border between stages, and the names on the wire.

Conventions, everywhere in the code:

* SI units: metres, kilograms, seconds, radians. Only YAML files use mm, g and degrees, and each
  key there carries its unit (`mass_g`, `length_mm`).
* Pig frame: origin at the centre of mass, x forward (snout), y left, z up.
* World frame: z up, the table's top at z = 0, its centre at the origin.
* Quaternions are `quat_xyzw` (scalar last) and turn the pig frame into the world frame.
* Values are frozen. Arrays inside them are never written to.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, is_dataclass
from enum import Enum
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray


class ExactValue:
    """A frozen dataclass (with `eq=False`) whose fields may be arrays.

    Two are equal where all their fields have the same bits; NaN equals NaN. Equal values have the
    same hash; one that holds a mapping has none.
    """

    def __eq__(self, other: object) -> bool:
        return _exactly(self) == _exactly(other) if type(other) is type(self) else NotImplemented

    def __hash__(self) -> int:
        return hash(_exactly(self))


def _exactly(value: Any) -> Any:
    """What equals that of another value where that has the same bits."""
    if isinstance(value, np.ndarray):
        if value.dtype == object:
            return value.shape, _exactly(value.ravel().tolist())
        if value.dtype.kind == "f":
            value = np.where(np.isnan(value), np.nan, value)  # there are many
        return value.shape, value.dtype.str, value.tobytes()
    if isinstance(value, float):  # a text where `==` does not go by the bits
        return "nan" if math.isnan(value) else value or str(value)
    if isinstance(value, (tuple, list)):
        return type(value), *map(_exactly, value)
    if isinstance(value, Mapping):
        return {key: _exactly(content) for key, content in value.items()}
    if is_dataclass(value) and not isinstance(value, type):
        compared = (field.name for field in fields(value) if field.compare)
        return type(value), *(_exactly(getattr(value, name)) for name in compared)
    return value


Triple = tuple[float, float, float]
Quat = tuple[float, float, float, float]
FloatArray = NDArray[np.float64]

GRAVITY_M_S2 = 9.81  # near the mean of Europe and North America


@dataclass(frozen=True, eq=False)
class RigidState(ExactValue):
    """Position and motion of the centre of mass of one pig, all in the world frame."""

    position_m: FloatArray
    quat_xyzw: FloatArray
    velocity_m_s: FloatArray = field(default_factory=lambda: np.zeros(3))
    angular_velocity_rad_s: FloatArray = field(default_factory=lambda: np.zeros(3))


@dataclass(frozen=True, eq=False)
class Toss(ExactValue):
    """The moment of release: one state a pig."""

    black: RigidState
    pink: RigidState

    @property
    def pigs(self) -> tuple[RigidState, RigidState]:
        return self.black, self.pink


@dataclass(frozen=True, eq=False)
class ConvexPart(ExactValue):
    """One convex collision part: its body part, and the (n, 3) corners of its hull, pig frame."""

    label: str
    vertices_m: FloatArray


@dataclass(frozen=True, eq=False)
class PigModel(ExactValue):
    """A rigid pig as the physics sees it, in the pig frame.

    Attributes:
        name: model name, or the folder it came from.
        length_m: extent along x of the collision parts.
        height_m: extent along z; tolerances are fractions of it.
        inertia_kg_m2: (3, 3) about the centre of mass.
        parts: convex collision parts; their union is the pig.
        lateral_friction, restitution, rolling_friction, spinning_friction: the pig's own factors.
            A pair's coefficient is the product of both bodies' factors (PyBullet's convention),
            except rolling and spinning friction, which Bullet combines with lateral friction.
        dot_side: "right" or "left": the flank that carries the dot.
        contact_stiffness_n_m: of each point of contact; 0 for a rigid pig. The restitution of a
            soft one is that of a straight impact on one point (`physics.body`).
        kept: what was computed from the model's files when it was built (`physim.precomputed`). It
            goes with the model: another kind of processor may compute other last bits.
    """

    name: str
    length_m: float
    height_m: float
    mass_kg: float
    inertia_kg_m2: FloatArray
    parts: tuple[ConvexPart, ...]
    lateral_friction: float
    restitution: float
    rolling_friction: float = 0.0
    spinning_friction: float = 0.0
    dot_side: str = "right"
    contact_stiffness_n_m: float = 0.0
    kept: Mapping[str, Any] = field(default_factory=dict, repr=False, compare=False)

    def __getstate__(self) -> dict[str, object]:
        """What goes to another process: the fields, without what is computed from them."""
        return {field.name: getattr(self, field.name) for field in fields(self)}

    @cached_property
    def vertices_m(self) -> FloatArray:
        """(n, 3) vertices of all parts, pig frame [m]."""
        return np.concatenate([part.vertices_m for part in self.parts])

    @cached_property
    def columns_m(self) -> FloatArray:
        """(3, n) the same vertices, each coordinate in one piece."""
        return np.ascontiguousarray(self.vertices_m.T)

    @cached_property
    def part_starts(self) -> NDArray[np.intp]:
        """(parts,) index of each part's first vertex in `vertices_m`."""
        ends = np.cumsum([len(part.vertices_m) for part in self.parts])
        return np.concatenate([[0], ends[:-1]])

    @cached_property
    def radius_m(self) -> float:
        """Of the sphere about the centre of mass that holds the pig."""
        return math.sqrt(float((self.vertices_m**2).sum(axis=1).max()))


@dataclass(frozen=True)
class Surface:
    """What the table is covered with; factors as in `PigModel`."""

    name: str
    lateral_friction: float
    restitution: float
    rolling_friction: float = 0.0
    spinning_friction: float = 0.0


@dataclass(frozen=True)
class Table:
    """A level rectangular table, top at z = 0, centred on the origin."""

    surface: Surface
    length_m: float
    width_m: float


@dataclass(frozen=True, eq=False)
class Contact(ExactValue):
    """One body part that is in contact at rest.

    Attributes:
        part: label of the pig's own part.
        other: "table", or the name of the other pig.
        other_part: label of the other pig's part; "" for the table.
        gap_m: distance between the surfaces, collision margin taken off. Where they overlap: the
            negative depth for the table, 0 for the other pig.
        position_m: (3,) the contact's place, world frame.
    """

    part: str
    other: str
    other_part: str
    gap_m: float
    position_m: FloatArray


@dataclass(frozen=True, eq=False)
class Basin(ExactValue):
    """A way to lie on a flat table, as far as energy decides whether a pig stays in it.

    Attributes:
        down: (3,) unit vector that points down at rest, pig frame.
        height_m: of the centre of mass at rest.
        barrier_m: of the centre of mass at the lowest pass to another rest.
    """

    down: FloatArray
    height_m: float
    barrier_m: float


@dataclass(frozen=True, eq=False)
class Rest(ExactValue):
    """How the world left the two pigs.

    Attributes:
        ended: why the simulation stopped; `rest` for all but certain outcomes, also where the pigs
            did not come to rest (see `status`).
        time_s: simulated time since release, the later one of the two pigs'.
        pigs: final states, black then pink.
        times_s: the time since release of each pig's final state.
        steps: engine steps taken, of both pigs where each had its own.
        basins: where `ended` is `certain`: index of the basin that a pig cannot leave; None for a
            pig that is at rest.
    """

    status: Status
    ended: Ended
    time_s: float
    pigs: tuple[RigidState, RigidState]
    times_s: tuple[float, float]
    steps: int = 0
    basins: tuple[int | None, int | None] = (None, None)


@dataclass(frozen=True, eq=False)
class PoseReading(ExactValue):
    """The class of a pig's pose; the margin is 0 at the border to the next one, 1 far inside."""

    pose: Pose
    margin: float


@dataclass(frozen=True, eq=False)
class PigResult(ExactValue):
    """One pig's line in a roll.

    Attributes:
        name: `black` or `pink`.
        rest: index of the model's stable rest, or None.
        margin: as in `PoseReading`.
        position_m, quat_xyzw: the final state, pig frame to world.
        time_s: of the final state, since release; a pig on its own may end before the other.
    """

    name: str
    pose: Pose
    rest: int | None
    margin: float
    contacts: tuple[Contact, ...]
    position_m: FloatArray
    quat_xyzw: FloatArray
    time_s: float


@dataclass(frozen=True, eq=False)
class Roll(ExactValue):
    """One roll, end to end. `score` is None where the rules give none."""

    seed: int
    index: int
    status: Status
    outcome: Outcome
    score: int | None
    touching: bool
    ended: Ended
    pigs: tuple[PigResult, PigResult]
    time_s: float


BLACK, PINK = "black", "pink"
PIG_NAMES = (BLACK, PINK)
TABLE = "table"
FEET = ("front_left_foot", "front_right_foot", "hind_left_foot", "hind_right_foot")
_LEGS = ("front_left_leg", "front_right_leg", "hind_left_leg", "hind_right_leg")
_TRUNK = ("snout", "head", "left_ear", "right_ear", "shoulders", "trunk", "rump", "tail")
BODY_PARTS = (*_TRUNK, *FEET, *_LEGS)


class Pose(str, Enum):
    """How one pig lies. `OTHER` is a rest that the rules do not name."""

    SIDE_DOT_UP = "side_dot_up"
    SIDE_DOT_DOWN = "side_dot_down"
    TROTTER = "trotter"
    RAZORBACK = "razorback"
    SNOUTER = "snouter"
    LEANING_JOWLER = "leaning_jowler"
    OTHER = "other"


class Outcome(str, Enum):
    """What a roll of two pigs is called; the last three are not in the rules."""

    SIDER = "sider"
    PIG_OUT = "pig_out"
    TROTTER = "trotter"
    DOUBLE_TROTTER = "double_trotter"
    RAZORBACK = "razorback"
    DOUBLE_RAZORBACK = "double_razorback"
    SNOUTER = "snouter"
    DOUBLE_SNOUTER = "double_snouter"
    LEANING_JOWLER = "leaning_jowler"
    DOUBLE_LEANING_JOWLER = "double_leaning_jowler"
    MIXED_COMBO = "mixed_combo"
    OINKER = "oinker"
    PIGGYBACK = "piggyback"
    OFF_TABLE = "off_table"
    UNSETTLED = "unsettled"
    AMBIGUOUS = "ambiguous"


class Status(str, Enum):
    """What physics did with a roll."""

    OK = "ok"
    OFF_TABLE = "off_table"
    UNSETTLED = "unsettled"


class Ended(str, Enum):
    """Why the simulation of a roll stopped."""

    REST = "rest"
    CERTAIN = "certain"
