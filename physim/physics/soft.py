"""Contacts of soft pigs: a spring and a damper at each point of contact.

A soft pig is a rigid one whose corners sink in: each point that is x deep and sinks at speed u
pushes with k x + c u, never pulls. Several corners in contact push each for itself, so that a
flat landing is stiffer and loses more than one on a corner.

The engine steps such a contact implicitly, which damps it by k h more than is asked for, h being
the step (a spring without damper then loses half of its speed within a few contacts). That much
is taken off `c`, which makes the rebound independent of the step (measured: `docs/big.md`).

References:
    Schwager and Poeschel, "Coefficient of restitution and linear-dashpot model revisited",
    Granular Matter 2007: the restitution of a contact that ends where its force does.
"""

from __future__ import annotations

import math

from physim.compiled import compiled
from physim.physics.kernels import along, up_in_body
from physim.types import GRAVITY_M_S2, FloatArray, PigModel, Quat, Surface

LEAST_RESTITUTION = 0.14  # of a soft contact: near that of critical damping, exp(-2)
MOST_RESTITUTION = 0.95
_HALVINGS = 60


def sag_m(model: PigModel) -> float:
    """How much lower a soft pig can balance than a rigid one: m g / 2 k [m].

    That is the least of z + k x^2 / (2 m g) where one point carries the pig, x = its depth; with
    more points it is less.
    """
    if not model.contact_stiffness_n_m:
        return 0.0
    return 0.5 * model.mass_kg * GRAVITY_M_S2 / model.contact_stiffness_n_m


def damping_kg_s(model: PigModel, surface: Surface) -> float:
    """The damper c with which a straight impact on one point has the pair's restitution."""
    e = model.restitution * surface.restitution
    ratio = damping_ratio(min(max(e, LEAST_RESTITUTION), MOST_RESTITUTION))
    return 2.0 * ratio * math.sqrt(model.contact_stiffness_n_m * model.mass_kg)


def damping_ratio(restitution: float) -> float:
    """The damper's share of the critical one, from a restitution in [0.14, 1)."""
    low, high = 0.0, 0.99
    for _ in range(_HALVINGS):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if restitution_of(middle) > restitution else (low, middle)
    return 0.5 * (low + high)


def restitution_of(ratio: float) -> float:
    """Speed of rebound over that of impact, gravity left out; `ratio` in [0, 1)."""
    root = math.sqrt(1.0 - ratio * ratio)
    half_turn = math.pi - math.atan2(2.0 * ratio * root, 1.0 - 2.0 * ratio * ratio)
    return math.exp(-ratio / root * half_turn)


@compiled
def stored_m(hull: FloatArray, q: Quat, height_m: float, lift: float) -> float:
    """Energy of the springs of all corners below the table, over m g [m].

    Args:
        hull: (3, n) corners.
        q: the attitude.
        height_m: of the centre of mass.
        lift: k / 2 m g [1/m].
    """
    total = 0.0
    for height in along(hull, up_in_body(q)):
        depth = height + height_m
        if depth < 0.0:
            total += depth * depth
    return lift * total
