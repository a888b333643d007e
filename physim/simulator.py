"""One roll, end to end: the module that joins the stages.

`PigModel x 2 + Toss -> World -> Rest -> Contacts -> Pose x 2 -> Outcome -> Score`

It also joins the quasi-static analysis (`pigs.stable_poses`), which says where a pig can lie, with
the classifier (`poses.classify`), which says what that is called: the table of stable rests of a
model, in which a pig that physics has laid down is found.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from physim import config, errors, precomputed
from physim.config import FAST, HAS_PYBULLET, MUJOCO, PYBULLET, SETTLE_MODES, SetupOptions
from physim.errors import ConfigError
from physim.geometry import from_axis_angle, from_matrix, up_in_body
from physim.physics.body import Body
from physim.physics.fast.bounds import EnergyBound
from physim.physics.state import RestCriterion, Trajectory
from physim.physics.surfaces import EngineSettings, table
from physim.pigs.mesh import write_text
from physim.pigs.model import load_folder, load_model
from physim.pigs.model_file import model_folder
from physim.pigs.stable_poses import StableRest, model_rests
from physim.poses.classify import classify, pig_contacts, table_contacts, table_gap_m
from physim.rules.score import outcome_of, score_of
from physim.seeding import MAX_SEED, stream
from physim.tosses.release import Draws, TossModel, toss
from physim.types import (
    PIG_NAMES,
    TABLE,
    Basin,
    ExactValue,
    FloatArray,
    PigModel,
    PigResult,
    Pose,
    PoseReading,
    Rest,
    RigidState,
    Roll,
    Table,
    Toss,
    Triple,
)

if TYPE_CHECKING:
    from physim.physics.fast.world import World

_NOT_OPEN = "a Simulator is opened by `with Simulator(setup) as simulator:`"


@dataclass(frozen=True)
class Setup:
    """Everything that fixes a roll, apart from seed and index.

    Attributes:
        black, pink: the two pigs.
        toss: how they are released.
        table: what they land on.
        settings: of the engine.
        criterion: when a pig is at rest.
        settle: "fast" stops a pig once its outcome is certain, "full" simulates to rest; the
            outcome is the same, and so is the motion up to where "fast" stops.
    """

    black: PigModel
    pink: PigModel
    toss: TossModel
    table: Table
    settings: EngineSettings = field(default_factory=EngineSettings)
    criterion: RestCriterion = field(default_factory=RestCriterion)
    settle: str = FAST

    def __post_init__(self) -> None:
        if self.settle not in SETTLE_MODES:
            raise ConfigError(
                f"settle must be {' or '.join(SETTLE_MODES)}, found {errors.shown(self.settle)}"
            )

    @classmethod
    def named(cls, model: str | Path = "standard", **options: Any) -> Setup:
        """A setup from the names that the command line uses.

        Args:
            model: of both pigs: a name or a path to a model folder.
            options: the other attributes of `SetupOptions`, such as `toss="hand"`.

        Raises:
            ConfigError, ModelError: an unknown name, or a file that cannot be used.
        """
        return cls.of(SetupOptions(model=model, **options))

    @classmethod
    def of(cls, options: SetupOptions) -> Setup:
        """Loads what the names stand for.

        Raises:
            ConfigError, ModelError: an unknown name, or a file that cannot be used.
        """
        black, pink = (one or options.model for one in (options.black, options.pink))
        settings = replace(
            EngineSettings.with_step(options.time_step_s),
            engine=options.engine,
            pairs=PYBULLET if HAS_PYBULLET else MUJOCO,
        )
        black_model = load_model(black)
        return cls(
            black_model,
            black_model if pink == black else load_model(pink),
            toss(str(options.toss), options.height_mm),
            table(options.surface, options.table_size_mm),
            settings,
            settle=options.settle,
        )

    @property
    def pigs(self) -> tuple[PigModel, PigModel]:
        return self.black, self.pink


class Simulator:
    """Rolls of one setup, one at a time: threads that share it wait for each other."""

    def __init__(self, setup: Setup, context: SimulationContext | None = None) -> None:
        """Keeps the setup; it is opened by `with`.

        Args:
            setup: what fixes the rolls.
            context: of the setup's pigs and table, where it is there already.

        Raises:
            ConfigError: the context is of other pigs.
        """
        if context and any(
            body.model is not pig for body, pig in zip(context.bodies, setup.pigs, strict=True)
        ):
            raise ConfigError(
                "`context` must be made of the pigs of the setup: SimulationContext.of(...)"
            )
        self.setup = setup
        self._context = context
        self._world: World | None = None

    def __enter__(self) -> Simulator:
        from physim.physics.fast.world import World  # here: it loads the engine

        setup = self.setup
        if self._world is not None:
            raise RuntimeError("this Simulator is open already")
        context = self._context = self._context or SimulationContext.of(setup.pigs, setup.table)
        self._world = World(
            context.bodies, setup.table, setup.settings, setup.criterion, context.energy_bounds
        ).__enter__()
        return self

    def __exit__(self, *error: Any) -> None:
        if self._world is not None:
            self._world.__exit__(*error)
            self._world = None

    def roll(self, seed: int, index: int) -> Roll:
        """The roll of that seed and index; the same bits whatever was rolled before.

        Args:
            seed: 0 to 2^63 - 1.
            index: from 0.
        """
        seed, index = check_seed(seed, index)
        return self.classify_and_score(seed, index, self.settle(self._release(seed, index)))

    def record(self, seed: int, index: int) -> tuple[Roll, Trajectory]:
        """As `roll`, with both pigs' trajectories to its end; the roll has the same bits."""
        seed, index = check_seed(seed, index)
        trajectory = Trajectory(self._opened.bodies)
        rest = self.settle(self._release(seed, index), trajectory)
        return self.classify_and_score(seed, index, rest), trajectory

    def rolls(self, seed: int, indices: Iterable[int]) -> Iterator[Roll]:
        """The rolls of these indices, one by one."""
        return (self.roll(seed, index) for index in indices)

    def settle(self, toss: Toss, trajectory: Trajectory | None = None) -> Rest:
        """Physics alone, from a release to rest; `trajectory`, if given, records the motion."""
        return self._opened.settle(toss, fast=self.setup.settle == FAST, trajectory=trajectory)

    def classify_and_score(self, seed: int, index: int, rest: Rest) -> Roll:
        """Classifies and scores what physics left on the table."""
        if self._context is None:
            raise RuntimeError(_NOT_OPEN)
        return classify_and_score(seed, index, rest, self.setup.pigs, self._context.rests)

    @property
    def _opened(self) -> World:
        if self._world is None:
            raise RuntimeError(_NOT_OPEN)
        return self._world

    def _release(self, seed: int, index: int) -> Toss:
        return self.setup.toss.release(Draws(stream(seed, index)), index, self.setup.pigs)


