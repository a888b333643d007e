"""Mass properties of a solid of uniform density."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from physim.errors import ModelError
from physim.pigs.mesh import IntArray, MassIntegrals, mass_integrals
from physim.values import ExactValue, FloatArray


@dataclass(frozen=True, eq=False)
class MassProperties(ExactValue):
    """Of a rigid body, in the frame of its mesh.

    Attributes:
        mass_kg: [kg].
        volume_m3: [m3].
        center_of_mass_m: (3,) [m].
        inertia_kg_m2: (3, 3) about the centre of mass, along the mesh's axes [kg m2].
    """

    mass_kg: float
    volume_m3: float
    center_of_mass_m: FloatArray
    inertia_kg_m2: FloatArray


def mass_properties(
    vertices_m: FloatArray,
    faces: IntArray,
    mass_kg: float,
    offset_m: FloatArray | None = None,
    where: str = "mesh",
) -> MassProperties:
    """Mass properties of a closed mesh filled evenly with `mass_kg`.

    Args:
        vertices_m: (n, 3) [m].
        faces: (m, 3) vertex indices.
        mass_kg: total mass, > 0 [kg].
        offset_m: (3,) shift of the centre of mass from the centroid, for a body that is known
            not to be even [m]. The inertia about the centre of mass is kept: the small lump that
            causes the shift is not modelled.
        where: named in messages.

    Raises:
        ModelError: the mesh is not closed or encloses no volume, or the mass is not positive.
    """
    if not mass_kg > 0:
        raise ModelError(f"{where}: the mass must be positive, found {mass_kg:g} kg")
    return filled(mass_integrals(vertices_m, faces, where), mass_kg, offset_m)


def filled(
    integrals: MassIntegrals, mass_kg: float, offset_m: FloatArray | None = None
) -> MassProperties:
    """As `mass_properties`, from the integrals over a mesh in metres."""
    center = integrals.center if offset_m is None else integrals.center + offset_m
    inertia = integrals.inertia * (mass_kg / integrals.volume)
    return MassProperties(
        mass_kg, integrals.volume, center, 0.5 * (inertia + np.transpose(inertia))
    )
