"""A pig as the engine and the flight need it: in its principal axes.

Bullet takes only a diagonal inertia, so inside `physics` every state is that of the principal
frame (origin at the centre of mass, axes along the principal axes of inertia). `to_principal` and
`to_body_frame` are the border.

A soft pig is a rigid one whose corners sink in: each point that is x deep and sinks at speed u
pushes with k x + c u, never pulls. Several corners in contact push each for itself, so that a
flat landing is stiffer and loses more than one on a corner. The engine steps such a contact
implicitly, which damps it by k h more than is asked for, h being the step; that much is taken off
`c`, which makes the rebound independent of the step (measured: `docs/big.md`).

References:
    Schwager and Poeschel, "Coefficient of restitution and linear-dashpot model revisited",
    Granular Matter 2007: the restitution of a contact that ends where its force does.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from physim import precomputed
from physim.geometry import (
    conjugate,
    from_matrix,
    inside_margin,
    multiply,
    normalized,
    plane_axes,
    rotate,
)
from physim.types import GRAVITY_M_S2, ExactValue, FloatArray, PigModel, RigidState, Surface, Triple

# Off-diagonal inertia below this share of the largest moment counts as zero, so
# that a symmetric body (a cube) keeps its own axes and not arbitrary ones.
_DIAGONAL_SHARE = 1e-9
CONTACT_GROUPS = 3  # as many contacts as may come about in one step
# Of a soft pig: as many as the engine takes. A corner that is found late, below another of its
# group, would begin with its spring compressed, out of nothing.
SOFT_GROUPS = 16
_FLAT = 1e-6  # of the radius: corners that near to a plane lie in it
LEAST_RESTITUTION = 0.14  # of a soft contact: near that of critical damping, exp(-2)
MOST_RESTITUTION = 0.95


@dataclass(frozen=True, eq=False)
class Body(ExactValue):
    """One pig in its principal frame.

    Attributes:
        model: the pig it was made from.
        principal_xyzw: (4,) turns the principal frame into the pig frame.
        moments_kg_m2: (3,) principal moments of inertia [kg m2].
        parts_m: per part, (n, 3) vertices, principal frame [m].
        hull_m: (n, 3) vertices of the hull of all parts, principal frame [m].
        contact_hulls_m: the same vertices in a few groups: all that a flat table can touch, at a
            fraction of the parts' cost. A group gives the engine one new contact a step, so
            corners that carry a pig together are in different ones as far as there are enough.
        radius_m: of the sphere about the centre of mass that holds the pig [m].
        lowest_m: height of the centre of mass above the table at its lowest [m].
    """

    model: PigModel
    principal_xyzw: FloatArray
    moments_kg_m2: FloatArray
    parts_m: tuple[FloatArray, ...]
    hull_m: FloatArray
    contact_hulls_m: tuple[FloatArray, ...]
    radius_m: float
    lowest_m: float

    @cached_property
    def hull_columns_m(self) -> FloatArray:
        """(3, n) corners of the hull, each coordinate in one piece [m]."""
        return np.ascontiguousarray(self.hull_m.T)

    @cached_property
    def hull_radii_m(self) -> FloatArray:
        """(n,) distances of the hull's corners from the centre of mass [m]."""
        return np.asarray(np.sqrt((self.hull_m**2).sum(axis=1)))

    @cached_property
    def moments(self) -> Triple:
        """The principal moments as plain numbers [kg m2]."""
        a, b, c = self.moments_kg_m2.tolist()
        return a, b, c

    @cached_property
    def radii_of_gyration_squared_m2(self) -> Triple:
        """The principal moments over the mass [m2]."""
        a, b, c = (self.moments_kg_m2 / self.model.mass_kg).tolist()
        return a, b, c

    @cached_property
    def point_speed_share(self) -> float:
        """No point of a pig whose kinetic energy is m v^2 / 2 is faster than this times v.

        It is sqrt(1 + m radius^2 / least moment), all of the energy being spin or drift.
        """
        return math.sqrt(1.0 + self.radius_m**2 / min(self.radii_of_gyration_squared_m2))

    @cached_property
    def static_compression_m(self) -> float:
        """How much lower a soft pig can balance than a rigid one: m g / 2 k [m]; 0 if rigid.

        That is the least of z + k x^2 / (2 m g) where one point carries the pig, x being its
        depth; with more points it is less.
        """
        stiffness = self.model.contact_stiffness_n_m
        return 0.5 * self.model.mass_kg * GRAVITY_M_S2 / stiffness if stiffness else 0.0

    @cached_property
    def half_stiffness_over_weight(self) -> float:
        """K / 2 m g of a soft pig's springs [1/m]; 0 if rigid."""
        compression_m = self.static_compression_m
        return 0.25 / compression_m if compression_m else 0.0

    @classmethod
    def of(cls, model: PigModel) -> Body:
        """The body of a model."""
        with precomputed.with_results(model.kept):
            return cls._of(model)

    @classmethod
    def _of(cls, model: PigModel) -> Body:
        moments, axes = map(np.array, _precomputed("principal", model.inertia_kg_m2, _principal))
        principal = from_matrix(axes)
        to_principal = conjugate(principal)
        parts = tuple(rotate(to_principal, part.vertices_m) for part in model.parts)
        vertices = np.concatenate(parts)
        hull = vertices[np.array(_precomputed("hull", vertices, _hull))]
        if model.contact_stiffness_n_m:
            groups, owner = SOFT_GROUPS, _precomputed("near", hull, _near_groups)
        else:
            groups, owner = CONTACT_GROUPS, _precomputed(f"groups {CONTACT_GROUPS}", hull, _groups)
        return cls(
            model,
            principal,
            moments,
            parts,
            hull,
            tuple(hull[np.array(owner) == group] for group in range(groups) if group in owner),
            radius_m=float(np.sqrt((hull**2).sum(axis=1).max())),
            lowest_m=_precomputed("lowest", hull, _lowest),
        )

    def to_principal(self, state: RigidState) -> RigidState:
        """The state of the principal frame, from that of the pig frame."""
        quat = multiply(state.quat_xyzw, self.principal_xyzw)
        return RigidState(state.position_m, quat, state.velocity_m_s, state.angular_velocity_rad_s)

    def to_body_frame(self, state: RigidState) -> RigidState:
        """The state of the pig frame, from that of the principal frame."""
        quat = normalized(multiply(state.quat_xyzw, conjugate(self.principal_xyzw)))
        return RigidState(state.position_m, quat, state.velocity_m_s, state.angular_velocity_rad_s)


