"""One roll, end to end: the module that joins the stages.

`PigModel x 2 + Toss -> World -> Rest -> Contacts -> Pose x 2 -> Outcome -> Score`
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING

from physim import arguments
from physim.errors import ConfigError
from physim.pigs.library import load_model
from physim.poses.classify import classify
from physim.poses.contacts import pig_contacts, table_contacts
from physim.prepared import Prepared
from physim.rests import RestTable
from physim.rules.score import outcome_of, score_of
from physim.seeding import MAX_SEED, stream
from physim.tosses.draws import Draws
from physim.tosses.library import toss as toss_named
from physim.tosses.models import TossModel
from physim.values import (
    PIG_NAMES,
    TABLE,
    PigModel,
    PigResult,
    Pose,
    PoseReading,
    Rest,
    Roll,
    Table,
    Toss,
)
from physim.world.scene import table as table_named
from physim.world.settings import EngineSettings
from physim.world.still import RestCriterion

if TYPE_CHECKING:
    from physim.world.settle import Observer
    from physim.world.track import Recording, Track
    from physim.world.world import World

SETTLE_MODES = FULL, FAST = "full", "fast"
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
        settle: "fast" stops a pig once its outcome is certain, "full" simulates to rest. Both come
            to the same outcome by the same way.
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
                f"settle must be {' or '.join(SETTLE_MODES)}, found {arguments.shown(self.settle)}"
            )

    @classmethod
    def named(
        cls,
        model: str | Path = "standard",
        *,
        black: str | Path | None = None,
        pink: str | Path | None = None,
        toss: str = "trapdoor",
        height_mm: float | None = None,
        surface: str | None = None,
        settings: EngineSettings | None = None,
        settle: str = FAST,
    ) -> Setup:
        """A setup from the names that the command line uses.

        Args:
            model: of both pigs: a name or a path to a model folder.
            black: of the black pig, in place of `model`.
            pink: of the pink pig, in place of `model`.
            toss: `trapdoor`, `hand` or `drop`.
            height_mm: of release; None for the toss's own.
            surface: of the table; None for the default.
            settings: of the engine; None for the default.
            settle: "full" or "fast".

        Raises:
            ConfigError, ModelError: an unknown name, or a file that cannot be used.
        """
        both = arguments.text("model", model)
        of_black = arguments.optional_text("black", black) or both
        of_pink = arguments.optional_text("pink", pink) or both
        if settings is not None and not isinstance(settings, EngineSettings):
            raise ConfigError(
                f"settings must be EngineSettings or None, found {arguments.shown(settings)}"
            )
        black_model = load_model(of_black)
        return cls(
            black_model,
            black_model if of_pink == of_black else load_model(of_pink),
            toss_named(toss, height_mm),
            table_named(arguments.optional_text("surface", surface)),
            settings or EngineSettings(),
            settle=settle,
        )

    @property
    def pigs(self) -> tuple[PigModel, PigModel]:
        return self.black, self.pink


class Simulator:
    """Rolls of one setup, one at a time: threads that share it wait for each other."""

    def __init__(self, setup: Setup, prepared: Prepared | None = None) -> None:
        """Keeps the setup; it is opened by `with`.

        Args:
            setup: what fixes the rolls.
            prepared: of the setup's pigs and table, where it is there already.

        Raises:
            ConfigError: it is of other pigs.
        """
        if prepared and any(
            body.model is not pig for body, pig in zip(prepared.bodies, setup.pigs, strict=True)
        ):
            raise ConfigError("`prepared` must be made of the pigs of the setup: Prepared.of(...)")
        self.setup = setup
        self._prepared = prepared
        self._world: World | None = None

    def __enter__(self) -> Simulator:
        from physim.world.world import World  # here: it loads the engine and the compiled loops

        setup = self.setup
        if self._world is not None:
            raise RuntimeError("this Simulator is open already")
        if self._prepared is None:
            self._prepared = Prepared.of(setup.pigs, setup.table)
        self._world = World(self._prepared.bodies, setup.table, setup.settings).__enter__()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._world is not None:
            self._world.__exit__(kind, error, trace)
            self._world = None

    def roll(self, seed: int, index: int, observe: Observer | None = None) -> Roll:
        """The roll of that seed and index; the same bits whatever was rolled before.

        Args:
            seed: 0 to 2^63 - 1.
            index: from 0.
            observe: as for `settle`.
        """
        seed, index = check_seed(seed, index)
        toss = self.setup.toss.release(Draws(stream(seed, index)), index, self.setup.pigs)
        return self.judge(seed, index, self.settle(toss, observe))

    def record(self, seed: int, index: int) -> tuple[Roll, Recording]:
        """As `roll`, with the pigs' ways to where the roll ended; the roll has the same bits."""
        if self._prepared is None:
            raise RuntimeError(_NOT_OPEN)
        from physim.world.track import Recording

        recording = Recording(self._prepared.bodies)
        seed, index = check_seed(seed, index)
        toss = self.setup.toss.release(Draws(stream(seed, index)), index, self.setup.pigs)
        return self.judge(seed, index, self.settle(toss, tracks=recording.tracks)), recording

    def rolls(self, seed: int, indices: Iterable[int]) -> Iterator[Roll]:
        """The rolls of these indices, one by one."""
        return (self.roll(seed, index) for index in indices)

    def settle(
        self,
        toss: Toss,
        observe: Observer | None = None,
        tracks: tuple[Track, Track] | None = None,
    ) -> Rest:
        """Physics alone: from a release to rest; `observe`, `tracks`: as for `settle`."""
        if self._world is None or self._prepared is None:
            raise RuntimeError(_NOT_OPEN)
        from physim.world.settle import settle

        return settle(
            self._world,
            toss,
            self.setup.criterion,
            observe,
            self._prepared.certificates,
            fast=self.setup.settle == FAST,
            tracks=tracks,
        )

    def judge(self, seed: int, index: int, rest: Rest) -> Roll:
        """Names and scores what physics left on the table."""
        if self._prepared is None:
            raise RuntimeError(_NOT_OPEN)
        return judge(seed, index, rest, self.setup.pigs, self._prepared.rests)


