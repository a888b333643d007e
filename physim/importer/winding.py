"""How faces hang together by their edges, which way round they run, and what they enclose."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from physim.importer.solids import IntArray, tetrahedra
from physim.types import FloatArray

_UPON = 1e-4  # rad between two faces that lie upon each other
_MOST_SHEETS = 20  # that are looked at, the smallest first
_AT_ONCE = 2_000_000  # pairs of a point and a face, to bound the memory


class Sides:
    """The sides of (m, 3) faces: all first ones, then all second ones, then all third ones.

    Attributes:
        ends: (3m, 2) vertices of each, lower first.
        owner: (3m,) its face.
        backward: (3m,) whether the face runs from the higher to the lower.
        edge: (3m,) number of the edge that it lies on.
        meeting: (3m,) how many sides lie on that edge.
    """

    def __init__(self, faces: IntArray) -> None:
        sides = np.concatenate([faces[:, [0, 1]], faces[:, [1, 2]], faces[:, [2, 0]]])
        self.ends = np.sort(sides, axis=1)
        self.owner = np.tile(np.arange(len(faces)), 3)
        self.backward: NDArray[np.bool_] = sides[:, 0] > sides[:, 1]
        key = self.ends[:, 0] * (int(faces.max(initial=0)) + 1) + self.ends[:, 1]
        edge, counts = np.unique(key, return_inverse=True, return_counts=True)[1:]
        self.edge: IntArray = edge.reshape(-1)
        self.meeting: IntArray = counts[self.edge]

    @property
    def closed(self) -> bool:
        """Whether two faces meet in every edge."""
        return bool((self.meeting == 2).all())

    @property
    def unbalanced(self) -> IntArray:
        """(k,) sides of edges through which the faces do not run as often one way as the other.

        Such an edge lacks a face; perhaps that one's side is there in several pieces.
        """
        return np.flatnonzero(np.bincount(self.edge, 1.0 - 2.0 * self.backward)[self.edge])

    def by_edge(self, which: NDArray[np.bool_]) -> IntArray:
        """These of the sides, edge by edge."""
        order = np.argsort(self.edge, kind="stable")
        return order[which[order]]

    def patches(self, joining: NDArray[np.bool_]) -> IntArray:
        """(m,) a number of the patch of each face; two sides of an edge may join their faces."""
        pairs = self.owner[self.by_edge(joining).reshape(-1, 2)]
        return linked(pairs, len(self.owner) // 3)


def linked(pairs: IntArray, count: int) -> IntArray:
    """(count,) a number for each thing, the same for those that pairs (k, 2) of them link."""
    links = coo_array((np.ones(len(pairs), np.int8), tuple(pairs.T)), (count, count))
    return np.asarray(connected_components(links, directed=False)[1], dtype=np.int64)


def consistent(faces: IntArray) -> tuple[IntArray, IntArray, int] | None:
    """Faces wound alike with their neighbours.

    Returns:
        The faces; (m,) number of the body of each; how many were turned round. None for a
        surface with one side only, such as a Möbius band.
    """
    sides, count = Sides(faces), len(faces)
    one, two = sides.by_edge(sides.meeting == 2).reshape(-1, 2).T
    odd = np.where(sides.backward[one] == sides.backward[two], count, 0)
    # Each face stands there twice, as it is and turned round; neighbours that agree are linked.
    one, two = sides.owner[one], sides.owner[two]
    pairs = np.concatenate(
        [np.stack([one, two + odd]), np.stack([one + count, two + count - odd])], 1
    )
    label = linked(pairs.T, 2 * count)
    if (label[:count] == label[count:]).any():
        return None
    bodies = np.minimum(label[:count], label[count:])
    turn = label[:count] != bodies
    number = np.unique(bodies, return_inverse=True)[1].reshape(-1).astype(np.int64)
    turn ^= (np.bincount(number, turn) / np.bincount(number) > 0.5)[number]  # the smaller half
    return np.where(turn[:, None], faces[:, ::-1], faces), number, int(turn.sum())


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
    sides = Sides(faces)
    of_doubled = doubled[sides.owner]
    others = np.bincount(sides.edge, ~of_doubled)[sides.edge]
    inner = of_doubled & (others == 0) & (sides.meeting == 2)
    patch = sides.patches(inner)
    rim = of_doubled & ~inner
    wanting = np.bincount(patch[sides.owner[rim]], 2 * (others[rim] % 2) - 1, len(faces))
    keep = ~doubled | (wanting >= 0)[patch]
    return faces[keep], int((~keep).sum())


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
        sides = Sides(faces)
        patch = sides.patches(sides.meeting == 2)

        def touching(which: NDArray[np.bool_]) -> set[int]:
            return set(patch[sides.owner[which]].tolist())  # noqa: B023

        joined = touching(sides.meeting > 2)
        loose = touching(sides.meeting % 2 == 1)
        loose -= touching((sides.meeting > 2) & (sides.meeting % 2 == 0))
        sizes = np.bincount(patch)
        best = 0.0, 0, faces
        for sheet in sorted(loose, key=lambda one: int(sizes[one]))[:_MOST_SHEETS]:
            points = vertices[np.unique(faces[patch == sheet])]
            if sheet in joined or np.linalg.svd(points - points.mean(axis=0))[1][-1] < thin:
                left = faces[patch != sheet]
                found = _enclosed(vertices, left), -int(sizes[sheet]), left
                best = max(best, found, key=lambda one: one[:2])
        if best[0] <= 0.0:
            return faces, before - len(faces)
        faces = best[2]


def _enclosed(vertices: FloatArray, faces: IntArray) -> float:
    """The volume of the bodies that are closed."""
    wound = consistent(faces) if len(faces) else None
    if wound is None:
        return 0.0
    sides = Sides(faces)
    volume = np.abs(volumes(vertices, *wound[:2]))
    volume[wound[1][sides.owner[sides.meeting == 1]]] = 0.0
    return float(volume.sum())


def parted(vertices: FloatArray, faces: IntArray) -> tuple[FloatArray, IntArray, IntArray]:
    """Bodies that share edges get vertices of their own there, so that two faces meet in an edge.

    Around a shared edge, two neighbouring faces belong together where there is material between
    them. Where the faces are not wound alike, those that lie upon each other do, else those with
    the smaller angles between them. Where a surface comes back to both ends of an edge another
    way, the edge is divided, as nothing else tells its pairs of faces apart.

    Returns:
        The vertices (n, 3); the faces (m, 3); edges (k, 2) in which an odd number of faces meet.
    """
    sides, count = Sides(faces), len(faces)
    odd = sides.ends[(sides.meeting > 2) & (sides.meeting % 2 == 1)]
    shared = sides.by_edge(sides.meeting > 2)
    if len(odd) or not len(shared):
        return vertices, faces, odd
    pairs = [sides.by_edge(sides.meeting == 2).reshape(-1, 2)]
    for group in np.split(shared, np.flatnonzero(np.diff(sides.edge[shared])) + 1):
        third = faces[sides.owner[group]].sum(axis=1) - sides.ends[group].sum(axis=1)
        a, b = vertices[sides.ends[group[0]]]
        pairs.append(group[_around(b - a, vertices[third] - a, sides.backward[group])])
    one, two = np.concatenate(pairs).T
    # Corners of two faces at an end of their common edge are one vertex.
    corners, onward = faces.T.ravel(), np.roll(np.arange(3 * count), -count)
    same = corners[one] == corners[two]
    rows = np.concatenate([one, onward[one]])
    columns = np.concatenate([np.where(same, two, onward[two]), np.where(same, onward[two], two)])
    label = linked(np.stack([rows, columns], axis=1), 3 * count)
    vertices = vertices[corners[np.unique(label, return_index=True)[1]]]
    faces = label.reshape(3, count).T
    sides = Sides(faces)
    several = sides.meeting[one] > 2
    return (*_divided(vertices, faces, sides.ends, one[several], two[several]), odd)


def _divided(
    vertices: FloatArray, faces: IntArray, ends: IntArray, one: IntArray, two: IntArray
) -> tuple[FloatArray, IntArray]:
    """With a vertex in the middle of the edge of each of these pairs of sides."""
    new = range(len(vertices), len(vertices) + len(one))
    middles = dict(zip([*one.tolist(), *two.tolist()], [*new, *new], strict=True))
    whole = sorted({side % len(faces) for side in middles})
    added = []
    for face in whole:
        rim: list[int] = []
        for k, corner in enumerate(faces[face].tolist()):
            rim += [corner, middles.get(face + k * len(faces), -1)]
        start = next(k for k, vertex in enumerate(rim) if vertex >= len(vertices))
        first, *rest = [vertex for vertex in rim[start:] + rim[:start] if vertex >= 0]
        added += [(first, a, b) for a, b in pairwise(rest)]
    vertices = np.concatenate([vertices, vertices[ends[one]].mean(axis=1)])
    faces = np.delete(faces, whole, axis=0) if whole else faces
    return vertices, np.concatenate([faces, np.array(added, dtype=np.int64).reshape(-1, 3)])


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


def volumes(vertices: FloatArray, faces: IntArray, bodies: IntArray) -> FloatArray:
    """Signed volume of each body."""
    signed, _ = tetrahedra(vertices - vertices.mean(axis=0), faces)
    return np.bincount(bodies, signed).astype(np.float64)


def winding_numbers(points: FloatArray, vertices: FloatArray, faces: IntArray) -> FloatArray:
    """(k,) how often a closed mesh encloses each point: 1 inside, 0 outside.

    References:
        Van Oosterom and Strackee, "The solid angle of a plane triangle", 1983.
    """
    corners = vertices[faces]
    found = [np.zeros(0)]
    step = max(1, _AT_ONCE // len(faces))
    for start in range(0, len(points), step):
        seen = corners[None] - points[start : start + step, None, None]
        la, lb, lc = np.moveaxis(np.sqrt(np.einsum("pfki,pfki->pfk", seen, seen)), 2, 0)
        a, b, c = np.moveaxis(seen, 2, 0)
        top = np.einsum("pfi,pfi->pf", a, np.cross(b, c))
        below = la * lb * lc + np.einsum("pfi,pfi->pf", a, b) * lc
        below += np.einsum("pfi,pfi->pf", b, c) * la + np.einsum("pfi,pfi->pf", c, a) * lb
        found.append(np.arctan2(top, below).sum(axis=1) / (2.0 * np.pi))
    return np.concatenate(found)


def overlaps(
    vertices: FloatArray, faces: IntArray, samples: int = 600
) -> tuple[float, FloatArray, bool]:
    """Where a closed mesh's surface lies inside or outside of where it should.

    Just below a face of a sound mesh a point is enclosed once, just above it not at all. Below a
    sheet that is thinner than the step it is not enclosed either, as it is beyond the other side.

    Returns:
        The share of the surface; (3,) a point of it, about its middle; whether most of it is
        nowhere near an inside: a sheet thinner than the step.
    """
    a, b, c = np.moveaxis(vertices[faces], 1, 0)
    normals = np.cross(b - a, c - a)
    areas = np.linalg.norm(normals, axis=1)
    total = np.cumsum(areas)
    picks = np.searchsorted(total, (np.arange(samples) + 0.5) / samples * total[-1])
    picks = np.minimum(picks, len(faces) - 1)
    middles = vertices[faces[picks]].mean(axis=1)
    outward = normals[picks] / np.maximum(areas[picks], 1e-300)[:, None]
    below = 1e-4 * float(np.ptp(vertices, axis=0).max()) * -outward
    numbers = winding_numbers(middles + below, vertices, faces)
    wrong = np.abs(numbers - 1.0) > 0.5
    if not wrong.any():
        return 0.0, middles[0], False
    above = winding_numbers((middles - below)[wrong], vertices, faces)
    thin = (np.abs(numbers[wrong]) < 0.5) & (np.abs(above) < 0.5)
    places = middles[wrong]
    nearest = np.linalg.norm(places - places.mean(axis=0), axis=1).argmin()
    return float(wrong.mean()), places[nearest], bool(thin.mean() > 0.5)
