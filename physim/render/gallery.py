"""Contact sheets: the poses and outcomes of a dataset, rolls in a row, the rests of a model."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image as Pillow
from PIL import ImageDraw

from physim.dataset.parquet import read_columns
from physim.errors import DatasetError
from physim.pigs.model import load_model
from physim.render.pictures import (
    FAINT,
    INK,
    PAPER,
    headline,
    pigs_picture,
    poses_text,
    title_of,
    write,
)
from physim.render.pig_meshes import PlacedPig
from physim.render.replay import DatasetReplaySource, Replay, ReplaySource
from physim.simulator import RestTable, lying
from physim.statistics.counts import NAMED_POSES, Counts
from physim.statistics.tables import load_table, pool_poses
from physim.types import PIG_NAMES, PINK, Outcome, Pose, Status, Table

TILE = (400, 300)
CAPTION, GAP, TITLE = 62, 14, 58  # [pixels]
REFERENCE = "kern2006"
_COUNTED = ("index", "status", "outcome", "score", "touching")
_PIG = ("pose", "rest")
_MOST_COMMON, _RAREST = 6, 3  # rests of a model that are shown
Progress = Callable[[int, int], None] | None


@dataclass(frozen=True)
class Tile:
    """One picture of the sheet.

    Attributes:
        title: below the picture, large.
        caption: below the title, small.
        pigs: what is seen; empty for a place-holder that says it did not occur.
        table: what they lie on; None for an endless one.
    """

    title: str
    caption: str
    pigs: tuple[PlacedPig, ...]
    table: Table | None = None

    @classmethod
    def of(cls, replay: Replay, caption: str) -> Tile:
        """How a roll ended."""
        return cls(headline(replay.roll), caption, tuple(replay.at_rest()), replay.table)


def contact_sheet(
    title: str, tiles: Sequence[Tile], columns: int = 3, progress: Progress = None
) -> Pillow.Image:
    """All tiles in rows, under one title; `progress` is told how many are done of how many."""
    rows = -(-len(tiles) // columns)
    width = columns * (TILE[0] + GAP) + GAP
    height = TITLE + rows * (TILE[1] + CAPTION + GAP) + GAP
    sheet = Pillow.new("RGB", (width, height), PAPER)
    draw = ImageDraw.Draw(sheet)
    write(draw, (GAP, 16), title, INK, 24, width)
    for number, tile in enumerate(tiles):
        if progress is not None:
            progress(number, len(tiles))
        left = GAP + (number % columns) * (TILE[0] + GAP)
        top = TITLE + (number // columns) * (TILE[1] + CAPTION + GAP)
        right = left + TILE[0]
        if tile.pigs:
            sheet.paste(Pillow.fromarray(pigs_picture(tile.pigs, *TILE, tile.table)), (left, top))
        else:
            draw.rectangle((left, top, right, top + TILE[1]), outline=FAINT)
            write(draw, (left + 20, top + 20), "did not occur", FAINT, 18, right)
        write(draw, (left, top + TILE[1] + 6), tile.title, INK, 20, right)
        write(draw, (left, top + TILE[1] + 34), tile.caption, FAINT, 15, right)
    if progress is not None:
        progress(len(tiles), len(tiles))
    return sheet


def pose_sheet(folder: Path | str, progress: Progress = None) -> Pillow.Image:
    """One picture a pose, with its frequency beside the real one.

    Raises:
        DatasetError: no dataset of rolls there, a damaged part, or other rolls on this machine.
    """
    names = [*_COUNTED, *(f"{pig}_{name}" for pig in PIG_NAMES for name in _PIG)]
    columns = _rows(folder, names)
    counts = Counts.from_columns(**{name: columns[name] for name in columns if name != "index"})
    real = pool_poses(load_table(REFERENCE))
    tiles = []
    with DatasetReplaySource(folder) as source:
        of_the_toy = _models(source) == {"standard"}
        for pose in NAMED_POSES:
            caption = f"{counts.poses[pose] / max(1, counts.pigs):.1%} here"
            if of_the_toy:
                caption += f", {real[pose] / sum(real.values()):.1%} of real pigs"
            seen: tuple[PlacedPig, ...] = ()
            if (found := _first(columns, pose)) is not None:
                index, name = found
                seen = (source.replay(index).at_rest()[PIG_NAMES.index(name)],)
                caption += f" (roll {index}, {name})"
            tiles.append(Tile(title_of(pose), caption, seen))
        title = f"{counts.rolls:,} rolls of {_told(source)}"
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
    with DatasetReplaySource(folder) as source:
        for k in order:
            replay = source.replay(int(columns["index"][firsts[k]]))
            poses = " and ".join(title_of(pig.pose).lower() for pig in replay.roll.pigs)
            share = f"{counts[k]:,} of {total:,} ({counts[k] / total:.2%})"
            tiles.append(Tile.of(replay, f"{share}, here roll {replay.roll.index}: {poses}"))
        title = f"Outcomes of {total:,} rolls of {_told(source)}"
    absent = [title_of(outcome).lower() for outcome in Outcome if outcome.value not in found]
    title += f"; none: {', '.join(absent)}" if absent else ""
    return contact_sheet(title, tiles, progress=progress)


def rolls_sheet(
    source: ReplaySource, first: int, count: int, progress: Progress = None
) -> Pillow.Image:
    """So many rolls in a row."""
    replays = [source.replay(index) for index in range(first, first + count)]
    tiles = [Tile.of(r, f"roll {r.roll.index}; {poses_text(r.roll)}") for r in replays]
    title = f"Rolls {first} to {first + count - 1} of {_told(source)}"
    return contact_sheet(title, tiles, min(4, count), progress)


def rest_sheet(model: str, progress: Progress = None, name: str | None = None) -> Pillow.Image:
    """The most common and the rarest ways in which a model can lie, and each pose's most common.

    The model is one by name or path; the title has `name` in place of the last part of it.
    """
    pig = load_model(model)
    rests = RestTable.of(pig).rests
    poses = [one.pose for one in rests]
    numbers = range(len(rests))
    chosen = {*numbers[:_MOST_COMMON], *numbers[-_RAREST:], *map(poses.index, poses)}
    tiles = []
    for number in sorted(chosen):
        rest = rests[number]
        seen = PlacedPig(model, PINK, lying(rest.rest), pig.radius_m)
        on = ", ".join(dict.fromkeys(rest.rest.supports)).replace("_", " ")
        text = f"{rest.rest.probability:.2%}, margin {rest.margin:.2f}; on {on}"
        tiles.append(Tile(f"Rest {rest.rest.index}: {title_of(rest.pose)}", text, (seen,)))
    how_many = f"{len(chosen)} of " if len(chosen) < len(rests) else ""
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


def _told(source: ReplaySource) -> str:
    models = _models(source) - {"standard"}
    whose = f", {' and '.join(sorted(models))}" if models else ""
    return f"seed {source.plan.seed} ({source.plan.toss}{whose})"


def _models(source: ReplaySource) -> set[str]:
    """Names of the pigs' models; of a folder its last part."""
    plan = source.plan
    return {Path(str(own or plan.model)).name for own in (plan.black, plan.pink)}


def _first(columns: dict[str, Any], pose: Pose) -> tuple[int, str] | None:
    """Index of the roll and name of the first pig in that pose that lies alone."""
    alone = (columns["status"] == Status.OK.value) & ~columns["touching"].astype(bool)
    firsts = []
    for name in PIG_NAMES:
        rows = np.flatnonzero(alone & (columns[f"{name}_pose"] == pose.value))
        firsts += [(int(columns["index"][row]), name) for row in rows[:1]]
    return min(firsts, default=None)
