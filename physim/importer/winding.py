"""Which way round faces run, and where a mesh overlaps itself."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from physim.importer.solids import IntArray
from physim.values import FloatArray

_AT_ONCE = 2_000_000  # pairs of a point and a face, to bound the memory


def edges_of(faces: IntArray) -> tuple[IntArray, IntArray, NDArray[np.bool_]]:
    """Of (m, 3) faces: (3m, 2) ends of each side, lower first; its face; whether turned round."""
    sides = np.concatenate([faces[:, [0, 1]], faces[:, [1, 2]], faces[:, [2, 0]]])
    owner = np.tile(np.arange(len(faces)), 3)
    turned = sides[:, 0] > sides[:, 1]
    return np.sort(sides, axis=1), owner, turned


def pair_up(faces: IntArray) -> tuple[IntArray, NDArray[np.bool_], IntArray]:
    """Neighbours across edges that two faces share.

    Returns:
        (k, 2) faces; (k,) whether both run through the edge the same way, so that one is wound
        wrongly; (b,) sides with no neighbour, as indices into what `edges_of` gives. Sides with
        more than one neighbour are in none.
    """
    ends, owner, turned = edges_of(faces)
    key = ends[:, 0] * (int(faces.max()) + 1) + ends[:, 1]
    order = np.argsort(key, kind="stable")
    _, starts, counts = np.unique(key[order], return_index=True, return_counts=True)
    first, second = order[starts[counts == 2]], order[starts[counts == 2] + 1]
    return (
        np.stack([owner[first], owner[second]], axis=1),
        turned[first] == turned[second],
        order[starts[counts == 1]],
    )


def consistent(faces: IntArray) -> tuple[IntArray, IntArray, int] | None:
    """Faces wound alike with their neighbours.

    Returns:
        The faces; (m,) number of the body of each; how many were turned round. None for a
        surface with one side only, such as a Möbius band.
    """
    pairs, same, _ = pair_up(faces)
    count = len(faces)
    # Each face stands there twice, as it is and turned round; neighbours that agree are linked.
    one, two = pairs[:, 0], pairs[:, 1] + np.where(same, count, 0)
    other, onward = pairs[:, 0] + count, pairs[:, 1] + np.where(same, 0, count)
    rows, columns = np.concatenate([one, other]), np.concatenate([two, onward])
    links = coo_array((np.ones(len(rows), np.int8), (rows, columns)), (2 * count, 2 * count))
    label = connected_components(links, directed=False)[1]
    if (label[:count] == label[count:]).any():
        return None
    bodies = np.minimum(label[:count], label[count:])
    turn = label[:count] != bodies
    # Of each body the smaller half is turned round.
    number = np.unique(bodies, return_inverse=True)[1]
    share = np.bincount(number, turn) / np.bincount(number)
    turn ^= share[number] > 0.5
    out = faces.copy()
    out[turn] = out[turn][:, ::-1]
    return out, number.astype(np.int64), int(turn.sum())


def volumes(vertices: FloatArray, faces: IntArray, bodies: IntArray) -> FloatArray:
    """Signed volume of each body."""
    a, b, c = (vertices[faces[:, k]] - vertices.mean(axis=0) for k in range(3))
    signed = np.einsum("ij,ij->i", a, np.cross(b, c)) / 6.0
    return np.bincount(bodies, signed).astype(np.float64)


def winding_numbers(points: FloatArray, vertices: FloatArray, faces: IntArray) -> FloatArray:
    """(k,) how often a closed mesh encloses each point: 1 inside, 0 outside.

    References:
        Van Oosterom and Strackee, "The solid angle of a plane triangle", 1983.
    """
    corners = vertices[faces]
    found = []
    step = max(1, _AT_ONCE // len(faces))
    for start in range(0, len(points), step):
        seen = corners[None] - points[start : start + step, None, None]
        length = np.sqrt(np.einsum("pfki,pfki->pfk", seen, seen))
        a, b, c = seen[:, :, 0], seen[:, :, 1], seen[:, :, 2]
        la, lb, lc = length[:, :, 0], length[:, :, 1], length[:, :, 2]
        top = np.einsum("pfi,pfi->pf", a, np.cross(b, c))
        below = la * lb * lc + np.einsum("pfi,pfi->pf", a, b) * lc
        below += np.einsum("pfi,pfi->pf", b, c) * la + np.einsum("pfi,pfi->pf", c, a) * lb
        found.append(np.arctan2(top, below).sum(axis=1) / (2.0 * np.pi))
    return np.concatenate(found) if found else np.zeros(0)


@dataclass(frozen=True)
class Wrong:
    """Where a closed mesh does not part inside from outside.

    Attributes:
        share: of the surface, 0 to 1.
        middle: (3,) a point of it, about its middle.
        thin: most of it is nowhere near an inside: a sheet thinner than the samples' step.
    """

    share: float = 0.0
    middle: FloatArray = field(default_factory=lambda: np.zeros(3))
    thin: bool = False


def overlaps(vertices: FloatArray, faces: IntArray, samples: int = 600) -> Wrong:
    """Where a closed mesh's surface lies inside or outside of where it should.

    Just below a face of a sound mesh a point is enclosed once, just above it not at all. Below a
    sheet that is thinner than the step it is not enclosed either, as it is beyond the other side.
    """
    a, b, c = (vertices[faces[:, k]] for k in range(3))
    normals = np.cross(b - a, c - a)
    areas = np.sqrt(np.einsum("ij,ij->i", normals, normals))
    total = np.cumsum(areas)
    picks = np.searchsorted(total, (np.arange(samples) + 0.5) / samples * total[-1])
    picks = np.minimum(picks, len(faces) - 1)
    middles = (a[picks] + b[picks] + c[picks]) / 3.0
    outward = normals[picks] / np.maximum(areas[picks], 1e-300)[:, None]
    below = 1e-4 * float(np.ptp(vertices, axis=0).max()) * -outward
    numbers = winding_numbers(middles + below, vertices, faces)
    wrong = np.abs(numbers - 1.0) > 0.5
    if not wrong.any():
        return Wrong()
    above = winding_numbers((middles - below)[wrong], vertices, faces)
    thin = (np.abs(numbers[wrong]) < 0.5) & (np.abs(above) < 0.5)
    places = middles[wrong]
    nearest = np.linalg.norm(places - places.mean(axis=0), axis=1).argmin()
    return Wrong(float(wrong.mean()), places[nearest], bool(thin.mean() > 0.5))