def classify_and_score(
    seed: int,
    index: int,
    rest: Rest,
    models: tuple[PigModel, PigModel],
    tables: tuple[RestTable, RestTable],
) -> Roll:
    """Rest -> contacts -> poses -> outcome -> score."""
    between = pig_contacts(models, rest.pigs, PIG_NAMES)
    pigs = []
    for name, model, state, known, touching, basin, time_s in zip(
        PIG_NAMES, models, rest.pigs, tables, between, rest.basins, rest.times_s, strict=True
    ):
        # What fell past the edge is below the table's plane, where gaps mean nothing.
        fallen = bool(state.position_m[2] < 0.0)
        if basin is not None:
            reading, where = known.rests[basin].reading, basin
        elif fallen:
            reading, where = PoseReading(Pose.OTHER, 1.0), None
        else:
            reading, where = classify(model, state), known.nearest(state.quat_xyzw)
        pigs.append(
            PigResult(
                name=name,
                pose=reading.pose,
                rest=where,
                margin=reading.margin,
                contacts=(() if fallen else table_contacts(model, state)) + touching,
                position_m=state.position_m,
                quat_xyzw=state.quat_xyzw,
                time_s=time_s,
            )
        )
    black, pink = pigs
    touch = bool(between[0])
    # A pig that touches the other one and not the table rides on it.
    rides = any(all(contact.other != TABLE for contact in pig.contacts) for pig in pigs)
    outcome = outcome_of(
        black.pose, pink.pose, status=rest.status, touching=touch, piggyback=touch and rides
    )
    return Roll(
        seed=seed,
        index=index,
        status=rest.status,
        outcome=outcome,
        score=score_of(outcome, black.pose, pink.pose),
        touching=touch,
        ended=rest.ended,
        pigs=(black, pink),
        time_s=rest.time_s,
    )


def check_seed(seed: int, index: int) -> tuple[int, int]:
    """Seed and index as Python's own integers.

    Raises:
        ConfigError: not whole numbers, negative or too large.
    """
    seed = config.whole("the seed", seed, 0, MAX_SEED)
    return seed, config.whole("the index", index, 0, MAX_SEED)


