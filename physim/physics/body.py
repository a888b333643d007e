"""A pig as the engine and the flight need it: in its principal axes.

Bullet takes only a diagonal inertia, so inside `world` every state is that of the
principal frame (origin at the centre of mass, axes along the principal axes of
inertia). `enter` and `leave` are the border.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from physim import precomputed
from physim.convex import inside_margin
from physim.physics.soft import sag_m
from physim.quaternions import conjugate, from_matrix, multiply, normalized, rotate
from physim.types import ExactValue, FloatArray, PigModel, RigidState, Triple

# Off-diagonal inertia below this share of the largest moment counts as zero, so
# that a symmetric body (a cube) keeps its own axes and not arbitrary ones.
_DIAGONAL_SHARE = 1e-9
LEAN_GROUPS = 3  # as many contacts as may come about in one step
# Of a soft pig: as many as the engine takes. A corner that is found late, below another of its
# group, would begin with its spring compressed, out of nothing.
SOFT_GROUPS = 16
_FLAT = 1e-6  # of the radius: corners that near to a plane lie in it


@dataclass(frozen=True, eq=False)
class Body(ExactValue):
    """One rigid pig in its principal frame.

    Attributes:
        model: the pig it was made from.
        principal_xyzw: (4,) turns the principal frame into the pig frame.
        moments_kg_m2: (3,) principal moments of inertia [kg m2].
        parts_m: per part, (n, 3) vertices, principal frame [m].
        hull_m: (n, 3) vertices of the hull of all parts, principal frame [m].
        lean_m: the same vertices in a few groups: all that a flat table can touch, at a
            fraction of the parts' cost. A group gives the engine one new contact a step, so
            corners that carry a pig together are in different ones as far as there are enough.
        radius_m: of the sphere about the centre of mass that holds the pig [m].
        hull_columns_m: (3, n) the same corners, each coordinate in one piece.
        hull_radii_m: (n,) lengths of `hull_m`.
        moments: the principal moments as plain numbers [kg m2].
        radii_of_gyration_squared_m2: the same over the mass [m2].
        point_speed_share: no point of a pig whose kinetic energy is m v^2 / 2 is faster than
            this times v: sqrt(1 + m radius^2 / least moment), all of it being spin or drift.
        lowest_m: height of the centre of mass above the table at its lowest [m].
        sag_m: how much lower a soft pig can stand, its springs' energy counted (`softness`) [m].
        lift: k / 2 m g of a soft pig's springs [1/m]; 0 for a rigid one.
    """

    model: PigModel
    principal_xyzw: FloatArray
    moments_kg_m2: FloatArray
    parts_m: tuple[FloatArray, ...]
    hull_m: FloatArray
    lean_m: tuple[FloatArray, ...]
    radius_m: float
    hull_columns_m: FloatArray = field(init=False)
    hull_radii_m: FloatArray = field(init=False)
    moments: Triple = field(init=False)
    radii_of_gyration_squared_m2: Triple = field(init=False)
    point_speed_share: float = field(init=False)
    lowest_m: float = field(init=False)
    sag_m: float = field(init=False)
    lift: float = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "hull_columns_m", np.ascontiguousarray(self.hull_m.T))
        object.__setattr__(self, "hull_radii_m", np.sqrt((self.hull_m**2).sum(axis=1)))
        object.__setattr__(self, "moments", tuple(self.moments_kg_m2.tolist()))
        squares = tuple((self.moments_kg_m2 / self.model.mass_kg).tolist())
        object.__setattr__(self, "radii_of_gyration_squared_m2", squares)
        share = math.sqrt(1.0 + self.radius_m**2 / min(squares))
        object.__setattr__(self, "point_speed_share", share)
        object.__setattr__(self, "lowest_m", _kept("lowest", self.hull_m, _lowest))
        sag = sag_m(self.model)
        object.__setattr__(self, "sag_m", sag)
        object.__setattr__(self, "lift", 0.25 / sag if sag else 0.0)

    @classmethod
    def of(cls, model: PigModel) -> Body:
        """The body of a model."""
        with precomputed.preferring(model.kept):
            return cls._of(model)

    @classmethod
    def _of(cls, model: PigModel) -> Body:
        moments, axes = map(np.array, _kept("principal", model.inertia_kg_m2, _principal))
        principal = from_matrix(axes)
        into = conjugate(principal)
        parts = tuple(rotate(into, part.vertices_m) for part in model.parts)
        vertices = np.concatenate(parts)
        hull = vertices[np.array(_kept("hull", vertices, _hull))]
        radius = float(np.sqrt((hull**2).sum(axis=1).max()))
        if model.contact_stiffness_n_m:
            groups, owner = SOFT_GROUPS, np.array(_kept("near", hull, _near_groups))
        else:
            groups, owner = LEAN_GROUPS, np.array(_kept(f"groups {LEAN_GROUPS}", hull, _groups))
        lean = tuple(hull[owner == group] for group in range(groups) if group in owner)
        return cls(model, principal, moments, parts, hull, lean, radius)

    def enter(self, state: RigidState) -> RigidState:
        """The state of the principal frame, from that of the pig frame."""
        quat = multiply(state.quat_xyzw, self.principal_xyzw)
        return RigidState(state.position_m, quat, state.velocity_m_s, state.angular_velocity_rad_s)

    def leave(self, state: RigidState) -> RigidState:
        """The state of the pig frame, from that of the principal frame."""
        quat = normalized(multiply(state.quat_xyzw, conjugate(self.principal_xyzw)))
        return RigidState(state.position_m, quat, state.velocity_m_s, state.angular_velocity_rad_s)


def _kept(method: str, numbers: FloatArray, compute: Callable[[FloatArray], Any]) -> Any:
    """What `compute` makes of (n, 3) numbers, or once made of them."""
    inputs = np.ascontiguousarray(numbers).tobytes()
    return precomputed.result(method, inputs, lambda: compute(numbers))


def _hull(points: FloatArray) -> list[int]:
    """Which points are corners of their hull."""
    from scipy.spatial import ConvexHull

    corners: list[int] = ConvexHull(points).vertices.tolist()
    return corners


def _lowest(points: FloatArray) -> float:
    """Distance from the origin to the nearest face of the hull of `points`."""
    from scipy.spatial import ConvexHull

    return float((-ConvexHull(points).equations[:, 3]).min())


def _groups(points: FloatArray) -> list[int]:
    """Splits the corners of a hull into at most `LEAN_GROUPS` groups; the group of each.

    Corners of one face on which the body can rest should be in different groups, and the nearer
    to each other the less so: the carriers of a pig that slides are all found anew in every
    step.
    """
    number = len(points)
    apart = ((points[:, None] - points[None]) ** 2).sum(axis=2)
    conflict = np.zeros((number, number))
    for corners in _resting_faces(points):
        conflict[np.ix_(corners, corners)] += apart[np.ix_(corners, corners)]
    return _coloured(conflict, LEAN_GROUPS)


def _near_groups(points: FloatArray) -> list[int]:
    """Splits the corners of a hull so that near ones are in different groups."""
    square = ((points[:, None] - points[None]) ** 2).sum(axis=2)
    np.fill_diagonal(square, np.inf)
    return _coloured(square.min() / square, SOFT_GROUPS)


def _coloured(conflict: FloatArray, most: int) -> list[int]:
    """The group of each corner, at most so many, from the (n, n) conflicts of each two.

    A greedy colouring (Brelaz 1979): each corner takes the group where it is least in conflict.
    """
    number = len(conflict)
    groups = min(most, number)
    load = np.zeros((number, groups))  # of each corner, its conflicts with each group
    sizes = np.zeros(groups)
    owner = np.full(number, -1)
    total = conflict.sum(axis=1)
    for _ in range(number):
        # The corner with most conflicts so far, then the one with most in all.
        urgent = np.where(owner < 0, load.sum(axis=1) + 1e-9 * total, -1.0)
        corner = int(np.argmax(urgent))
        best = int(np.lexsort((sizes, load[corner]))[0])
        owner[corner] = best
        sizes[best] += 1
        load[:, best] += conflict[:, corner]
    numbers: list[int] = owner.tolist()
    return numbers


def _resting_faces(points: FloatArray) -> list[NDArray[np.intp]]:
    """The corners of each face of a hull that the centre of mass (the origin) stands over."""
    from scipy.spatial import ConvexHull

    hull = ConvexHull(points)
    radius = float(np.sqrt((points**2).sum(axis=1).max()))
    faces: list[NDArray[np.intp]] = []
    seen: list[FloatArray] = []
    for normal, offset in zip(hull.equations[:, :3], hull.equations[:, 3], strict=True):
        if any(float(normal @ other) > 1.0 - _FLAT for other in seen):
            continue
        seen.append(normal)
        corners = np.flatnonzero(np.abs(points @ normal + offset) <= _FLAT * radius)
        first = np.cross(normal, np.eye(3)[int(np.argmin(np.abs(normal)))])
        flat = points[corners] @ np.stack([first, np.cross(normal, first)]).T
        if inside_margin(np.zeros(2), flat) > 0.0:
            faces.append(corners)
    return faces


def _principal(inertia: FloatArray) -> tuple[list[float], list[list[float]]]:
    """Moments (3,) and right-handed axes (3, 3, columns) of an inertia tensor.

    The last bits may depend on LAPACK and the processor. All else that is kept of a body is found
    by the bits of its corners along these axes, so the axes are kept too.
    """
    off = np.abs(inertia - np.diag(np.diag(inertia))).max()
    if off <= _DIAGONAL_SHARE * np.abs(inertia).max():
        return np.diag(inertia).tolist(), np.eye(3).tolist()
    moments, axes = np.linalg.eigh(inertia)
    # Order and orient the axes like the pig's own, so that the frames stay close.
    order = [int(np.argmax(np.abs(axes[0])))]
    rest = [k for k in range(3) if k not in order]
    order += sorted(rest, key=lambda k: -abs(float(axes[1, k])))
    moments, axes = moments[order], axes[:, order]
    axes = axes * np.where(np.diag(axes) < 0, -1.0, 1.0)
    if np.linalg.det(axes) < 0:
        axes[:, 2] = -axes[:, 2]
    return moments.tolist(), axes.tolist()
