"""Shapes of our own making, in mm, as (vertices, faces), and files of them."""

from __future__ import annotations

from pathlib import Path

import manifold3d as m3
import numpy as np
import trimesh

Mesh = tuple[np.ndarray, np.ndarray]


def mesh_of(solid: m3.Manifold) -> Mesh:
    mesh = solid.to_mesh64()
    return np.array(mesh.vert_properties)[:, :3], np.array(mesh.tri_verts).astype(int)


def ellipsoid(
    x: float, y: float, z: float, at: tuple[float, float, float], n: int = 16
) -> m3.Manifold:
    return m3.Manifold.sphere(1.0, n).scale((x, y, z)).translate(at)


def leg(x: float, y: float, top: float, radius: float = 2.2) -> m3.Manifold:
    return m3.Manifold.cylinder(top, radius, 1.2 * radius, 10).translate((x, y, 0.0))


def low_poly_pig() -> m3.Manifold:
    """38 mm long, snout at +x, feet at z = 0."""
    body = ellipsoid(15.0, 7.5, 7.5, (0.0, 0.0, 12.0))
    head = ellipsoid(6.0, 5.5, 5.5, (14.0, 0.0, 14.0))
    snout = m3.Manifold.cylinder(4.0, 3.0, 2.6, 10).rotate((0.0, 90.0, 0.0))
    snout = snout.translate((18.5, 0.0, 13.0))
    legs = [leg(x, y, 10.0) for x in (-7.5, 7.5) for y in (-4.5, 4.5)]
    ears = [
        m3.Manifold.cube((2.0, 4.0, 5.0), True)
        .rotate((side * -35.0, 15.0, 0.0))
        .translate((13.0, side * 4.6, 19.5))
        for side in (-1, 1)
    ]
    return m3.Manifold.batch_boolean([body, head, snout, *legs, *ears], m3.OpType.Add)


def pig_with_stand() -> m3.Manifold:
    """The same on a plate."""
    plate = m3.Manifold.cube((26.0, 18.0, 1.2), True).translate((0.0, 0.0, 0.0))
    return low_poly_pig() + plate


def cow() -> m3.Manifold:
    """60 mm long, with horns and an udder; the head hangs in front."""
    body = m3.Manifold.cube((36.0, 16.0, 18.0), True).translate((0.0, 0.0, 27.0))
    head = m3.Manifold.cube((14.0, 9.0, 10.0), True).rotate((0.0, 25.0, 0.0))
    head = head.translate((24.0, 0.0, 34.0))
    legs = [leg(x, y, 20.0, 2.8) for x in (-14.0, 14.0) for y in (-5.0, 5.0)]
    horns = [
        m3.Manifold.cylinder(8.0, 1.5, 0.6, 8)
        .rotate((side * -30.0, 0.0, 0.0))
        .translate((22.0, side * 2.5, 36.0))
        for side in (-1, 1)
    ]
    udder = ellipsoid(5.0, 4.0, 4.0, (-6.0, 0.0, 17.0), 12)
    return m3.Manifold.batch_boolean([body, head, udder, *legs, *horns], m3.OpType.Add)


def knight() -> m3.Manifold:
    """A chess knight, 45 mm high, on a round base."""
    base = m3.Manifold.cylinder(5.0, 14.0, 12.0, 24)
    neck = m3.Manifold.cylinder(26.0, 9.0, 6.0, 16).translate((0.0, 0.0, 4.0))
    head = m3.Manifold.cube((20.0, 8.0, 10.0), True).rotate((0.0, 30.0, 0.0))
    head = head.translate((6.0, 0.0, 33.0))
    ear = m3.Manifold.cylinder(7.0, 2.5, 0.5, 8).translate((-2.0, 0.0, 37.0))
    return m3.Manifold.batch_boolean([base, neck, head, ear], m3.OpType.Add)


def write(path: Path, mesh: Mesh) -> Path:
    """A mesh file of any format that the library writes; its suffix says which."""
    trimesh.Trimesh(*mesh, process=False).export(path)
    return path
