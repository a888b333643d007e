"""A roll to look at: what it came to, and where both pigs were at any moment of it.

It is simulated anew from its seed and index, to rest. Of a dataset's row it is checked that the
simulation passes through that row, bit for bit: what is seen is the roll that was counted.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from physim.config import FULL
from physim.dataset.manifest import ROLLS, Manifest, read_manifest
from physim.dataset.parquet import part_paths, read_part
from physim.dataset.plan import BatchPlan
from physim.dataset.rows import COLUMNS, named, row_of
from physim.errors import DatasetError
from physim.physics.state import Trajectory
from physim.render.pig_meshes import PlacedPig
from physim.simulator import Setup, Simulator
from physim.types import PIG_NAMES, RigidState, Roll, Table

Row = dict[str, Any]
_ROLL_COLUMNS = ("index", "status", "outcome", "score", "touching")
_PIG_COLUMNS = ("pose", "x_m", "y_m", "z_m", "qx", "qy", "qz", "qw")


@dataclass(frozen=True)
class Replay:
    """A recorded roll.

    Attributes:
        setup: what it was made with.
        models: names of, or paths to, the models: black, pink.
        roll: to rest.
        recording: the ways of both pigs.
    """

    setup: Setup
    models: tuple[str, str]
    roll: Roll
    recording: Trajectory

    @property
    def table(self) -> Table:
        return self.setup.table

    @property
    def ends_s(self) -> float:
        """When both pigs lay still [s]."""
        return self.recording.ends_s

    def pigs(self, time_s: float) -> list[PlacedPig]:
        """Both pigs at a time since release [s], black first; after the end, as they lie."""
        return self._placed(self.recording.at(time_s))

    def at_rest(self) -> list[PlacedPig]:
        """Both pigs as they lie, black first."""
        black, pink = (RigidState(pig.position_m, pig.quat_xyzw) for pig in self.roll.pigs)
        return self._placed((black, pink))

    def _placed(self, states: tuple[RigidState, RigidState]) -> list[PlacedPig]:
        pigs = zip(self.models, PIG_NAMES, states, self.setup.pigs, strict=True)
        return [PlacedPig(model, name, state, pig.radius_m) for model, name, state, pig in pigs]


class ReplaySource:
    """The rolls of one plan, recorded one after the other. Use it with `with`."""

    def __init__(self, plan: BatchPlan, setup: Setup | None = None) -> None:
        """Loads what the plan names, or takes a setup in its place."""
        self.plan = plan
        self.setup = replace(setup or plan.setup(), settle=FULL)
        self._simulator = Simulator(self.setup)
        self._models = str(plan.black or plan.model), str(plan.pink or plan.model)

    def __enter__(self) -> ReplaySource:
        self._simulator.__enter__()
        return self

    def __exit__(self, *error: Any) -> None:
        self._simulator.__exit__(*error)

    def replay(self, index: int) -> Replay:
        """The roll of that index, recorded."""
        roll, recording = self._simulator.record(self.plan.seed, index)
        return Replay(self.setup, self._models, roll, recording)


class DatasetReplaySource(ReplaySource):
    """The rolls of a dataset, each compared with its row."""

    def __init__(self, folder: Path | str) -> None:
        """Reads the manifest.

        Raises:
            DatasetError: no dataset of rolls, or one of models that were changed since.
        """
        self._folder = Path(folder)
        self.manifest = read_manifest(folder)
        if self.manifest.kind != ROLLS:
            raise DatasetError(f"{folder}: holds counts only, no rolls to look at")
        super().__init__(_plan_of(self.manifest, self._folder))

    def replay(self, index: int) -> Replay:
        """The roll of that row.

        Raises:
            DatasetError: no such row, or other bits on this machine.
        """
        row = read_row(self._folder, self.manifest, index)
        shown = super().replay(index)
        if unlike := differences(shown, row):
            raise DatasetError(
                f"{self._folder}: roll {index} comes out otherwise here ({', '.join(unlike)}); "
                "replay it on the platform and with the versions of its manifest"
            )
        return shown


def _plan_of(manifest: Manifest, folder: Path) -> BatchPlan:
    """The batch that made a dataset, as far as names tell it.

    Raises:
        DatasetError: the names make another setup, or are none of a batch.
    """
    names = dict(manifest.names)
    label = names.pop("label", None)  # of `physim validate` or `sensitivity`
    try:
        plan = BatchPlan(**{"n": manifest.n, "seed": manifest.seed, **names})
        manifest.check_configuration(plan.configuration(), ROLLS, folder)
    except (DatasetError, TypeError) as error:
        if label is None and isinstance(error, DatasetError):
            raise
        raise DatasetError(
            f"{folder}: its rolls are of a setup that no names make again, such as that of a fit; "
            "only rolls of named models, tosses and surfaces can be seen"
        ) from error
    return plan


def read_row(folder: Path, manifest: Manifest, index: int) -> Row:
    """One row of a dataset.

    Raises:
        DatasetError: it is not there, or its part is damaged.
    """
    for first, path in part_paths(folder):
        if first <= index < first + manifest.chunk_size:
            rows: list[Row] = (
                read_part(path, first, manifest, list(COLUMNS)).slice(index - first, 1).to_pylist()
            )
            if rows:
                return rows[0]
    raise DatasetError(
        f"{folder}: holds no roll {index} (asked for: 0 to {manifest.n - 1}); "
        "run the same `physim batch` command again to make those that are missing"
    )


def differences(shown: Replay, row: Row) -> list[str]:
    """The columns of a row in which the replay differs: labels at rest, states at their times."""
    states = (
        shown.recording.at(row[f"{pig}_time_s"])[number] for number, pig in enumerate(PIG_NAMES)
    )
    black, pink = (
        replace(pig, position_m=state.position_m, quat_xyzw=state.quat_xyzw)
        for pig, state in zip(shown.roll.pigs, states, strict=True)
    )
    ours = named(row_of(replace(shown.roll, pigs=(black, pink))))
    columns = [*_ROLL_COLUMNS, *(f"{pig}_{name}" for pig in PIG_NAMES for name in _PIG_COLUMNS)]
    return [name for name in columns if ours[name] != row[name]]
