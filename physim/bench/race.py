"""All contestants on the same tosses, in rounds: what each costs, and what it rolled.

Who is timed: each rolls the tosses of a seed and names what lies there.

A contestant in a process of its own, so that none lives in another's world.

Bullet keeps some settings and caches for a whole process, and memory fills differently.

The race as JSON values, with public names, and as a table.
"""

from __future__ import annotations

import math
import multiprocessing
import signal
import time
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, ExitStack
from dataclasses import asdict, dataclass, replace
from importlib.util import find_spec
from multiprocessing.connection import Connection
from typing import Any, Protocol

import numpy as np

from physim.dataset.plan import BatchPlan
from physim.errors import PhysicsError, PhysimError
from physim.physics.body import Body
from physim.physics.simulate import PigsInEngine, PlainPyBullet, simulate
from physim.seeding import stream
from physim.setup_options import FAST, FULL
from physim.simulator import RestTable, Setup, Simulator, judge
from physim.statistics.counts import NAMED_POSES, Counts
from physim.statistics.report import to_json as statistics_of
from physim.statistics.tests import g_test, total_variation
from physim.tosses.release import Draws
from physim.types import Pose, Roll, Status


@dataclass(frozen=True)
class Distance:
    """How far the poses of two samples are apart.

    Attributes:
        tv: total variation distance of the frequencies.
        expected_tv: what chance alone gives on average, if the two roll alike.
        g, df, p: G-test of one distribution. The samples share their tosses; that makes them,
            if anything, more alike than the independent ones that both numbers assume.
    """

    tv: float
    expected_tv: float
    g: float
    df: int
    p: float


@dataclass(frozen=True)
class Row:
    """One contestant.

    Attributes:
        name: one of `contestants.NAMES`.
        rolls_per_second: of one core, median over the rounds.
        time_step_s: the (longest) step [s].
        simulated_s: simulated time of a roll, mean [s].
        ratio: (median, lowest, highest) over the rounds of its rolls per second over those of
            the plain loop in the same round; None if that did not run.
        counts: what it rolled.
        to_full: its distance to `physim_full`; None if one of them has no pigs to count.
    """

    name: str
    rolls_per_second: float
    time_step_s: float
    simulated_s: float
    ratio: tuple[float, float, float] | None
    counts: Counts
    to_full: Distance | None


def race(
    names: Sequence[str],
    plan: BatchPlan,
    rounds: int,
    progress: Callable[[int, int], None] = lambda done, total: None,
) -> list[Row]:
    """Times every contestant on the rolls 0 to n - 1 of the plan.

    In each round all contestants, one after the other, make the same share of the rolls: what
    else the machine does meanwhile slows them alike, and ratios are taken within a round.

    Args:
        names: of the contestants.
        plan: the rolls; its `settle` does not count.
        rounds: at most n.
        progress: called with the rolls done and all rolls, of all contestants.
    """
    step_s = plan.setup().settings.time_step_s
    shares = [part.tolist() for part in np.array_split(np.arange(plan.n), rounds)]
    times: dict[str, list[Timed]] = {name: [] for name in names}
    with ExitStack() as stack:
        lanes = [stack.enter_context(Lane(name, plan)) for name in names]
        done, total = 0, plan.n * len(names)
        progress(done, total)
        for share in shares:
            for lane in lanes:
                times[lane.name].append(lane.roll(share))
                done += len(share)
                progress(done, total)
    return rows(times, [len(share) for share in shares], step_s)


def rows(times: dict[str, list[Timed]], sizes: Sequence[int], step_s: float) -> list[Row]:
    """What the rounds of all contestants add up to.

    Args:
        times: by name, of every round.
        sizes: rolls of every round.
        step_s: the time step [s].
    """
    speeds = {
        name: np.array([n / one.processor_s for n, one in zip(sizes, own, strict=True)])
        for name, own in times.items()
    }
    counts = {name: sum((one.counts for one in own), Counts()) for name, own in times.items()}
    full = counts.get(PHYSIM_FULL)
    table = []
    for name, own in times.items():
        ratios = speeds[name] / speeds[PLAIN] if PLAIN in speeds else None
        table.append(
            Row(
                name,
                float(np.median(speeds[name])),
                step_s,
                sum(one.simulated_s for one in own) / sum(sizes),
                None
                if ratios is None
                else (float(np.median(ratios)), float(ratios.min()), float(ratios.max())),
                counts[name],
                None if full is None or name == PHYSIM_FULL else distance(counts[name], full),
            )
        )
    return table


