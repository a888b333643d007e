"""Convex collision parts of a solid, labelled: cut at the landmarks, then decomposed.

Approximate convex decomposition by CoACD: the importer's only door to it. Results take seconds, so
they are kept in the user's cache folder by what they were made from.

References:
    Wei et al., "Approximate convex decomposition for 3D meshes with collision-aware concavity
    and tree search", ACM TOG 2022.
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
from physim.importer import solids
from physim.importer.child import ChildError, missing_library, run_limited
from physim.importer.landmarks import REST, Box, cut
from physim.importer.solids import IntArray, Problem, Solid
from physim.pigs.model import MOST_PARTS
from physim.poses.classify import FRONT_FEET, HIND_FEET, TRUNK_AND_TAIL
from physim.types import FloatArray

TIME_S = 25.0  # for all decompositions together
TOLERANCE = 1e-3  # of the longest side: the corners of a part that are left out
MOST_CORNERS = 600  # of all parts: the engine's time grows with them
CONVEX = 0.02  # a hull whose volume exceeds the piece's by less than this share is the piece
ALL = 0.9  # share of the mesh beyond which a box was hardly meant
ROUGH = 0.10  # share beyond which a single hull in place of a piece is worth a warning
MOST_FACES = 800  # that CoACD is given: its time grows faster than they do
_AMEND = "correct the boxes under `landmarks` in model.yaml, then `physim model build`"


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

    def on_time(parts: Parts) -> bool:  # another run may not meet the limit
        return not any(problem.kind == "decomposition" for problem in parts.problems)

    return cached("parts", inputs, lambda: _parts(*inputs), keep=on_time)


def _parts(vertices: FloatArray, faces: IntArray, marks: Mapping[str, Box], time_s: float) -> Parts:
    out = Parts()
    try:
        solid = Solid.of(vertices, faces)
    except ImportError as error:
        raise missing_library(error) from error
    if solid is None:
        raise ChildError("the mesh cannot be cut, as its edges do not pair up")
    size = float(np.ptp(vertices, axis=0).max())
    pieces = cut(solid, marks)
    total = sum(piece.volume for _, piece in pieces)
    for label, piece in pieces:
        out.shares[label] = out.shares.get(label, 0.0) + piece.volume / total
    out.problems = _box_problems(out.shares, marks, vertices)
    pieces = _few_enough(pieces)
    for (label, piece), count in zip(pieces, _counts([one for _, one in pieces]), strict=True):
        found = _decomposed(label, piece, count, size, time_s, out.problems)
        out.corners += [(label, points) for points in found]
    corners = solids.few_corners([c for _, c in out.corners], MOST_CORNERS, TOLERANCE * size)
    out.corners = [(label, c) for (label, _), c in zip(out.corners, corners, strict=True)]
    out.uncovered_mm, out.bulge_mm = solids.distances(solid, corners)
    return out


def _few_enough(pieces: list[tuple[str, Solid]]) -> list[tuple[str, Solid]]:
    """Small pieces of one label become one, until the engine can take all; no label is lost.

    There are no more labels than parts that the engine takes.
    """
    pieces = sorted(pieces, key=lambda piece: -piece[1].volume)
    while len(pieces) > MOST_PARTS:
        labels = [label for label, _ in pieces]
        last = max(i for i, label in enumerate(labels) if labels.count(label) > 1)
        label, small = pieces.pop(last)
        host = labels.index(label)
        pieces[host] = label, Solid.union([pieces[host][1], small])
    return pieces


def _box_problems(
    shares: Mapping[str, float], marks: Mapping[str, Box], vertices: FloatArray
) -> list[Problem]:
    """Boxes that took nothing or nearly all: poses that need what is missing are never read."""
    problems = []
    if nothing := [label for label in marks if label not in shares]:
        low, high = (np.round(end, 1) + 0.0 for end in (vertices.min(axis=0), vertices.max(axis=0)))
        ends = " to ".join("({:g}, {:g}, {:g})".format(*end) for end in (low, high))
        action = (
            f"nothing is taken of the mesh, which reaches from {ends} mm, or boxes before took it: "
            f"no part is so called{_unread(nothing)}; {_AMEND}"
        )
        problems.append(Problem("landmarks", ", ".join(nothing), action))
    for label in marks:
        if shares.get(label, 0.0) > ALL:
            action = f"its box takes {shares[label]:.1%} of the mesh; {_AMEND}"
            problems.append(Problem("landmarks", label, action))
    if marks and not set(TRUNK_AND_TAIL) & set(shares):
        action = f"the boxes leave nothing of it{_unread([REST])}; {_AMEND}"
        problems.append(Problem("landmarks", REST, action))
    return problems


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


def _excess(piece: Solid) -> float:
    """By how much its hull's volume is larger, as a share of its own."""
    return solids.volume(piece.mesh()[0]) / piece.volume - 1.0