def judge(
    seed: int,
    index: int,
    rest: Rest,
    models: tuple[PigModel, PigModel],
    tables: tuple[RestTable, RestTable],
) -> Roll:
    """Rest -> contacts -> poses -> outcome -> score."""
    between = pig_contacts(models, rest.pigs, PIG_NAMES)
    pigs = []
    for name, model, state, table, touching, basin, time_s in zip(
        PIG_NAMES, models, rest.pigs, tables, between, rest.basins, rest.times_s, strict=True
    ):
        # What fell past the edge is below the table's plane, where gaps mean nothing.
        fallen = bool(state.position_m[2] < 0.0)
        if basin is not None:
            reading, where = table.rests[basin].reading, basin
        elif fallen:
            reading, where = PoseReading(Pose.OTHER, 1.0), None
        else:
            reading, where = classify(model, state), table.nearest(state.quat_xyzw)
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
    touching_pigs = bool(between[0])
    outcome = outcome_of(
        black.pose,
        pink.pose,
        status=rest.status,
        touching=touching_pigs,
        piggyback=touching_pigs and any(_rides(pig) for pig in pigs),
    )
    return Roll(
        seed=seed,
        index=index,
        status=rest.status,
        outcome=outcome,
        score=score_of(outcome, black.pose, pink.pose),
        touching=touching_pigs,
        ended=rest.ended,
        pigs=(black, pink),
        time_s=rest.time_s,
    )


def _rides(pig: PigResult) -> bool:
    """Whether a pig that touches the other has no contact with the table: a piggyback."""
    return all(contact.other != TABLE for contact in pig.contacts)


def check_seed(seed: int, index: int) -> tuple[int, int]:
    """Seed and index as Python's own integers; refuses those that no stream has.

    Raises:
        ConfigError: not whole numbers, negative or too large.
    """
    return arguments.whole("the seed", seed, 0, MAX_SEED), arguments.whole(
        "the index", index, 0, MAX_SEED
    )


def roll(seed: int, index: int = 0, *, setup: Setup | None = None) -> Roll:
    """One roll on an engine of its own; for many, open a `Simulator`."""
    with Simulator(setup or Setup.named()) as simulator:
        return simulator.roll(seed, index)
