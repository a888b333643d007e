"""Convex collision parts of a solid, labelled: cut at the landmarks, then decomposed.

Approximate convex decomposition by CoACD: the importer's only door to it.

References:
    Wei et al., "Approximate convex decomposition for 3D meshes with collision-aware concavity
    and tree search", ACM TOG 2022.

Results that take seconds, kept in the user's cache folder by what they were made from.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import pickle
import platform
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, TypeVar, cast

import numpy as np

import physim
from physim import precomputed
from physim.importer import hulls
from physim.importer.child import ChildError, run_limited
from physim.importer.landmarks import REST, SOLID, Box, cut
from physim.importer.solids import IntArray, Problem, Solid, volume_of
from physim.pigs.model import MOST_PARTS
from physim.poses.classify import FRONT_FEET, HIND_FEET, TRUNK_AND_TAIL
from physim.types import FloatArray

TIME_S = 25.0  # for all decompositions together
TOLERANCE = 1e-3  # of the longest side: the corners of a part that are left out
MOST_CORNERS = 600  # of all parts: the engine's time grows with them
CONVEX = 0.02  # a hull whose volume exceeds the piece's by less than this share is the piece
ALL = 0.9  # share of the mesh beyond which a box was hardly meant
ROUGH = 0.10  # share beyond which a single hull in place of a piece is worth a warning


@dataclass
class Parts:
    """Convex parts with labels; several may carry one.

    Attributes:
        corners: (label, (k, 3) corners [mm]) of each.
        shares: of the mesh's volume that each label took.
        problems: what there is to say.
        uncovered_mm: how far the mesh reaches out of the parts, at all samples (`hulls`).
        bulge_mm: how far the parts reach out of the mesh, at all samples.
    """

    corners: list[tuple[str, FloatArray]] = field(default_factory=list)
    shares: dict[str, float] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)
    uncovered_mm: float = 0.0
    bulge_mm: float = 0.0


def convex_parts(
    vertices: FloatArray, faces: IntArray, marks: Mapping[str, Box], time_s: float = TIME_S
) -> Parts:
    """The parts of a closed mesh [mm, the pig's axes].

    Args:
        vertices: (n, 3).
        faces: (m, 3) wound outwards.
        marks: boxes of the body parts.
        time_s: for the decomposition, after which slices take its place.

    Raises:
        ModelError: the mesh cannot be cut.
    """
    inputs = (vertices, faces, dict(marks), time_s)
    return cached("parts", inputs, lambda: _parts(*inputs), keep=lambda made: not _slow(made))


def _slow(parts: Parts) -> bool:
    """Whether a limit of time had its part in it, which another run may not meet."""
    return any(problem.kind == "decomposition" for problem in parts.problems)


def _parts(vertices: FloatArray, faces: IntArray, marks: Mapping[str, Box], time_s: float) -> Parts:
    out = Parts()
    size = float(np.ptp(vertices, axis=0).max())
    if marks:
        pieces = run_limited(_cut, vertices, faces, marks, time_s=30.0, doing="cutting the mesh")
        pieces = _few_enough(pieces)
    else:
        pieces = [Piece(SOLID, vertices, faces, volume_of(vertices, faces))]
    out.shares = _taken(pieces)
    out.problems += _told(out.shares, marks, vertices)
    for piece, count in zip(pieces, _counts(pieces), strict=True):
        out.corners += _decomposed(piece, count, size, time_s, out)
    labels = [label for label, _ in out.corners]
    corners, _ = hulls.few_corners([c for _, c in out.corners], MOST_CORNERS, TOLERANCE * size)
    out.corners = list(zip(labels, corners, strict=True))
    out.uncovered_mm, out.bulge_mm = hulls.distances(
        vertices, faces, [points for _, points in out.corners]
    )
    return out


@dataclass(frozen=True)
class Piece:
    """A piece of the mesh, as plain arrays: it comes from another process."""

    label: str
    vertices: FloatArray
    faces: IntArray
    volume: float

    @property
    def excess(self) -> float:
        """By how much its hull's volume is larger."""
        return hulls.volume(self.vertices) - self.volume


def _cut(vertices: FloatArray, faces: IntArray, marks: Mapping[str, Box]) -> list[Piece]:
    solid = Solid.of(vertices, faces)
    if solid is None:
        raise ValueError("the mesh is not closed")
    return [Piece(label, *piece.mesh(), piece.volume) for label, piece in cut(solid, marks)]


def _few_enough(pieces: list[Piece]) -> list[Piece]:
    """Small pieces of one label become one, until the engine can take all; no label is lost.

    There are no more labels than parts that the engine takes.
    """
    pieces = sorted(pieces, key=lambda piece: -piece.volume)
    while len(pieces) > MOST_PARTS:
        labels = [piece.label for piece in pieces]
        last = max(i for i, label in enumerate(labels) if labels.count(label) > 1)
        small, host = pieces.pop(last), labels.index(labels[last])
        merged = pieces[host]
        pieces[host] = Piece(
            merged.label,
            np.concatenate([merged.vertices, small.vertices]),
            np.concatenate([merged.faces, small.faces + len(merged.vertices)]),
            merged.volume + small.volume,
        )
    return pieces


def _taken(pieces: list[Piece]) -> dict[str, float]:
    """The share of the volume that each label took."""
    shares: dict[str, float] = {}
    for piece in pieces:
        shares[piece.label] = shares.get(piece.label, 0.0) + piece.volume
    total = sum(shares.values())
    return {label: volume / total for label, volume in shares.items()}


def _told(
    shares: Mapping[str, float], marks: Mapping[str, Box], vertices: FloatArray
) -> list[Problem]:
    """Boxes that took nothing or nearly all: poses that need what is missing are never read."""
    amend = "correct the boxes under `landmarks` in model.yaml, then `physim model build`"
    ends = " to ".join(f"({x:g}, {y:g}, {z:g})" for x, y, z in _ends(vertices))
    problems = []
    if nothing := [label for label in marks if label not in shares]:
        action = (
            f"nothing is taken of the mesh, which reaches from {ends} mm, or boxes before took it: "
            f"no part is so called{_unread(nothing)}; {amend}"
        )
        problems.append(Problem("landmarks", ", ".join(nothing), action))
    for label in marks:
        if shares.get(label, 0.0) > ALL:
            action = f"its box takes {shares[label]:.1%} of the mesh; {amend}"
            problems.append(Problem("landmarks", label, action))
    if marks and not set(TRUNK_AND_TAIL) & set(shares):
        action = f"the boxes leave nothing of it{_unread([REST])}; {amend}"
        problems.append(Problem("landmarks", REST, action))
    return problems


def _ends(vertices: FloatArray) -> list[list[float]]:
    """The least and the greatest coordinates, as a message tells them."""
    return [
        (np.round(end, 1) + 0.0).tolist() for end in (vertices.min(axis=0), vertices.max(axis=0))
    ]


def _unread(labels: list[str]) -> str:
    """Which poses of the rules need these parts (`poses.classify`), as the end of a sentence."""
    poses = {
        "snout": "snouter or leaning jowler at all",
        "left_ear": "leaning jowler on the left ear",
        "right_ear": "leaning jowler on the right ear",
        **dict.fromkeys(FRONT_FEET, "trotter, snouter or leaning jowler on that front foot"),
        **dict.fromkeys(HIND_FEET, "trotter"),
        REST: "razorback",
    }
    lost = dict.fromkeys(poses[label] for label in labels if label in poses)
    return f", so that no {', no '.join(lost)} is read" if lost else ""


def _counts(pieces: list[Piece]) -> list[int]:
    """How many parts each piece may become: those get most whose hulls are farthest off."""
    counts = [1] * len(pieces)
    excess = [piece.excess for piece in pieces]
    rough = [e > CONVEX * piece.volume for e, piece in zip(excess, pieces, strict=True)]
    for _ in range(MOST_PARTS - len(pieces)):
        need = [e / n**2 if r else 0.0 for e, n, r in zip(excess, counts, rough, strict=True)]
        if max(need) <= 0:
            break
        counts[int(np.argmax(need))] += 1
    return counts


def _decomposed(
    piece: Piece, count: int, size: float, time_s: float, out: Parts
) -> list[tuple[str, FloatArray]]:
    share = piece.excess / piece.volume
    if count == 1 or share < CONVEX:
        if share > ROUGH and piece.volume > 0.01 * size**3:
            out.problems.append(
                Problem("hull", piece.label, f"its hull stands for it, {share:.0%} more volume")
            )
        return [(piece.label, piece.vertices)]
    try:
        found = run_limited(
            _by_library, piece, count, size, time_s=time_s, doing=f"decomposing the {piece.label}"
        )
    except ChildError as error:
        out.problems.append(Problem("decomposition", piece.label, f"{error}; cut into slices"))
        found = run_limited(_by_slices, piece, count, time_s=time_s, doing="slicing the mesh")
    solid = [points for points in found if hulls.volume(points) > 0]
    if not solid:
        return [(piece.label, piece.vertices)]
    return [(piece.label, points) for points in hulls.covering(solid, piece.vertices)]


def _by_library(piece: Piece, count: int, size: float) -> list[FloatArray]:
    solid = Solid.of(piece.vertices, piece.faces)
    if solid is None:
        raise ValueError("a piece is not closed")
    found = decompose(*coarse(solid, size).mesh(), count)
    if not found or len(found) > count:
        raise ValueError(f"{len(found)} parts where {count} were asked for")
    return found


def _by_slices(piece: Piece, count: int) -> list[FloatArray]:
    solid = Solid.of(piece.vertices, piece.faces)
    if solid is None:
        raise ValueError("a piece is not closed")
    for slices in range(count, 1, -1):
        found = slabs(solid, slices)
        if len(found) <= count:
            return found
    return [piece.vertices]


THRESHOLD = 0.05  # of concavity; the least that CoACD takes is 0.01
MOST_FACES = 800  # its time grows faster than the faces
SEED = 0


def decompose(vertices: FloatArray, faces: IntArray, most: int) -> list[FloatArray]:
    """The corners (k, 3) of at most `most` convex pieces, together about the mesh.

    Deterministic on one machine. Meant for a child process: it may take long, or crash.
    """
    import coacd

    coacd.set_log_level("off")
    pieces = coacd.run_coacd(
        coacd.Mesh(vertices, faces),
        threshold=THRESHOLD,
        max_convex_hull=most,
        preprocess_mode="off",
        resolution=200,
        mcts_nodes=10,
        mcts_iterations=10,
        mcts_max_depth=2,
        seed=SEED,
    )
    return [np.asarray(corners, dtype=np.float64) for corners, _ in pieces]


def coarse(solid: Solid, size: float) -> Solid:
    """With few enough faces to be decomposed in seconds."""
    tolerance = 1e-4 * size
    fewer = solid
    while fewer.faces > MOST_FACES and tolerance < 0.02 * size:
        fewer = solid.simplified(tolerance)
        tolerance *= 1.5
    return fewer


def slabs(solid: Solid, count: int) -> list[FloatArray]:
    """The fall-back: the corners of `count` slices across its longest side."""
    low, high = solid.bounds
    axis = int(np.argmax(high - low))
    cuts = np.linspace(low[axis], high[axis], count + 1)
    pieces = []
    left = solid
    for place in cuts[1:-1]:
        end = high + 1.0
        end[axis] = place
        slice_, left = left.halves(Solid.box(low - 1.0, end))
        pieces += slice_.separate() if slice_.faces else []
    pieces += left.separate() if left.faces else []
    return [piece.mesh()[0] for piece in pieces]


T = TypeVar("T")
MOST_KEPT = 200  # files, of some 20 kB each
_LIBRARIES = ("coacd", "manifold3d", "numpy", "scipy", "trimesh")


def cached(
    name: str, inputs: Any, compute: Callable[[], T], keep: Callable[[T], bool] = lambda _: True
) -> T:
    """What `compute` gives, or gave before for the same inputs, by the same sources and libraries.

    Args:
        name: of the kind of result.
        inputs: everything else that it depends on; can be pickled.
        compute: gives it.
        keep: whether a result is worth keeping.
    """
    digest = hashlib.sha256(pickle.dumps((name, inputs), protocol=4))
    try:
        path = folder() / f"{name}-{digest.hexdigest()[:32]}"
        made_from = _made_from() + digest.digest()
    except (RuntimeError, OSError):  # a user without a home, or sources in an archive
        return compute()
    content = precomputed.read_sealed(path, made_from)
    if content is not None:
        return cast(T, pickle.loads(content))
    made = compute()
    if keep(made):
        with contextlib.suppress(OSError):  # a cache is no must
            path.parent.mkdir(parents=True, exist_ok=True)
            precomputed.write_sealed(path, made_from, pickle.dumps(made))
            _forget(path.parent)
    return made


def folder() -> Path:
    """`physim` in the user's cache folder; a relative path is none, as the XDG rules say."""
    base = Path(os.environ.get("XDG_CACHE_HOME", ""))
    return (base if base.is_absolute() else Path.home() / ".cache") / "physim" / "importer"


def _forget(folder: Path) -> None:
    """Removes the oldest files where there are many, such as those of other versions."""
    files = sorted(folder.iterdir(), key=lambda path: path.stat().st_mtime_ns)
    for path in files[:-MOST_KEPT]:
        path.unlink()


@cache
def _made_from() -> bytes:
    """A hash of all that the importer's results are made from."""
    top = Path(physim.__file__).parent
    versions = {"python": platform.python_version(), **precomputed.versions(_LIBRARIES)}
    return precomputed.made_from({top, top / "importer", top / "pigs"}, versions)