def distance(one: Counts, two: Counts) -> Distance | None:
    """How far the named poses of two samples are apart; None if one has none."""
    first, second = ([counts.poses[pose] for pose in NAMED_POSES] for counts in (one, two))
    if not sum(first) or not sum(second):
        return None
    test = g_test(first, second)
    return Distance(
        total_variation(first, second), expected_tv(first, second), test.g, test.df, test.p
    )


def expected_tv(one: Sequence[int], two: Sequence[int]) -> float:
    """Mean total variation distance of two samples of these sizes from one distribution.

    A difference of frequencies is nearly normal; half the sum of the mean absolute deviations
    s sqrt(2 / pi), s^2 = p (1 - p) (1 / n + 1 / m).
    """
    first, second = np.asarray(one, dtype=float), np.asarray(two, dtype=float)
    n, m = first.sum(), second.sum()
    p = (first + second) / (n + m)
    deviations = np.sqrt(p * (1.0 - p) * (1.0 / n + 1.0 / m))
    return float(deviations.sum() / np.sqrt(2.0 * np.pi))


PLAIN, MUJOCO, PHYSIM_FULL, PHYSIM = NAMES = ("plain_pybullet", "mujoco", "physim_full", "physim")


class Contestant(Protocol):
    """Makes the rolls of one setup."""

    def roll(self, seed: int, index: int) -> Roll:
        """The roll of that seed and index."""
        ...


class Loop(PigsInEngine, Protocol):
    """Two pigs in a physics engine. Used with `with`."""

    def __enter__(self) -> object: ...

    def __exit__(self, *error: Any) -> None: ...


class Judged:
    """A plain loop with physim's tosses before it and its classifier behind. Used by `with`."""

    def __init__(self, setup: Setup, loop: Loop) -> None:
        self.setup = setup
        self.loop = loop

    def __enter__(self) -> Judged:
        of_black = RestTable.of(self.setup.black)
        same = self.setup.pink is self.setup.black
        self._rests = (of_black, of_black if same else RestTable.of(self.setup.pink))
        self.loop.__enter__()
        return self

    def __exit__(self, *error: object) -> None:
        self.loop.__exit__(*error)

    def roll(self, seed: int, index: int) -> Roll:
        """The roll of that seed and index."""
        pigs = self.setup.pigs
        toss = self.setup.toss.release(Draws(stream(seed, index)), index, pigs)
        return judge(seed, index, simulate(self.loop, toss), pigs, self._rests)


def has_mujoco() -> bool:
    """Whether the optional library is installed."""
    return find_spec("mujoco") is not None


def plain_pybullet(setup: Setup) -> PlainPyBullet:
    """The reference loop of this setup."""
    bodies = Body.of(setup.black), Body.of(setup.pink)
    return PlainPyBullet(bodies, setup.table, setup.settings, setup.criterion)


def contestant(name: str, setup: Setup) -> AbstractContextManager[Contestant]:
    """One of `NAMES` with this setup, to be opened by `with`."""
    if name == PLAIN:
        return Judged(setup, plain_pybullet(setup))
    if name == MUJOCO:
        from physim.bench.mujoco_loop import MujocoPigs

        return Judged(setup, MujocoPigs(setup))
    return Simulator(replace(setup, settle=FULL if name == PHYSIM_FULL else FAST))


@dataclass(frozen=True)
class Timed:
    """Some rolls and what they cost.

    Attributes:
        processor_s: processor time of all threads, naming included [s].
        simulated_s: simulated time, flight included [s].
        counts: what the rolls were.
    """

    processor_s: float
    simulated_s: float
    counts: Counts