def _counts(pieces: list[Solid]) -> list[int]:
    """How many parts each piece may become: those get most whose hulls are farthest off."""
    counts = np.ones(len(pieces), dtype=np.int64)
    shares = np.array([_excess(piece) for piece in pieces])
    excess = np.where(shares > CONVEX, shares * [piece.volume for piece in pieces], 0.0)
    for _ in range(MOST_PARTS - len(pieces) if excess.any() else 0):
        counts[np.argmax(excess / counts**2)] += 1
    return [int(count) for count in counts]


def _decomposed(
    label: str, piece: Solid, count: int, size: float, time_s: float, problems: list[Problem]
) -> list[FloatArray]:
    """Points whose hulls, at most so many, stand for a piece."""
    vertices, _ = piece.mesh()
    if count == 1:
        share = _excess(piece)
        if share > ROUGH and piece.volume > 0.01 * size**3:
            problems.append(
                Problem("hull", label, f"its hull stands for it, {share:.0%} more volume")
            )
        return [vertices]
    fewer, tolerance = piece, 1e-4 * size
    while fewer.faces > MOST_FACES and tolerance < 0.02 * size:
        fewer = piece.simplified(tolerance)
        tolerance *= 1.5
    doing = f"decomposing the {label}"
    try:
        found = run_limited(_by_library, *fewer.mesh(), count, time_s=time_s, doing=doing)
    except ChildError as error:
        problems.append(Problem("decomposition", label, f"{error}; cut into slices"))
        found = _slices(piece, count)
    solid = [points for points in found if solids.volume(points) > 0]
    return solids.covering(solid, vertices) if solid else [vertices]


def _by_library(vertices: FloatArray, faces: IntArray, count: int) -> list[FloatArray]:
    """By CoACD; the same on one machine. It may take long, or crash."""
    import coacd

    coacd.set_log_level("off")
    found = coacd.run_coacd(
        coacd.Mesh(vertices, faces),
        threshold=0.05,  # of concavity; the least that it takes is 0.01
        max_convex_hull=count,
        preprocess_mode="off",
        resolution=200,
        mcts_nodes=10,
        mcts_iterations=10,
        mcts_max_depth=2,
        seed=0,
    )
    if not 0 < len(found) <= count:
        raise ValueError(f"{len(found)} parts where {count} were asked for")
    return [np.asarray(corners, dtype=np.float64) for corners, _ in found]


def _slices(piece: Solid, count: int) -> list[FloatArray]:
    """Slices across its longest side, as many as give no more parts than that."""
    for slices in range(count, 1, -1):
        left = piece
        low, high = left.bounds
        axis = int(np.argmax(high - low))
        found = []
        for place in np.linspace(low[axis], high[axis], slices + 1)[1:]:
            end = high + 1.0
            end[axis] = place
            inside, left = left.halves(Solid.box(low - 1.0, end))
            found += inside.separate()
        if len(found) <= count:
            return [one.mesh()[0] for one in found]
    return [piece.mesh()[0]]


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
            files = sorted(path.parent.iterdir(), key=lambda one: one.stat().st_mtime_ns)
            for old in files[:-MOST_KEPT]:  # such as those of other versions
                old.unlink()
    return made


def folder() -> Path:
    """`physim` in the user's cache folder; a relative path is none, as the XDG rules say."""
    base = Path(os.environ.get("XDG_CACHE_HOME", ""))
    return (base if base.is_absolute() else Path.home() / ".cache") / "physim" / "importer"


@cache
def _made_from() -> bytes:
    """A hash of all that the importer's results are made from."""
    top = Path(physim.__file__).parent
    versions = {"python": platform.python_version(), **precomputed.versions(_LIBRARIES)}
    return precomputed.made_from({top, top / "importer", top / "pigs"}, versions)
