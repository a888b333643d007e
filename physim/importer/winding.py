"""Which way round faces run, and where a mesh overlaps itself."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from physim.importer.solids import IntArray
from physim.types import FloatArray

_UPON = 1e-4  # rad between two faces that lie upon each other
_MOST_SHEETS = 20  # that are looked at, the smallest first
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


def is_closed(faces: IntArray) -> bool:
    """Whether two faces meet in every edge."""
    ends = edges_of(faces)[0]
    return bool((np.unique(ends, axis=0, return_counts=True)[1] == 2).all())


def unbalanced(faces: IntArray) -> IntArray:
    """(k,) sides of edges through which the faces do not run as often one way as the other.

    Indices into what `edges_of` gives. Such an edge lacks a face; perhaps that one's side is there
    in several pieces.
    """
    ends, _, turned = edges_of(faces)
    edge = np.unique(ends, axis=0, return_inverse=True)[1].reshape(-1)
    return np.flatnonzero(np.bincount(edge, 1.0 - 2.0 * turned)[edge])


def once(faces: IntArray) -> tuple[IntArray, int]:
    """Faces that are there several times stand there once, or not at all.

    A patch of doubled faces goes where the others are closed without it: a fin, or the wall
    between two bodies that share it. It stays, once, where the others need it.

    Returns:
        (k, 3) the faces, in their order; how many of the doubled ones went altogether.
    """
    _, first, counts = np.unique(
        np.sort(faces, axis=1), axis=0, return_index=True, return_counts=True
    )
    order = np.argsort(first)
    faces, doubled = faces[first[order]], counts[order] > 1
    if not doubled.any():
        return faces, 0
    ends, owner, _ = edges_of(faces)
    edge = np.unique(ends, axis=0, return_inverse=True)[1].reshape(-1)
    others = np.bincount(edge, ~doubled[owner])[edge]
    inner = doubled[owner] & (others == 0) & (np.bincount(edge, doubled[owner])[edge] == 2)
    patch = _patches(len(faces), owner, edge, inner)
    rim = doubled[owner] & ~inner
    needed = np.bincount(patch[owner[rim]], 2 * (others[rim] % 2) - 1, minlength=len(faces)) >= 0
    keep = ~doubled | needed[patch]
    return faces[keep], int((~keep).sum())


def heights(vertices: FloatArray, faces: IntArray) -> FloatArray:
    """(m,) of each face: its height over its longest side."""
    a, b, c = (vertices[faces[:, k]] for k in range(3))
    longest = np.linalg.norm(np.stack([b - a, c - b, a - c]), axis=2).max(axis=0)
    twice = np.linalg.norm(np.cross(b - a, c - a), axis=1)
    return np.asarray(twice / np.maximum(longest, 1e-300))


def without_sheets(vertices: FloatArray, faces: IntArray, thin: float) -> tuple[IntArray, int]:
    """Without sheets of one layer that stand off a body, part its inside, or hang loose and plane.

    A sheet goes if closed bodies are left without it. Of several, that one goes first without
    which the bodies enclose most: a wall, not the skin.

    Args:
        vertices: (n, 3).
        faces: (m, 3).
        thin: how far a plane sheet's corners may be from its plane, same unit.

    Returns:
        (k, 3) the faces, in their order; how many went.
    """
    before = len(faces)
    while True:
        ends, owner, _ = edges_of(faces)
        edge, counts = np.unique(ends, axis=0, return_inverse=True, return_counts=True)[1:]
        meeting = counts[edge.reshape(-1)]
        patch = _patches(len(faces), owner, edge.reshape(-1), meeting == 2)
        loose = set(patch[owner[meeting % 2 == 1]].tolist())
        loose -= set(patch[owner[(meeting > 2) & (meeting % 2 == 0)]].tolist())
        joined = set(patch[owner[meeting > 2]].tolist())
        sizes = np.bincount(patch)
        found = []
        for sheet in sorted(loose, key=lambda one: int(sizes[one]))[:_MOST_SHEETS]:
            points = vertices[np.unique(faces[patch == sheet])]
            if sheet in joined or np.linalg.svd(points - points.mean(axis=0))[1][-1] < thin:
                left = faces[patch != sheet]
                found.append((_enclosed(vertices, left), -int(sizes[sheet]), left))
        if not found or max(found, key=lambda one: one[:2])[0] <= 0.0:
            return faces, before - len(faces)
        faces = max(found, key=lambda one: one[:2])[2]


def _enclosed(vertices: FloatArray, faces: IntArray) -> float:
    """The volume of the bodies that are closed."""
    wound = consistent(faces) if len(faces) else None
    if wound is None:
        return 0.0
    turned, bodies, _ = wound
    volume = np.abs(volumes(vertices, turned, bodies))
    volume[bodies[edges_of(faces)[1][pair_up(faces)[2]]]] = 0.0
    return float(volume.sum())


def parted(vertices: FloatArray, faces: IntArray) -> tuple[FloatArray, IntArray, IntArray]:
    """Bodies that share edges get vertices of their own there, so that two faces meet in an edge.

    Around such an edge, two neighbouring faces belong together where there is material between
    them. Where the faces are not wound alike, those that lie upon each other do, else those with
    the smaller angles between them.

    Returns:
        The vertices (n, 3); the faces (m, 3); edges (k, 2) in which an odd number of faces meet.
    """
    ends, owner, turned = edges_of(faces)
    edge, counts = np.unique(ends, axis=0, return_inverse=True, return_counts=True)[1:]
    if counts.max() < 3:
        return vertices, faces, np.zeros((0, 2), dtype=np.int64)
    order = np.argsort(edge.reshape(-1), kind="stable")
    starts = np.cumsum(counts) - counts
    pairs = [np.stack([order[starts[counts == 2]], order[starts[counts == 2] + 1]], axis=1)]
    for start, count in zip(starts[counts > 2], counts[counts > 2], strict=True):
        sides = order[start : start + count]
        if count % 2 == 0:
            third = faces[owner[sides]].sum(axis=1) - ends[sides].sum(axis=1)
            a, b = vertices[ends[sides[0]]]
            pairs.append(sides[_around(b - a, vertices[third] - a, turned[sides])])
    one, two = np.concatenate(pairs).T
    # Corners of two faces at an end of their common edge are one vertex.
    m, corners = len(faces), faces.T.reshape(-1)
    onward = (np.arange(3 * m) + m) % (3 * m)
    same = corners[one] == corners[two]
    rows = np.concatenate([one, onward[one]])
    columns = np.concatenate([np.where(same, two, onward[two]), np.where(same, onward[two], two)])
    label = linked(rows, columns, 3 * m)
    first = np.unique(label, return_index=True)[1]
    odd = ends[order[starts[(counts > 2) & (counts % 2 == 1)]]]
    apart = label.reshape(3, m).T.copy()
    return (*_halved(vertices[corners[first]], apart, one, two), odd)


def _halved(
    vertices: FloatArray, faces: IntArray, one: IntArray, two: IntArray
) -> tuple[FloatArray, IntArray]:
    """With a vertex in the middle of the edges of paired sides whose ends are another pair's too.

    Where a surface comes back to both ends of an edge another way, nothing else tells its pairs
    apart.
    """
    ends = edges_of(faces)[0]
    edge, counts = np.unique(ends, axis=0, return_inverse=True, return_counts=True)[1:]
    several = counts[edge.reshape(-1)[one]] > 2
    one, two = one[several], two[several]
    sides = np.concatenate([one, two])
    new = np.tile(np.arange(len(vertices), len(vertices) + len(one)), 2)
    middle = dict(zip(sides.tolist(), new.tolist(), strict=True))
    whole = np.unique(sides % len(faces))
    added = []
    for face in whole.tolist():
        rim = []
        for k, corner in enumerate(faces[face].tolist()):
            side = face + k * len(faces)
            rim += [(corner, False)] + ([(middle[side], True)] if side in middle else [])
        start = next(k for k, (_, new) in enumerate(rim) if new)
        first, *rest = [vertex for vertex, _ in rim[start:] + rim[:start]]
        added += [(first, a, b) for a, b in pairwise(rest)]
    if not added:
        return vertices, faces
    vertices = np.concatenate([vertices, vertices[ends[one]].mean(axis=1)])
    return vertices, np.concatenate([np.delete(faces, whole, axis=0), np.array(added)])


def _around(along: FloatArray, spokes: FloatArray, backward: NDArray[np.bool_]) -> IntArray:
    """(k, 2) which of 2 k faces around an edge belong together; see `parted`."""
    along = along / np.linalg.norm(along)
    spokes = spokes - np.outer(spokes @ along, along)
    angle = np.arctan2(spokes @ np.cross(along, spokes[0]), spokes @ spokes[0])
    angle = (angle + _UPON) % (2.0 * np.pi)
    ranks = np.argsort(np.argsort(angle, kind="stable"))
    level = np.cumsum(np.diff(np.sort(angle), prepend=0.0) > _UPON)[ranks]
    order = np.lexsort((backward, level))
    order = np.roll(order, -int(np.argmax(backward[order] & ~np.roll(backward[order], 1))))
    if backward[order[::2]].all() and not backward[order[1::2]].any():
        return order.reshape(-1, 2)
    # Not wound alike: those upon each other, then the others with the smaller angles between them.
    order = np.argsort(angle, kind="stable")
    equal = np.flatnonzero(np.diff(level[order]) == 0)
    upon = [k for n, k in enumerate(equal) if (k - equal[n - 1] != 1) or not n]
    pairs = [order[[k, k + 1]] for k in upon]
    left = np.delete(order, [k + d for k in upon for d in (0, 1)])
    if len(left):
        gaps = np.diff(angle[left], append=angle[left[0]] + 2.0 * np.pi)
        left = np.roll(left, -1 if gaps[1::2].sum() < gaps[::2].sum() else 0)
    return np.concatenate([*(pair[None] for pair in pairs), left.reshape(-1, 2)])


def _patches(count: int, owner: IntArray, edge: IntArray, joining: NDArray[np.bool_]) -> IntArray:
    """(count,) a number of the patch of each face; faces hang together by the joining sides."""
    sides = np.flatnonzero(joining)
    sides = sides[np.argsort(edge[sides], kind="stable")]
    return linked(owner[sides[::2]], owner[sides[1::2]], count)


def linked(rows: IntArray, columns: IntArray, count: int) -> IntArray:
    """(count,) a number for each thing, the same for those that pairs of them link."""
    links = coo_array((np.ones(len(rows), np.int8), (rows, columns)), (count, count))
    return np.asarray(connected_components(links, directed=False)[1], dtype=np.int64)


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