class Lane:
    """Rolls one contestant when asked. Use it with `with`."""

    def __init__(self, name: str, plan: BatchPlan) -> None:
        self.name = name
        self._plan = plan

    def __enter__(self) -> Lane:
        context = multiprocessing.get_context("spawn")
        self._pipe, theirs = context.Pipe()
        self._process = context.Process(
            target=_serve, args=(theirs, self.name, self._plan), daemon=True
        )
        self._process.start()
        theirs.close()
        return self

    def __exit__(self, *error: object) -> None:
        self._pipe.close()
        self._process.kill()
        self._process.join()

    def roll(self, indices: Sequence[int]) -> Timed:
        """The rolls of these indices.

        Raises:
            PhysimError: what the contestant raised, or its process died.
        """
        try:
            self._pipe.send(list(indices))
            answer = self._pipe.recv()
        except (EOFError, OSError):
            raise PhysicsError(
                f"{self.name}: its process died; try `physim bench --only {self.name}` alone, "
                "with more memory free"
            ) from None
        if isinstance(answer, Timed):
            return answer
        raise answer


def _serve(pipe: Connection, name: str, plan: BatchPlan) -> None:
    """What the process does: rolls until the pipe is closed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent says what Ctrl-C means
    try:
        with contestant(name, plan.setup()) as rolls:
            rolls.roll(plan.seed, 0)  # files are read, memory is taken
            while True:
                indices = pipe.recv()
                start = time.process_time()
                done = [rolls.roll(plan.seed, index) for index in indices]
                spent = time.process_time() - start
                pipe.send(Timed(spent, sum(roll.time_s for roll in done), Counts.from_rows(done)))
    except (EOFError, ConnectionError):  # the parent has ended meanwhile, by Ctrl-C
        return
    except PhysimError as error:
        pipe.recv()
        pipe.send(error)


def to_json(rows: Sequence[Row]) -> list[dict[str, Any]]:
    """The rows, with `poses` as `physim stats --json` has them."""
    return [_row(row) for row in rows]


def _row(row: Row) -> dict[str, Any]:
    summary = statistics_of(row.counts)
    ratio = row.ratio or (None, None, None)
    return {
        "name": row.name,
        "rolls_per_second": row.rolls_per_second,
        "time_step_s": row.time_step_s,
        "simulated_s": row.simulated_s,
        **dict(zip(("ratio", "ratio_low", "ratio_high"), ratio, strict=True)),
        "rolls": row.counts.rolls,
        "poses": summary["poses"],
        "statuses": summary["statuses"],
        "touching": row.counts.touching,
        "to_physim_full": None if row.to_full is None else asdict(row.to_full),
    }


def to_text(rows: Sequence[Row]) -> str:
    """Two tables: speeds and distances, and frequencies."""
    lines = [
        f"{'':15}{'rolls/s':>9}{'x plain':>9}{'(rounds)':>15}{'s a roll':>10}"
        f"{'TV to full':>12}{'by chance':>11}{'p':>9}"
    ]
    for row in rows:
        ratio = spread = tv = chance = p = ""
        if row.ratio is not None:
            ratio, spread = f"{row.ratio[0]:.2f}", f"{row.ratio[1]:.2f} to {row.ratio[2]:.2f}"
        if row.to_full is not None:
            tv, chance = f"{row.to_full.tv:.4f}", f"{row.to_full.expected_tv:.4f}"
            p = f"{row.to_full.p:.2g}"
        lines.append(
            f"{row.name:15}{row.rolls_per_second:>9.1f}{ratio:>9}{spread:>15}"
            f"{row.simulated_s:>10.3f}{tv:>12}{chance:>11}{p:>9}"
        )
    lines += ["", "pigs by pose, % with standard error:"]
    lines.append(f"{'':15}" + "".join(f"{pose.value:>16}" for pose in Pose))
    lines += [_frequencies(row) for row in rows]
    odd = [
        f"{row.name} {row.counts.statuses[status]} {status.value}"
        for row in rows
        for status in (Status.UNSETTLED, Status.OFF_TABLE)
        if row.counts.statuses[status]
    ]
    if odd:
        lines += ["", "rolls not counted: " + ", ".join(odd)]
    return "\n".join(lines)


def _frequencies(row: Row) -> str:
    cells = []
    pigs = max(row.counts.pigs, 1)
    for pose in Pose:
        share = row.counts.poses[pose] / pigs
        error = math.sqrt(share * (1.0 - share) / pigs)
        cells.append(f"{100 * share:.2f} ±{100 * error:.2f}".rjust(16))
    return f"{row.name:15}" + "".join(cells)
