"""The six poses of a dataset, each shown by the first pig that physics laid so."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image as Pillow

from physim.batch.manifest import read_manifest
from physim.batch.read import read_columns
from physim.pigs.library import load_model
from physim.statistics.counts import Counts
from physim.statistics.pairs import NAMED_POSES
from physim.statistics.tables import load_table, pool_poses
from physim.values import PIG_NAMES, Pose, RigidState, Status
from physim.view.scene import PlacedPig
from physim.view.sheet import Tile, contact_sheet

_STATE = ("x_m", "y_m", "z_m", "qx", "qy", "qz", "qw")
_COUNTED = ("index", "status", "outcome", "score", "touching")
_PIG = ("pose", "rest", *_STATE)
REFERENCE = "kern2006"


def pose_sheet(folder: Path | str) -> Pillow.Image:
    """One picture a pose, with its frequency beside the real one.

    Raises:
        DatasetError: no dataset of rolls there, or a damaged part.
    """
    manifest = read_manifest(folder)
    names = [*_COUNTED, *(f"{pig}_{name}" for pig in PIG_NAMES for name in _PIG)]
    columns = read_columns(folder, names)
    counted = {name: columns[name] for name in columns if not name.endswith(_STATE)}
    counted.pop("index")
    counts = Counts.from_columns(**counted)
    real = pool_poses(load_table(REFERENCE))
    pigs = sum(real.values())
    models = {pig: manifest.names[pig] or manifest.names["model"] for pig in PIG_NAMES}
    tiles = []
    for pose in NAMED_POSES:
        caption = f"{counts.poses[pose] / max(1, counts.pigs):.1%} here, "
        caption += f"{real[pose] / pigs:.1%} of real pigs"
        found = _first(columns, pose, models)
        if found is not None:
            index, pig = found
            caption += f" (roll {index}, {pig.name})"
        tiles.append(Tile(title_of(pose), caption, () if found is None else (found[1],)))
    title = f"{counts.rolls:,} rolls of seed {manifest.seed} ({manifest.names['toss']})"
    return contact_sheet(f"The six poses, as physics left them: {title}", tiles)


def title_of(pose: Pose) -> str:
    """`leaning_jowler` as "Leaning jowler"."""
    return pose.value.replace("_", " ").capitalize()


def _first(
    columns: dict[str, Any], pose: Pose, models: dict[str, str]
) -> tuple[int, PlacedPig] | None:
    """The first pig in that pose that lies alone, with the index of its roll."""
    alone = (columns["status"] == Status.OK.value) & ~columns["touching"].astype(bool)
    firsts = []
    for name in PIG_NAMES:
        rows = np.flatnonzero(alone & (columns[f"{name}_pose"] == pose.value))
        if len(rows):
            firsts.append((int(rows[0]), name))
    if not firsts:
        return None
    row, name = min(firsts)
    numbers = np.array([columns[f"{name}_{part}"][row] for part in _STATE])
    return int(columns["index"][row]), placed(
        models[name], name, RigidState(numbers[:3], numbers[3:])
    )


def placed(model: str, name: str, state: RigidState) -> PlacedPig:
    """A pig of a model where it lies, with the radius that frames it."""
    vertices = load_model(model).vertices_m
    return PlacedPig(model, name, state, float(np.sqrt((vertices**2).sum(axis=1).max())))
