"""Makes one closed solid of a mesh, as far as that is safe, and says what was done."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from itertools import groupby, pairwise

import numpy as np

from physim.importer import winding
from physim.importer.solids import IntArray, Problem, Solid, place
from physim.importer.winding import Sides
from physim.types import FloatArray

MOST_FACES = 20_000
MOST_BODIES = 200
MOST_HOLES = 500
SMALL = 0.12  # of the longest side: a hole that is wider is refused
SEAM = 1e-5  # of the longest side: vertices nearer to each other are one
_ROUNDS = 20  # of stitching; each treats one side of a face
# Of the longest side: how far from an edge a vertex on it may be.
_NEAR = (1e-8, 1e-6, 1e-5, 3e-5, 1e-4)
_FLAT = 1e-4  # of the box's volume, or of its longest side: as `pigs.mesh`
_FINE, _COARSE = 5e-5, 3e-3  # of the longest side: how far simplifying may move a surface
_CRUMB = 1e-4  # of the volume
_OVERLAP = 0.01  # of the surface
_CONTACT = 0.01  # of the longest side: bodies that touch on less than its square are apart
_TOUCH = 1e-3  # of the square of that: a hollow that reaches a surface by less is inside
_IN_3D = "in the 3D program"
Mesh = tuple[FloatArray, IntArray]


@dataclass
class Repaired:
    """A solid [mm, the file's axes], or None, and what was found on the way."""

    solid: Solid | None = None
    problems: list[Problem] = field(default_factory=list)

    def note(self, kind: str, where: str, action: str) -> None:
        """Something that was put right."""
        self.problems.append(Problem(kind, where, action))


class _RefusedError(Exception):
    """A mesh that its maker must put right: kind, place and what to do."""


def repair(vertices_mm: FloatArray, faces: IntArray, largest: bool) -> Repaired:
    """Welds, winds, closes, joins and simplifies.

    Args:
        vertices_mm: (n, 3) [mm].
        faces: (m, 3) vertex indices.
        largest: keep only the largest of several bodies that do not touch.
    """
    out = Repaired()
    try:
        out.solid = _repaired(vertices_mm, faces, largest, out)
    except _RefusedError as refused:
        kind, where, action = refused.args
        out.problems.append(Problem(kind, where, action, solved=False))
    return out


def _repaired(vertices: FloatArray, faces: IntArray, largest: bool, out: Repaired) -> Solid:
    size = float(np.ptp(vertices[np.unique(faces)], axis=0).max())
    vertices, faces = _welded(vertices, faces, size, out)
    if len(faces) < 4 or np.ptp(vertices, axis=0).min() < _FLAT * size:
        raise _RefusedError("flat", "the whole mesh", "give it thickness: it encloses no volume")
    if not Sides(faces).closed:
        vertices, faces = _stitched(vertices, faces, size, out)
    vertices, faces = _filled(vertices, faces, out)
    wound = winding.consistent(faces)
    if wound is None:
        action = "it has no inside, as a Möbius band; close it to a solid"
        raise _RefusedError("one-sided", "the whole mesh", action)
    faces, bodies, turned_round = wound
    if turned_round:
        out.note("winding", f"{turned_round} faces", "turned round to agree with their neighbours")
    if bodies.max() >= MOST_BODIES:
        raise _RefusedError("bodies", f"{bodies.max() + 1} bodies", f"join them to one {_IN_3D}")
    shells = _shells(vertices, faces, bodies, size, out)
    for solid, cavity in shells:
        if not cavity:
            _refuse_overlap(solid, size)
    return _simplified(_one_body(shells, size, largest, out), out)


def _welded(vertices: FloatArray, faces: IntArray, size: float, out: Repaired) -> Mesh:
    """Vertices in one place become one; faces without area that this leaves go."""
    from scipy.spatial import cKDTree

    used, inverse = np.unique(faces, return_inverse=True)
    same, first = np.unique(vertices[used], axis=0, return_inverse=True)
    faces = first.reshape(-1)[inverse.reshape(-1, 3)]
    if not Sides(faces).closed:  # perhaps a seam that rounding opened
        pairs = cKDTree(same).query_pairs(SEAM * size, output_type="ndarray")
        merged = winding.linked(pairs, len(same))
        faces, same = merged[faces], same[np.unique(merged, return_index=True)[1]]
    before = len(faces)
    faces, _ = winding.once(faces[(faces != np.roll(faces, 1, axis=1)).all(axis=1)])
    if len(faces) < before:
        out.note("faces", f"{before - len(faces)} without area or twice there", "left out")
    if len(same) < len(used):
        out.note("seams", f"{len(used) - len(same)} doubled vertices", "welded")
    return same, faces


def _stitched(vertices: FloatArray, faces: IntArray, size: float, out: Repaired) -> Mesh:
    """Closes what is open without a hole, and parts bodies that share edges."""
    flat = put_in = 0
    for near in _NEAR:  # what is exact first: fine details are as small as coarse rounding
        a, b, c = np.moveaxis(vertices[faces], 1, 0)
        longest = np.linalg.norm(np.stack([b - a, c - b, a - c]), axis=2).max(axis=0)
        doubled_area = np.linalg.norm(np.cross(b - a, c - a), axis=1)
        thick = doubled_area > min(near, SEAM) * size * np.maximum(longest, 1e-300)
        if not thick.any():
            action = "they have no area; give the mesh thickness"
            raise _RefusedError("flat", "all faces", action)
        faces, more = _put_in(vertices, faces[thick], near * size)
        flat, put_in = flat + int((~thick).sum()), put_in + more
        if not len(Sides(faces).unbalanced):
            break
    if flat:
        out.note("faces", f"{flat} without area", "left out")
    if put_in:
        out.note("edges", f"{put_in} vertices that lie on an edge", "put into it")
    faces, doubled = winding.once(faces)
    faces, flaps = winding.without_sheets(vertices, faces, SEAM * size)
    if not len(faces):
        action = "its faces are not joined: join them to a solid"
        raise _RefusedError("sheets", "the whole mesh", action)
    if doubled + flaps:
        out.note("sheets", f"{doubled + flaps} faces that enclose nothing", "left out")
    vertices, faces, odd = winding.parted(vertices, faces)
    if len(odd):
        where = place(vertices[odd].mean(axis=(0, 1)))
        action = f"three faces or more meet in an edge; part them {_IN_3D}"
        raise _RefusedError("edges", where, action)
    return vertices, faces


def _put_in(vertices: FloatArray, faces: IntArray, near: float) -> tuple[IntArray, int]:
    """The faces with every vertex put in that lies on one of their sides (T-junctions).

    Sides at which the faces do not run as often one way as the other are in question, and the
    ends of such sides. Of a body that stands alone these are the open ones.

    Args:
        vertices: (n, 3).
        faces: (m, 3).
        near: how far from a side such a vertex may be, same unit.

    Returns:
        (k, 3) the faces; how many vertices were put in.
    """
    count = 0
    for _ in range(_ROUNDS):
        sides = Sides(faces).unbalanced  # also of one body's edge on which another's lies parted
        ends = np.stack([faces.T.ravel()[sides], np.roll(faces, -1, axis=1).T.ravel()[sides]], 1)
        chains: dict[int, list[int]] = {}
        for side, chain in zip(sides.tolist(), _chains(vertices, ends, near), strict=True):
            if len(chain) > 2:
                chains.setdefault(side % len(faces), chain)
        if not chains:
            break
        added = []
        for face, chain in chains.items():
            count += len(chain) - 2
            apex = int(faces[face].sum()) - chain[0] - chain[-1]
            added += [(a, b, apex) for a, b in pairwise(chain) if apex not in (a, b)]
        faces = np.concatenate([np.delete(faces, list(chains), axis=0), np.array(added)])
    return faces, count


def _chains(vertices: FloatArray, ends: IntArray, distance: float) -> list[list[int]]:
    """Of each side (k, 2): its ends, with the ends of the others that lie on it."""
    from scipy.spatial import cKDTree

    if not len(ends):
        return []
    points = np.unique(ends)
    first, last = vertices[ends[:, 0]], vertices[ends[:, 1]]
    lengths = np.linalg.norm(last - first, axis=1)
    tree = cKDTree(vertices[points])
    near = tree.query_ball_point((first + last) / 2.0, lengths / 2.0 + distance)
    chains = []
    for (start, end), candidates, length in zip(ends.tolist(), near, lengths, strict=True):
        on = points[candidates]
        along = (vertices[end] - vertices[start]) / max(length, 1e-300)
        seen = vertices[on] - vertices[start]
        way = seen @ along
        off = np.linalg.norm(seen - np.outer(way, along), axis=1)
        between = (off <= distance) & (way > distance) & (way < length - distance)
        chains.append([start, *on[between][np.argsort(way[between])].tolist(), end])
    return chains


def _filled(vertices: FloatArray, faces: IntArray, out: Repaired) -> Mesh:
    """With the small holes closed; another one is refused."""
    sides = Sides(faces)
    alone = sides.meeting == 1
    if not alone.any():
        return vertices, faces
    rims = np.where(sides.backward[:, None], sides.ends[:, ::-1], sides.ends)[alone]
    loops = _loops(rims)
    if loops is None or len(loops) > MOST_HOLES:
        where = place(vertices[rims].mean(axis=(0, 1)))
        raise _RefusedError("holes", where, f"the mesh is open in many places; close it {_IN_3D}")
    # Beside the longest side of the largest piece's box; others may lie far from it.
    piece = winding.linked(sides.ends, len(vertices))[sides.ends[:, 0]]
    boxes = (np.ptp(vertices[sides.ends[piece == k]], axis=(0, 1)) for k in np.unique(piece))
    widest = SMALL * max(float(box.max()) for box in boxes)
    points, added = [vertices], [faces]
    for middle, loop in enumerate(loops, len(vertices)):
        rim = vertices[loop]
        # How wide it is across, the way that is the narrower: a slit is as wide as it gapes.
        spokes = rim - rim.mean(axis=0)
        doubled_area = np.linalg.norm(np.cross(spokes, np.roll(spokes, -1, axis=0)), axis=1).sum()
        longest = float(np.ptp(rim, axis=0).max())
        wide = min(longest, float(doubled_area) / max(longest, 1e-300))
        where = f"{place(rim.mean(axis=0))}, {wide:.1f} mm wide"
        if wide > widest:
            raise _RefusedError("hole", where, f"too wide to be closed safely; close it {_IN_3D}")
        out.note("hole", where, "closed")
        points.append(rim.mean(axis=0)[None])
        added.append(np.stack([np.roll(loop, -1), loop, np.full(len(loop), middle)], axis=1))
    return np.concatenate(points), np.concatenate(added)


def _loops(sides: IntArray) -> list[IntArray] | None:
    """Rims of the holes, each along its faces' sides; None where rims cross."""
    near: dict[int, list[int]] = defaultdict(list)
    for a, b in sides.tolist():
        near[a].append(b)
        near[b].append(a)
    if any(len(ends) != 2 for ends in near.values()):
        return None
    onward = dict(sides.tolist())
    loops = []
    for start in list(near):
        if start not in near:
            continue
        loop = [start, onward.get(start, near[start][0])]
        while loop[-1] != start:
            one, other = near[loop[-1]]
            loop.append(other if one == loop[-2] else one)
        loops.append(np.array(loop[:-1], dtype=np.int64))
        for vertex in loop[:-1]:
            del near[vertex]
    return loops


def _shells(
    vertices: FloatArray, faces: IntArray, bodies: IntArray, size: float, out: Repaired
) -> list[tuple[Solid, bool]]:
    """The bodies, the largest first, wound outwards, each with whether it is a cavity."""
    signed = winding.volumes(vertices, faces, bodies)
    order = np.argsort(-np.abs(signed))
    first = vertices[faces[bodies == order[0]]].reshape(-1, 3)
    if not abs(signed[order[0]]) > _FLAT * float(np.prod(np.ptp(first, axis=0))):
        raise _RefusedError("flat", "the whole mesh", "give it thickness: it encloses no volume")
    if signed[order[0]] < 0:
        faces, signed = faces[:, ::-1], -signed
        out.note("inside out", "the whole mesh", "all faces turned round")
    solids: list[tuple[Solid, str]] = []
    for body in order.tolist():
        of_body = faces[bodies == body]
        where = place(vertices[of_body].mean(axis=(0, 1)))
        if abs(signed[body]) < _CRUMB**2 * signed[order[0]]:
            out.note("crumb", where, "a body of almost no volume was left out")
            continue
        inward = signed[body] < 0
        solid = Solid.of(vertices, of_body[:, ::-1] if inward else of_body)
        if solid is None:
            action = f"more than two faces meet in an edge; separate them {_IN_3D}"
            raise _RefusedError("edges", where, action)
        solids.append((solid, where if inward else ""))
    outward = Solid.union([solid for solid, inward_at in solids if not inward_at])
    near = 2.0 * SEAM * size  # what ends in the surface of another one is not inside
    shells = []
    for solid, inward_at in solids:
        cavity = bool(inward_at) and all(
            solid.turned(np.eye(3), way).minus(outward).volume < near * _TOUCH * size**2
            for way in near * np.concatenate([np.eye(3), -np.eye(3)])
        )
        shells.append((solid, cavity))
        if cavity:
            out.note("cavity", inward_at, "a hollow inside: kept empty")
        elif inward_at:
            out.note("winding", inward_at, "a body that was inside out was turned round")
    return shells


def _refuse_overlap(solid: Solid, size: float) -> None:
    """Refuses what overlaps itself; sheets that cross when simplified are seen in more faces."""
    for faces, tolerance in ((4_000, _COARSE), (50_000, _FINE)):
        fewer = solid.simplified(tolerance * size) if solid.faces > faces else solid
        share, middle, thin = winding.overlaps(*fewer.mesh())
        if share <= _OVERLAP:
            return
        if fewer is solid:
            break
    where = f"{place(middle)}, {share:.0%} of the surface"
    if thin:
        action = "thinner than the samples can tell apart; give it thickness"
        raise _RefusedError("too thin", where, action)
    action = f"it runs through itself; remesh it {_IN_3D} (Blender: Remesh, voxel)"
    raise _RefusedError("self-overlap", where, action)


def _one_body(shells: list[tuple[Solid, bool]], size: float, largest: bool, out: Repaired) -> Solid:
    # The larger ones first: a body may lie in the cavity of a larger one.
    solid = shells[0][0]
    for cavity, group in groupby(shells[1:], key=lambda shell: shell[1]):
        others = [one for one, _ in group]
        solid = solid.minus(Solid.union(others)) if cavity else Solid.union([solid, *others])
    solid, *loose = solid.separate()
    while loose and loose[-1].volume < 0:
        vertices, faces = loose.pop().mesh()
        filled = Solid.of(vertices, faces[:, ::-1])
        solid = solid if filled is None else solid.minus(filled)
    while loose and loose[-1].volume < _CRUMB * solid.volume:
        where = place(loose.pop().bounds.mean(axis=0))
        out.note("crumb", where, "a tiny loose body was left out")
    near = 2.0 * SEAM * size
    for piece in loose * len(loose):  # perhaps rounding alone keeps a face of it apart
        grown = piece.grown(near)
        if piece in loose and solid.halves(grown)[0].volume > near * (_CONTACT * size) ** 2:
            solid = Solid.union([solid, grown])
            loose.remove(piece)
    bodies = sum(not cavity for _, cavity in shells)
    if bodies > 1:
        out.note("bodies", f"{bodies} bodies", f"joined by a union to {len(loose) + 1}")
    places = [place(piece.bounds.mean(axis=0)) for piece in loose]
    if loose and not largest:
        raise _RefusedError(
            "bodies",
            "; ".join(places[:3]),
            f"no face of it touches the largest body ({len(loose)} such bodies in all): join the "
            f"bodies {_IN_3D}, or keep the largest alone with --largest",
        )
    for where in places:
        out.note("bodies", where, "a loose body was left out (--largest)")
    return solid


def _simplified(solid: Solid, out: Repaired) -> Solid:
    size = float(np.ptp(solid.bounds, axis=0).max())
    tolerance = _FINE * size
    fewer = solid.simplified(tolerance)
    while fewer.faces > MOST_FACES and tolerance < _COARSE * size:
        tolerance *= 1.5
        fewer = solid.simplified(tolerance)
    found = f"{solid.faces:,} faces"
    if fewer.faces > MOST_FACES:
        action = f"too rough to be simplified to {MOST_FACES:,}; smooth and simplify it"
        raise _RefusedError("faces", found, action)
    # No surface has moved farther than that, unless the library went wrong.
    if abs(fewer.volume - solid.volume) > tolerance * solid.area or fewer.faces < 4:
        fewer = solid
    if solid.faces > MOST_FACES:
        moved = f"no surface moved by more than {tolerance:.2g} mm"
        out.note("faces", found, f"simplified to {fewer.faces:,}; {moved}")
    return fewer
