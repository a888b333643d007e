"""The six poses of a dataset, each shown by the first pig that physics laid so."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image as Pillow

from physim.batch.manifest import Manifest, read_manifest
from physim.batch.plan import BatchPlan
from physim.batch.read import read_columns
from physim.pigs.library import load_model
from physim.roll import FULL
from physim.statistics.counts import Counts
from physim.statistics.pairs import NAMED_POSES
from physim.statistics.tables import load_table, pool_poses
from physim.values import PIG_NAMES, Pose, RigidState, Status
from physim.view.scene import PlacedPig
from physim.view.sheet import Tile, contact_sheet

_COUNTED = ("index", "status", "outcome", "score", "touching")
_PIG = ("pose", "rest")
REFERENCE = "kern2006"


def pose_sheet(folder: Path | str) -> Pillow.Image:
    """One picture a pose, with its frequency beside the real one.

    Raises:
        DatasetError: no dataset of rolls there, or a damaged part.
    """
    manifest = read_manifest(folder)
    names = [*_COUNTED, *(f"{pig}_{name}" for pig in PIG_NAMES for name in _PIG)]
    columns = read_columns(folder, names)
    counted = {name: columns[name] for name in columns if name != "index"}
    counts = Counts.from_columns(**counted)
    real = pool_poses(load_table(REFERENCE))
    pigs = sum(real.values())
    tiles = []
    for pose in NAMED_POSES:
        caption = f"{counts.poses[pose] / max(1, counts.pigs):.1%} here, "
        caption += f"{real[pose] / pigs:.1%} of real pigs"
        found = _first(columns, pose)
        pig = None if found is None else _at_rest(manifest, *found)
        if found is not None and pig is not None:
            index, _ = found
            caption += f" (roll {index}, {pig.name})"
        tiles.append(Tile(title_of(pose), caption, () if pig is None else (pig,)))
    title = f"{counts.rolls:,} rolls of seed {manifest.seed} ({manifest.names['toss']})"
    return contact_sheet(f"The six poses, as physics left them: {title}", tiles)


def title_of(pose: Pose) -> str:
    """`leaning_jowler` as "Leaning jowler"."""
    return pose.value.replace("_", " ").capitalize()


def _first(columns: dict[str, Any], pose: Pose) -> tuple[int, str] | None:
    """Index of the roll and name of the first pig in that pose that lies alone."""
    alone = (columns["status"] == Status.OK.value) & ~columns["touching"].astype(bool)
    firsts = []
    for name in PIG_NAMES:
        rows = np.flatnonzero(alone & (columns[f"{name}_pose"] == pose.value))
        if len(rows):
            firsts.append((int(columns["index"][rows[0]]), name))
    return min(firsts, default=None)


def _at_rest(manifest: Manifest, index: int, name: str) -> PlacedPig:
    """That pig of that roll once it lies still: a row may hold the moment it became certain."""
    names = {**manifest.names, "settle": FULL}
    with BatchPlan(n=1, **names).open() as simulator:
        pig = simulator.roll(manifest.seed, index).pigs[PIG_NAMES.index(name)]
    model = manifest.names[name] or manifest.names["model"]
    return placed(model, name, RigidState(pig.position_m, pig.quat_xyzw))


def placed(model: str, name: str, state: RigidState) -> PlacedPig:
    """A pig of a model where it lies, with the radius that frames it."""
    vertices = load_model(model).vertices_m
    return PlacedPig(model, name, state, float(np.sqrt((vertices**2).sum(axis=1).max())))