@dataclass(frozen=True)
class SimulationContext:
    """What is computed of two pigs and a table once, before any roll: some tenths of a second.

    A batch does it once and sends it to all workers. The same twice where both are one model.

    Attributes:
        bodies: the pigs as engine and flight need them.
        rests: their stable rests, with names.
        energy_bounds: know when a pig's outcome is certain.
    """

    bodies: tuple[Body, Body]
    rests: tuple[RestTable, RestTable]
    energy_bounds: tuple[EnergyBound, EnergyBound]

    @classmethod
    def of(cls, pigs: tuple[PigModel, PigModel], table: Table) -> SimulationContext:
        """Of these pigs on this table.

        Raises:
            ModelError: a pig without stable rests, or with its centre of mass outside.
        """

        def made(pig: PigModel) -> tuple[Body, RestTable, EnergyBound]:
            body, rests = Body.of(pig), RestTable.of(pig)
            return body, rests, EnergyBound(body, rests.basins(), table)

        black, pink = pigs
        one = made(black)
        two = one if pink is black else made(pink)
        return cls((one[0], two[0]), (one[1], two[1]), (one[2], two[2]))


def write_precomputed(name_or_path: str | Path) -> Path:
    """Computes what depends on a model's files alone, and writes it to `computed.json` beside them.

    Raises:
        ConfigError, ModelError: a model that cannot be used, or a folder that cannot be written to.
    """
    folder = model_folder(name_or_path)
    with precomputed.recorded() as results:
        model = load_folder(folder, str(name_or_path)).model
        Body.of(model)
        RestTable.of(model)
    path = folder / precomputed.FILE_NAME
    write_text(path, precomputed.text(results))
    return path


DOWN = np.array([0.0, 0.0, -1.0])
MATCH_DEG = 6.0  # a pig whose down direction is farther from a rest's is in none
_MATCH_COSINE = math.cos(math.radians(MATCH_DEG))


@dataclass(frozen=True, eq=False)
class NamedRest(ExactValue):
    """One stable rest of a model.

    Attributes:
        rest: the quasi-static rest.
        reading: the classifier's, for a pig that lies exactly so.
    """

    rest: StableRest
    reading: PoseReading

    @property
    def pose(self) -> Pose:
        return self.reading.pose

    @property
    def margin(self) -> float:
        return self.reading.margin


@dataclass(frozen=True, eq=False)
class RestTable(ExactValue):
    """All stable rests of one model, the most probable first."""

    rests: tuple[NamedRest, ...]

    @classmethod
    def of(cls, model: PigModel) -> RestTable:
        """The table of a model."""
        with precomputed.with_results(model.kept):
            rests = model_rests(model, table_gap_m(model))
        return cls(tuple(NamedRest(rest, classify(model, lying(rest))) for rest in rests))

    def basins(self) -> tuple[Basin, ...]:
        """What energy needs to know of the rests, in the same order."""
        return tuple(
            Basin(named.rest.down, named.rest.height_m, named.rest.barrier_m)
            for named in self.rests
        )

    def nearest(self, quat_xyzw: FloatArray) -> int | None:
        """Index of the rest in which a pig so turned lies, or None."""
        if not self.rests:
            return None
        x, y, z = up_in_body(quat_xyzw.tolist())
        cosines = [-(a * x + b * y + c * z) for a, b, c in self._downs]
        best = max(cosines)
        return cosines.index(best) if best >= _MATCH_COSINE else None

    @cached_property
    def _downs(self) -> tuple[Triple, ...]:
        """Each rest's down direction, pig frame."""
        return tuple(tuple(named.rest.down.tolist()) for named in self.rests)


def lying(rest: StableRest) -> RigidState:
    """A pig at the origin of the table, exactly in this rest, turned no more than needed."""
    return RigidState(np.array([0.0, 0.0, rest.height_m]), turn_down(rest.down))


def turn_down(down: FloatArray) -> FloatArray:
    """The smallest rotation (xyzw) that turns the pig-frame direction `down` to straight down."""
    axis = np.cross(down, DOWN)
    sine = math.sqrt(float((axis**2).sum()))
    if sine < 1e-9:
        return from_matrix(np.eye(3) if down[2] < 0 else np.diag([1.0, -1.0, -1.0]))
    return from_axis_angle(axis / sine, math.atan2(sine, float((down * DOWN).sum())))