def damping_kg_s(model: PigModel, surface: Surface) -> float:
    """The damper c with which a straight impact on one point has the pair's restitution."""
    e = model.restitution * surface.restitution
    ratio = damping_ratio(min(max(e, LEAST_RESTITUTION), MOST_RESTITUTION))
    return 2.0 * ratio * math.sqrt(model.contact_stiffness_n_m * model.mass_kg)


def damping_ratio(restitution: float) -> float:
    """The damper's share, at most 0.99, of the critical one that gives this restitution."""
    low, high = 0.0, 0.99
    for _ in range(60):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if restitution_of(middle) > restitution else (low, middle)
    return 0.5 * (low + high)


def restitution_of(ratio: float) -> float:
    """Speed of rebound over that of impact, gravity left out; `ratio` in [0, 1)."""
    root = math.sqrt(1.0 - ratio * ratio)
    half_turn = math.pi - math.atan2(2.0 * ratio * root, 1.0 - 2.0 * ratio * ratio)
    return math.exp(-ratio / root * half_turn)


def _precomputed(method: str, numbers: FloatArray, compute: Callable[[FloatArray], Any]) -> Any:
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
    """Splits the corners of a hull into at most `CONTACT_GROUPS` groups; the group of each.

    Corners of one face on which the body can rest should be in different groups, and the nearer
    to each other the less so: the carriers of a pig that slides are all found anew in every
    step.
    """
    square = ((points[:, None] - points[None]) ** 2).sum(axis=2)
    conflict = np.zeros_like(square)
    for corners in _resting_faces(points):
        conflict[np.ix_(corners, corners)] += square[np.ix_(corners, corners)]
    return _coloured(conflict, CONTACT_GROUPS)


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
        flat = points[corners] @ np.stack(plane_axes(normal)).T
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
