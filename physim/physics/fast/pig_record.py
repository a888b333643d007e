"""What compiled code knows of a pig: one record each for what changes, what does not, the solver.

Records are passed by pointer. Arrays in a tuple would be counted and copied at every call, which
costs more than most of the functions here.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from physim.compiled import compiled
from physim.types import FloatArray, Quat, Triple

MOST_BASINS, MOST_NOTES = 64, 16
ROW = 14  # numbers of a row of the solver
POINTS = 4  # of a manifold
MOST_CORNERS, MOST_CONTACTS, MOST_MANIFOLDS = 1024, 64, 16
Rotation = tuple[float, float, float, float, float, float, float, float, float]
AZIMUTHS = 72  # of the table of what surely is in a basin

PIG: Any = np.dtype(
    [
        # Base steps of the last check, or of the one that it is on the way to; engine's steps.
        ("base_steps", "i8"),
        ("engine_steps", "i8"),
        ("on_way", "?"),
        # What an engine is asked for: to place the pig, so many base steps, halved so often.
        ("waiting", "?"),
        ("done", "?"),
        ("placing", "?"),
        ("steps", "i8"),
        ("halvings", "i8"),
        # The engine's state (principal frame) and its time.
        ("place", "f8", 3),
        ("quat", "f8", 4),
        ("velocity", "f8", 3),
        ("spin", "f8", 3),
        ("at_s", "f8"),
        ("stay_s", "f8"),  # before this time no flight is worth computing
        # The flight: when it begins and ends, from where, its constants, the last node asked for.
        ("flying", "?"),
        ("began_s", "f8"),
        ("lasts_s", "f8"),
        ("lands_s", "f8"),
        ("first_landing_s", "f8"),
        ("start_place", "f8", 3),
        ("start_quat", "f8", 4),
        ("start_velocity", "f8", 3),
        ("start_spin", "f8", 3),
        ("momentum", "f8", 3),
        ("fastest", "f8"),
        ("node_step_s", "f8"),
        ("node", "i8"),
        ("node_quat", "f8", 4),
        ("flight_energy_m", "f8"),
        # The motion at the last check.
        ("centre", "f8", 3),
        ("attitude", "f8", 4),
        ("moving", "f8", 3),
        ("turning", "f8", 3),
        ("turned", "?"),  # whether attitude and spin are those at the check; see `turn`
        ("clearance_m", "f8"),
        ("energy_m", "f8"),  # potential and kinetic over m g, once it is lifted onto the table
        ("speed_m_s", "f8"),
        ("turning_m_s", "f8"),
        # Rest: since when it has been where it is, and where that is.
        ("at_rest", "?"),
        ("held", "?"),
        ("since_s", "f8"),
        ("held_place", "f8", 3),
        ("held_quat", "f8", 4),
        # Certainty: the basin that it was found in, and the one that it is frozen with; else -1.
        ("known", "i8"),
        ("basin", "i8"),
        ("caught_up", "i8"),  # how often it was frozen and had to go on
        ("reach_m", "f8"),
        ("fastest_m_s", "f8"),
        # What a trajectory takes down: time, state, and when its flight began, or -1 in contact.
        ("recorded", "?"),
        ("noted", "i8"),
        ("notes", "f8", (MOST_NOTES, 15)),
    ],
    align=True,
)
"""What changes of a pig in a roll."""
CONSTANTS: Any = np.dtype(
    [
        ("corners", "i8"),
        ("basins", "i8"),
        ("contact_corners", "i8"),
        ("manifolds", "i8"),
        ("compiled", "?"),
        ("gravity", "f8", 3),  # of contacts; flights fall straight down
        ("mass_kg", "f8"),
        ("moments", "f8", 3),
        ("squares", "f8", 3),  # of the radii of gyration
        ("radius_m", "f8"),
        ("lowest_m", "f8"),
        ("point_speed_share", "f8"),
        ("compression_m", "f8"),
        ("half_stiffness", "f8"),
        ("step_s", "f8"),
        ("check_steps", "i8"),
        ("least_flight_s", "f8"),
        ("clear_m", "f8"),
        ("full_step_m_s", "f8"),
        ("rest_m_s", "f8"),
        ("rest_m", "f8"),
        ("rest_clearance_m", "f8"),
        ("rest_s", "f8"),
        ("half_length_m", "f8"),
        ("half_width_m", "f8"),
        ("max_limit_m", "f8"),
        ("friction", "f8"),
        ("restitution", "f8"),
        ("sliding_bounce", "f8"),
        ("slowest_bounce_m_s", "f8"),
        ("contact_m", "f8"),
        ("deepest_m", "f8"),
        ("iterations", "i8"),
        ("tolerance_m_s", "f8"),
        ("recovery_s", "f8"),
        ("warm", "f8"),
        ("bullet", "?"),
        ("cone", "?"),
        ("hull", "f8", (3, MOST_CORNERS)),  # corners, principal frame
        ("radii", "f8", MOST_CORNERS),
        ("contact_hull", "f8", (3, MOST_CORNERS)),  # the corners that touch, manifold by manifold
        ("starts", "i8", MOST_MANIFOLDS + 1),
        # Per basin: low axis (3), two axes across (6), limit, height, reach a metre of energy.
        ("basin", "f8", (MOST_BASINS, 12)),
        # Angles from the rest below which a pig is, and beyond which it is not, in the basin.
        ("surely", "f8", (MOST_BASINS, AZIMUTHS, 2)),
    ],
    align=True,
)
"""What does not change; see `SetupOfPig`."""


WORK: Any = np.dtype(
    [
        ("count", "i8"),  # of the steps since the pig was placed
        # Of each contact of a step: place from the centre of mass, height; whose it is; its rows:
        # normal, along the sliding, across it.
        ("places", "f8", (MOST_CONTACTS, 4)),
        ("owners", "i8", MOST_CONTACTS),
        ("rows", "f8", (MOST_CONTACTS, 3, ROW)),
        # Of each corner: the normal impulse and the friction (x, y) of the last step in which it
        # was a contact [N s], and the number of that step.
        ("corners", "f8", (MOST_CORNERS, 4)),
        # Of each manifold: how many points it has; where each is (principal frame), where it met
        # the table, and its last normal impulse.
        ("points", "i8", MOST_MANIFOLDS),
        ("local", "f8", (MOST_MANIFOLDS, POINTS, 3)),
        ("below", "f8", (MOST_MANIFOLDS, POINTS, 2)),
        ("impulses", "f8", (MOST_MANIFOLDS, POINTS)),
    ],
    align=True,
)
"""What the solver remembers of a pig's contacts, and room to work in."""


class PigRecord(NamedTuple):
    """One pig of a roll: a record each of `PIG`, of `CONSTANTS` and of the solver's `WORK`."""

    now: Any
    fixed: Any
    work: Any


@compiled
def triple(a: FloatArray) -> Triple:
    """Three numbers."""
    return a[0], a[1], a[2]


@compiled
def quat_of(a: FloatArray) -> Quat:
    """Four numbers."""
    return a[0], a[1], a[2], a[3]


@compiled
def put(a: FloatArray, values: Triple) -> None:
    """Sets three numbers."""
    a[0], a[1], a[2] = values


@compiled
def put_quat(a: FloatArray, values: Quat) -> None:
    """Sets four numbers."""
    a[0], a[1], a[2], a[3] = values


@compiled
def note(
    p: Any, time_s: float, began_s: float, place: Triple, q: Quat, velocity: Triple, spin: Triple
) -> None:
    """Takes down where the pig is from now on, for a trajectory."""
    if p.recorded and p.noted < MOST_NOTES:
        row = p.notes[p.noted]
        row[0], row[14] = time_s, began_s
        put(row[1:4], place)
        put_quat(row[4:8], q)
        put(row[8:11], velocity)
        put(row[11:14], spin)
        p.noted += 1
