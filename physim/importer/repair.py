"""Makes one closed solid of a mesh, as far as that is safe, and says what was done."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import groupby

import numpy as np

from physim.importer import winding
from physim.importer.holes import fill_holes, stitched
from physim.importer.solids import IntArray, Problem, Solid, place
from physim.types import FloatArray

MOST_FACES = 20_000
MOST_BODIES = 200
SEAM = 1e-5  # of the longest side: vertices nearer to each other are one
# Of the longest side: how far from an edge a vertex on it may be.
_NEAR = (1e-8, 1e-6, 1e-5, 3e-5, 1e-4)
_FLAT = 1e-4  # of the box's volume, or of its longest side: as `pigs.mesh`
_FINE, _COARSE = 5e-5, 3e-3  # of the longest side: how far simplifying may move a surface
_CRUMB = 1e-4  # of the volume
_OVERLAP = 0.01  # of the surface
_CONTACT = 0.01  # of the longest side: bodies that touch on less than its square are apart
_SAMPLES = 400  # points of a body


@dataclass
class Repaired:
    """A solid [mm, the file's axes], or None, and what was found on the way."""

    solid: Solid | None = None
    problems: list[Problem] = field(default_factory=list)

    def refuse(self, kind: str, where: str, action: str) -> Repaired:
        """Without a solid."""
        self.problems.append(Problem(kind, where, action, solved=False))
        self.solid = None
        return self

    def note(self, kind: str, where: str, action: str) -> None:
        """Something that was put right."""
        self.problems.append(Problem(kind, where, action))


def repair(vertices_mm: FloatArray, faces: IntArray, largest: bool) -> Repaired:
    """Welds, winds, closes, joins and simplifies.

    Args:
        vertices_mm: (n, 3) [mm].
        faces: (m, 3) vertex indices.
        largest: keep only the largest of several bodies that do not touch.
    """
    out = Repaired()
    size = float(np.ptp(vertices_mm[np.unique(faces)], axis=0).max())
    vertices, faces = _welded(vertices_mm, faces, size, out)
    if len(faces) < 4 or np.ptp(vertices, axis=0).min() < _FLAT * size:
        return out.refuse("flat", "the whole mesh", "give it thickness: it encloses no volume")
    if not winding.is_closed(faces):
        stitched = _stitched(vertices, faces, size, out)
        if stitched is None:
            return out
        vertices, faces = stitched
    open_sides = winding.pair_up(faces)[2]
    if len(open_sides):
        ends, _, turned = winding.edges_of(faces)
        rims = ends[open_sides], turned[open_sides]
        filled = fill_holes(vertices, faces, *rims, _largest_piece(vertices, faces), out)
        if filled is None:
            return out
        vertices, faces = filled
    wound = winding.consistent(faces)
    if wound is None:
        return out.refuse(
            "one-sided", "the whole mesh", "it has no inside, as a Möbius band; close it to a solid"
        )
    faces, bodies, turned_round = wound
    if turned_round:
        out.note("winding", f"{turned_round} faces", "turned round to agree with their neighbours")
    if bodies.max() >= MOST_BODIES:
        return out.refuse(
            "bodies", f"{bodies.max() + 1} bodies", "join them to one in the 3D program"
        )
    return _joined(vertices, faces, bodies, size, largest, out)


def _largest_piece(vertices: FloatArray, faces: IntArray) -> float:
    """The longest side of the pieces' boxes; others may lie far from it."""
    starts, ends = faces[:, :2].reshape(-1), faces[:, 1:].reshape(-1)
    piece = winding.linked(starts, ends, len(vertices))[faces[:, 0]]
    low = np.full((int(piece.max()) + 1, 3), np.inf)
    high = -low
    np.minimum.at(low, piece, vertices[faces].min(axis=1))
    np.maximum.at(high, piece, vertices[faces].max(axis=1))
    return float((high - low).max())


def _welded(
    vertices: FloatArray, faces: IntArray, size: float, out: Repaired
) -> tuple[FloatArray, IntArray]:
    """Vertices in one place become one; faces without area that this leaves go."""
    used, inverse = np.unique(faces, return_inverse=True)
    points, faces = vertices[used], inverse.reshape(-1, 3)
    same, first = np.unique(points, axis=0, return_inverse=True)
    faces = first.reshape(-1)[faces]
    exact = len(points) - len(same)
    nearly = 0
    if not winding.is_closed(faces):  # perhaps a seam that rounding opened
        merged = _near(same, SEAM * size)
        nearly = len(same) - int(merged.max()) - 1
        faces, keep = merged[faces], np.unique(merged, return_index=True)[1]
        same = same[keep]
    before = len(faces)
    faces, _ = winding.once(faces[(faces != np.roll(faces, 1, axis=1)).all(axis=1)])
    if len(faces) < before:
        out.note("faces", f"{before - len(faces)} without area or twice there", "left out")
    if exact or nearly:
        out.note("seams", f"{exact + nearly} doubled vertices", "welded")
    return same, faces


def _stitched(
    vertices: FloatArray, faces: IntArray, size: float, out: Repaired
) -> tuple[FloatArray, IntArray] | None:
    """Closes what is open without a hole, and parts bodies that share edges; None if it cannot."""
    flat = put_in = 0
    for near in _NEAR:  # what is exact first: fine details are as small as coarse rounding
        thick = winding.heights(vertices, faces) > min(near, SEAM) * size
        if not thick.any():
            out.refuse("flat", "all faces", "they have no area; give the mesh thickness")
            return None
        faces, more = stitched(vertices, faces[thick], near * size)
        flat, put_in = flat + int((~thick).sum()), put_in + more
        if not len(winding.unbalanced(faces)):
            break
    if flat:
        out.note("faces", f"{flat} without area", "left out")
    if put_in:
        out.note("edges", f"{put_in} vertices that lie on an edge", "put into it")
    faces, doubled = winding.once(faces)
    faces, flaps = winding.without_sheets(vertices, faces, SEAM * size)
    if not len(faces):
        out.refuse("sheets", "the whole mesh", "its faces are not joined: join them to a solid")
        return None
    if doubled + flaps:
        out.note("sheets", f"{doubled + flaps} faces that enclose nothing", "left out")
    vertices, faces, odd = winding.parted(vertices, faces)
    if len(odd):
        where = place(vertices[odd].mean(axis=(0, 1)))
        out.refuse(
            "edges", where, "three faces or more meet in an edge; part them in the 3D program"
        )
        return None
    return vertices, faces


def _near(points: FloatArray, distance: float) -> IntArray:
    """(n,) a number for each point, the same for those within `distance` of each other."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components
    from scipy.spatial import cKDTree

    pairs = cKDTree(points).query_pairs(distance, output_type="ndarray")
    links = coo_array((np.ones(len(pairs), np.int8), tuple(pairs.T)), (len(points), len(points)))
    return np.asarray(connected_components(links, directed=False)[1], dtype=np.int64)


def _joined(
    vertices: FloatArray,
    faces: IntArray,
    bodies: IntArray,
    size: float,
    largest: bool,
    out: Repaired,
) -> Repaired:
    """One solid of all bodies."""
    signed = winding.volumes(vertices, faces, bodies)
    order = np.argsort(-np.abs(signed))
    first = vertices[faces[bodies == order[0]]].reshape(-1, 3)
    if not abs(signed[order[0]]) > _FLAT * float(np.prod(np.ptp(first, axis=0))):
        return out.refuse("flat", "the whole mesh", "give it thickness: it encloses no volume")
    if signed[order[0]] < 0:
        faces, signed = faces[:, ::-1], -signed
        out.note("inside out", "the whole mesh", "all faces turned round")
    shells: list[tuple[Solid, bool]] = []  # each with whether it is a cavity, the largest first
    outward = faces[np.isin(bodies, np.flatnonzero(signed > 0))]
    for body in order.tolist():
        of_body = faces[bodies == body]
        where = place(vertices[of_body].mean(axis=(0, 1)))
        if abs(signed[body]) < _CRUMB**2 * signed[order[0]]:
            out.note("crumb", where, "a body of almost no volume was left out")
            continue
        inward = signed[body] < 0
        solid = Solid.of(vertices, of_body[:, ::-1] if inward else of_body)
        if solid is None:
            return out.refuse(
                "edges",
                where,
                "more than two faces meet in an edge; separate them in the 3D program",
            )
        cavity = inward and _inside(of_body, vertices, outward)
        shells.append((solid, cavity))
        if cavity:
            out.note("cavity", where, "a hollow inside: kept empty")
        elif inward:
            out.note("winding", where, "a body that was inside out was turned round")
    return _one_body(shells, size, largest, out)


def _inside(of_body: IntArray, vertices: FloatArray, outward: IntArray) -> bool:
    """Whether all of a body lies inside of those that are wound outwards, its faces inwards.

    It is looked at a little off its surface: what ends in the surface of another is not inside.
    """
    a, b, c = (vertices[of_body[:, k]] for k in range(3))
    inward = np.cross(b - a, c - a)
    inward /= np.maximum(np.linalg.norm(inward, axis=1, keepdims=True), 1e-300)
    at, of = np.unique(of_body.T, return_inverse=True)
    mean = np.zeros((len(at), 3))
    np.add.at(mean, of.reshape(-1), np.tile(inward, (3, 1)))
    off = 2.0 * SEAM * float(np.ptp(vertices, axis=0).max())
    points = np.concatenate([vertices[at] - off * mean, (a + b + c) / 3.0 - off * inward])
    step = len(points) // _SAMPLES + 1
    return bool((winding.winding_numbers(points[::step], vertices, outward) > 0.75).all())


def _one_body(
    shells: list[tuple[Solid, bool]], size: float, largest: bool, out: Repaired
) -> Repaired:
    added = [solid for solid, cavity in shells if not cavity]
    for solid in added:
        wrong = _overlap(solid, size)
        if wrong.share > _OVERLAP:
            where = f"{place(wrong.middle)}, {wrong.share:.0%} of the surface"
            if wrong.thin:
                return out.refuse(
                    "too thin",
                    where,
                    "thinner than the samples can tell apart; give it thickness",
                )
            return out.refuse(
                "self-overlap",
                where,
                "it runs through itself; remesh it in the 3D program (Blender: Remesh, voxel)",
            )
    # The larger ones first: a body may lie in the cavity of a larger one.
    solid = added[0]
    for cavity, group in groupby(shells[1:], key=lambda shell: shell[1]):
        others = [one for one, _ in group]
        solid = solid.minus(Solid.union(others)) if cavity else Solid.union([solid, *others])
    pieces = solid.separate()
    hollows = [piece for piece in pieces if piece.volume < 0]
    pieces = pieces[: len(pieces) - len(hollows)]
    crumbs = [p for p in pieces[1:] if p.volume < _CRUMB * pieces[0].volume]
    for piece in crumbs:
        out.note("crumb", place(piece.bounds.mean(axis=0)), "a tiny loose body was left out")
    loose = pieces[1 : len(pieces) - len(crumbs)]
    solid = pieces[0]
    for hollow in hollows:
        vertices, faces = hollow.mesh()
        filled = Solid.of(vertices, faces[:, ::-1])
        solid = solid if filled is None else solid.minus(filled)
    near = 2.0 * SEAM * size
    for piece in loose * len(loose):  # perhaps rounding alone keeps a face of it apart
        grown = piece.grown(near)
        if piece in loose and solid.halves(grown)[0].volume > near * (_CONTACT * size) ** 2:
            solid = Solid.union([solid, grown])
            loose.remove(piece)
    if len(added) > 1:
        out.note("bodies", f"{len(added)} bodies", f"joined by a union to {len(loose) + 1}")
    if loose and not largest:
        return out.refuse(
            "bodies",
            "; ".join(place(piece.bounds.mean(axis=0)) for piece in loose[:3]),
            f"no face of it touches the largest body ({len(loose)} such bodies in all): join the "
            "bodies in the 3D program, or keep the largest alone with --largest",
        )
    for piece in loose:
        out.note(
            "bodies", place(piece.bounds.mean(axis=0)), "a loose body was left out (--largest)"
        )
    return _simplified(solid, float(np.ptp(solid.bounds, axis=0).max()), out)


def _overlap(solid: Solid, size: float) -> winding.Wrong:
    """Where it overlaps itself; sheets that few faces make cross themselves are seen in more."""
    wrong = winding.Wrong()
    for faces, tolerance in ((4_000, _COARSE), (50_000, _FINE)):
        fewer = solid.simplified(tolerance * size) if solid.faces > faces else solid
        wrong = winding.overlaps(*fewer.mesh())
        if wrong.share <= _OVERLAP or fewer is solid:
            break
    return wrong


def _simplified(solid: Solid, size: float, out: Repaired) -> Repaired:
    tolerance = _FINE * size
    fewer = solid.simplified(tolerance)
    while fewer.faces > MOST_FACES and tolerance < _COARSE * size:
        tolerance *= 1.5
        fewer = solid.simplified(tolerance)
    if fewer.faces > MOST_FACES:
        return out.refuse(
            "faces",
            f"{solid.faces:,} faces",
            f"too rough to be simplified to {MOST_FACES:,}; smooth and simplify it",
        )
    # No surface has moved farther than that, unless the library went wrong.
    if abs(fewer.volume - solid.volume) > tolerance * solid.area or fewer.faces < 4:
        fewer = solid
    if solid.faces > MOST_FACES:
        out.note(
            "faces",
            f"{solid.faces:,} faces",
            f"simplified to {fewer.faces:,}; no surface moved by more than {tolerance:.2g} mm",
        )
    out.solid = fewer
    return out
