"""Contact sheets: the poses and outcomes of a dataset, rolls in a row, the rests of a model."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image as Pillow

from physim.dataset.folder import read_columns
from physim.errors import DatasetError
from physim.pigs.model import load_model
from physim.render.pictures import Tile, contact_sheet, headline, title_of
from physim.render.pig_meshes import PlacedPig
from physim.render.replay import RunTheatre, Theatre
from physim.simulator import RestTable, lying
from physim.statistics.counts import NAMED_POSES, Counts
from physim.statistics.tables import load_table, pool_poses
from physim.types import PIG_NAMES, PINK, Outcome, Pose, Status

_COUNTED = ("index", "status", "outcome", "score", "touching")
_PIG = ("pose", "rest")
REFERENCE = "kern2006"
Progress = Callable[[int, int], None] | None


def pose_sheet(folder: Path | str, progress: Progress = None) -> Pillow.Image:
    """One picture a pose, with its frequency beside the real one.

    Raises:
        DatasetError: no dataset of rolls there, a damaged part, or other rolls on this machine.
    """
    names = [*_COUNTED, *(f"{pig}_{name}" for pig in PIG_NAMES for name in _PIG)]
    columns = _rows(folder, names)
    counts = Counts.from_columns(**{name: columns[name] for name in columns if name != "index"})
    real = pool_poses(load_table(REFERENCE))
    pigs = sum(real.values())
    tiles = []
    with RunTheatre(folder) as theatre:
        of_the_toy = _models(theatre) == {"standard"}
        for pose in NAMED_POSES:
            caption = f"{counts.poses[pose] / max(1, counts.pigs):.1%} here"
            if of_the_toy:
                caption += f", {real[pose] / pigs:.1%} of real pigs"
            found = _first(columns, pose)
            seen: tuple[PlacedPig, ...] = ()
            if found is not None:
                index, name = found
                seen = (theatre.replay(index).at_rest()[PIG_NAMES.index(name)],)
                caption += f" (roll {index}, {name})"
            tiles.append(Tile(title_of(pose.value), caption, seen))
        title = f"{counts.rolls:,} rolls of {_source(theatre)}"
    return contact_sheet(f"The six poses, as physics left them: {title}", tiles, progress=progress)


def outcome_sheet(folder: Path | str, progress: Progress = None) -> Pillow.Image:
    """The first roll of each outcome that a dataset holds, the most common outcome first.

    Raises:
        DatasetError: as for `pose_sheet`.
    """
    columns = _rows(folder, ["index", "outcome"])
    found, firsts, counts = np.unique(columns["outcome"], return_index=True, return_counts=True)
    order = sorted(range(len(found)), key=lambda k: (-counts[k], found[k]))
    total = len(columns["outcome"])
    tiles = []
    with RunTheatre(folder) as theatre:
        for k in order:
            replay = theatre.replay(int(columns["index"][firsts[k]]))
            share = f"{counts[k]:,} of {total:,} ({counts[k] / total:.2%}), "
            poses = " and ".join(title_of(pig.pose.value).lower() for pig in replay.roll.pigs)
            text = share + f"here roll {replay.roll.index}: {poses}"
            tiles.append(Tile(headline(replay.roll), text, tuple(replay.at_rest()), replay.table))
        absent = [o for o in Outcome if o.value not in set(found.tolist())]
        title = f"Outcomes of {total:,} rolls of {_source(theatre)}"
    if absent:
        title += "; none: " + ", ".join(title_of(outcome.value).lower() for outcome in absent)
    return contact_sheet(title, tiles, progress=progress)


def rolls_sheet(
    theatre: Theatre, first: int, count: int, progress: Progress = None
) -> Pillow.Image:
    """So many rolls in a row."""
    tiles = []
    for index in range(first, first + count):
        replay = theatre.replay(index)
        poses = ", ".join(
            f"{pig.name}: {title_of(pig.pose.value).lower()}" for pig in replay.roll.pigs
        )
        tiles.append(
            Tile(
                headline(replay.roll),
                f"roll {index}; {poses}",
                tuple(replay.at_rest()),
                replay.table,
            )
        )
    title = f"Rolls {first} to {first + count - 1} of {_source(theatre)}"
    return contact_sheet(title, tiles, columns=min(4, max(1, count)), progress=progress)


def rest_sheet(
    model: str,
    most: int = 6,
    rarest: int = 3,
    progress: Progress = None,
    name: str | None = None,
) -> Pillow.Image:
    """The most common and the rarest ways in which a model can lie on a table.

    And of each pose the most common way.

    Args:
        model: name of, or path to, a pig model.
        most: how many of the most common ones.
        rarest: how many of the rarest.
        progress: as for `contact_sheet`.
        name: in the title; without it, the model's, of a folder its last part.
    """
    pig = load_model(model)
    rests = RestTable.of(pig).rests
    chosen = set(range(len(rests))[:most]) | set(range(len(rests))[-rarest:])
    poses = [one.pose for one in rests]
    shown = sorted(chosen | {poses.index(pose) for pose in set(poses)})
    tiles = []
    for number in shown:
        rest = rests[number]
        seen = PlacedPig(model, PINK, lying(rest.rest), pig.radius_m)
        on = ", ".join(dict.fromkeys(rest.rest.supports)).replace("_", " ")
        text = f"{rest.rest.probability:.2%}, margin {rest.margin:.2f}; on {on}"
        tiles.append(Tile(f"Rest {rest.rest.index}: {title_of(rest.pose.value)}", text, (seen,)))
    how_many = f"{len(shown)} of " if len(shown) < len(rests) else ""
    title = f"Rests of the model {name or Path(model).name}: {how_many}{len(rests)}, "
    title += "by how often a slow pig ends in them"
    return contact_sheet(title, tiles, progress=progress)


def _rows(folder: Path | str, names: list[str]) -> dict[str, Any]:
    """The columns of a dataset that holds a roll at least."""
    columns = dict(read_columns(folder, names))
    if not len(columns["index"]):
        raise DatasetError(
            f"{folder}: holds no roll; run the same `physim batch` command again to make them"
        )
    return columns


def _source(theatre: Theatre) -> str:
    models = _models(theatre) - {"standard"}
    whose = f", {' and '.join(sorted(models))}" if models else ""
    return f"seed {theatre.plan.seed} ({theatre.plan.toss}{whose})"


def _models(theatre: Theatre) -> set[str]:
    """Names of the pigs' models; of a folder its last part."""
    plan = theatre.plan
    return {Path(str(own or plan.model)).name for own in (plan.black, plan.pink)}


def _first(columns: dict[str, Any], pose: Pose) -> tuple[int, str] | None:
    """Index of the roll and name of the first pig in that pose that lies alone."""
    alone = (columns["status"] == Status.OK.value) & ~columns["touching"].astype(bool)
    firsts = []
    for name in PIG_NAMES:
        rows = np.flatnonzero(alone & (columns[f"{name}_pose"] == pose.value))
        if len(rows):
            firsts.append((int(columns["index"][rows[0]]), name))
    return min(firsts, default=None)
