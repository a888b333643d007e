"""Makes one closed solid of a mesh, as far as that is safe, and says what was done."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from physim.importer import winding
from physim.importer.holes import fill_holes
from physim.importer.problems import Problem, place
from physim.importer.solids import IntArray, Solid
from physim.values import FloatArray

MOST_FACES = 20_000
MOST_BODIES = 200
SEAM = 1e-5  # of the longest side: vertices nearer to each other are one
_FLAT = 1e-4  # of the box's volume, or of its longest side: as `pigs.mesh`
_FINE, _COARSE = 5e-5, 3e-3  # of the longest side: how far simplifying may move a surface
_CRUMB = 1e-4  # of the volume
_OVERLAP = 0.01  # of the surface


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
    open_sides = winding.pair_up(faces)[2]
    if len(open_sides):
        ends, _, turned = winding.edges_of(faces)
        filled = fill_holes(vertices, faces, ends[open_sides], turned[open_sides], size, out)
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
    if len(winding.pair_up(faces)[2]):  # open edges: perhaps a seam that rounding opened
        merged = _near(same, SEAM * size)
        nearly = len(same) - int(merged.max()) - 1
        faces, keep = merged[faces], np.unique(merged, return_index=True)[1]
        same = same[keep]
    distinct = (faces != np.roll(faces, 1, axis=1)).all(axis=1)
    _, once = np.unique(np.sort(faces, axis=1), axis=0, return_index=True)
    kept = np.zeros(len(faces), dtype=bool)
    kept[once] = True
    kept &= distinct
    if not kept.all():
        out.note("faces", f"{int((~kept).sum())} without area or twice there", "left out")
    if exact or nearly:
        out.note("seams", f"{exact + nearly} doubled vertices", "welded")
    return same, faces[kept]


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
    if not abs(signed[order[0]]) > _FLAT * float(np.prod(np.ptp(vertices, axis=0))):
        return out.refuse("flat", "the whole mesh", "give it thickness: it encloses no volume")
    if signed[order[0]] < 0:
        faces, signed = faces[:, ::-1], -signed
        out.note("inside out", "the whole mesh", "all faces turned round")
    added: list[Solid] = []
    cavities: list[Solid] = []
    main = faces[bodies == order[0]]
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
        if not inward:
            added.append(solid)
        elif _inside(vertices[of_body[0, 0]], vertices, main):
            cavities.append(solid)
            out.note("cavity", where, "a hollow inside: kept empty")
        else:
            added.append(solid)
            out.note("winding", where, "a body that was inside out was turned round")
    return _one_body(added, cavities, size, largest, out)


def _inside(point: FloatArray, vertices: FloatArray, faces: IntArray) -> bool:
    return bool(winding.winding_numbers(point[None], vertices, faces)[0] > 0.5)


def _one_body(
    added: list[Solid], cavities: list[Solid], size: float, largest: bool, out: Repaired
) -> Repaired:
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
    solid = added[0] if len(added) == 1 else Solid.union(added)
    pieces = solid.separate()
    if len(added) > 1:
        out.note("bodies", f"{len(added)} bodies", f"joined by a union to {len(pieces)}")
    crumbs = [p for p in pieces[1:] if p.volume < _CRUMB * pieces[0].volume]
    for piece in crumbs:
        out.note("crumb", place(piece.bounds.mean(axis=0)), "a tiny loose body was left out")
    loose = pieces[1 : len(pieces) - len(crumbs)]
    if loose and not largest:
        return out.refuse(
            "bodies",
            "; ".join(place(piece.bounds.mean(axis=0)) for piece in loose[:3]),
            f"not touched by the largest body ({len(loose)} in all): join the bodies in the 3D "
            "program, or keep the largest alone with --largest",
        )
    for piece in loose:
        out.note(
            "bodies", place(piece.bounds.mean(axis=0)), "a loose body was left out (--largest)"
        )
    if len(pieces) > 1:
        solid = pieces[0]
    for cavity in cavities:
        solid = solid.minus(cavity)
    return _simplified(solid, size, out)


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
    if abs(fewer.volume - solid.volume) > 0.005 * solid.volume or fewer.faces < 4:
        fewer = solid
    if solid.faces > MOST_FACES:
        out.note(
            "faces",
            f"{solid.faces:,} faces",
            f"simplified to {fewer.faces:,}; no surface moved by more than {tolerance:.2g} mm",
        )
    out.solid = fewer
    return out
