"""Engines side by side on the same tosses, in rounds: what a roll costs, and what they roll.

physim's simulator is timed beside loops that use an engine alone. Those get physim's tosses, rest
criterion and classifier, so that only the simulation differs.
"""

from __future__ import annotations

import math
import multiprocessing
import signal
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass, replace
from multiprocessing.connection import Connection
from typing import TYPE_CHECKING, Any

import numpy as np

from physim.config import COMPILED, FAST, FULL, PYBULLET
from physim.dataset.plan import BatchPlan
from physim.errors import PhysicsError, PhysimError
from physim.physics.body import Body
from physim.physics.simulate import PigsInEngine, PlainPyBullet, simulate
from physim.physics.surfaces import CONE, EngineSettings
from physim.seeding import stream
from physim.simulator import RestTable, Setup, Simulator, classify_and_score
from physim.statistics.counts import NAMED_POSES, Counts
from physim.statistics.report import to_json as statistics_of
from physim.statistics.tests import g_test, total_variation
from physim.tosses.release import Draws
from physim.types import Pose, Roll, Status

if TYPE_CHECKING:
    from physim.physics.mujoco_engine import MujocoPigs

PLAIN, PLAIN_TOLERANCE, MUJOCO, MUJOCO_FINE, PHYSIM_FULL, PHYSIM, PHYSIM_COMPILED, PHYSIM_CONE = (
    NAMES
) = (
    "plain_pybullet",
    "plain_tolerance",  # with physim's solver tolerance in place of PyBullet's own
    "mujoco",
    "mujoco_fine",  # at a quarter of the step, where its contacts are stiff enough
    "physim_full",
    "physim",
    "physim_compiled",
    "physim_cone",  # compiled, with Coulomb's cone
)
_PHYSIM: dict[str, dict[str, Any]] = {
    PHYSIM_FULL: {"engine": PYBULLET},
    PHYSIM: {"engine": PYBULLET},
    PHYSIM_COMPILED: {"engine": COMPILED},
    PHYSIM_CONE: {"engine": COMPILED, "friction": CONE},
}
STEPS = 4  # of `MUJOCO_FINE` to one of the others
RollOf = Callable[[int, int], Roll]  # of a seed and an index


def two_pigs(name: str, setup: Setup) -> PlainPyBullet | MujocoPigs:
    """The reference loop's engine, or another one for it, to be opened by `with`."""
    bodies = Body.of(setup.black), Body.of(setup.pink)
    given = bodies, setup.table, settings_of(name, setup), setup.criterion
    if name in (MUJOCO, MUJOCO_FINE):
        from physim.physics.mujoco_engine import MujocoPigs

        return MujocoPigs(*given)
    return PlainPyBullet(*given, own_tolerance=name == PLAIN)


def settings_of(name: str, setup: Setup) -> EngineSettings:
    """The engine settings of one of `NAMES`."""
    settings = setup.settings
    if name == MUJOCO_FINE:
        steps = STEPS * settings.steps_per_check
        finer_s = settings.time_step_s / STEPS
        return replace(settings, time_step_s=finer_s, steps_per_check=steps)
    return replace(settings, **_PHYSIM.get(name, {}))


@contextmanager
def open_engine(name: str, setup: Setup) -> Iterator[RollOf]:
    """Opens one of `NAMES` with this setup, to make rolls."""
    if name in _PHYSIM:
        settle = FULL if name == PHYSIM_FULL else FAST
        with Simulator(
            replace(setup, settle=settle, settings=settings_of(name, setup))
        ) as simulator:
            yield simulator.roll
        return
    with two_pigs(name, setup) as pigs:
        yield scored(setup, pigs)


def scored(setup: Setup, pigs: PigsInEngine) -> RollOf:
    """The rolls of an open engine, with physim's tosses before it and its classifier behind."""
    rests = (RestTable.of(setup.black), RestTable.of(setup.pink))

    def roll(seed: int, index: int) -> Roll:
        toss = setup.toss.release(Draws(stream(seed, index)), index, setup.pigs)
        return classify_and_score(seed, index, simulate(pigs, toss), setup.pigs, rests)

    return roll


@dataclass(frozen=True)
class Timing:
    """Some rolls, the processor time of all threads [s] and the simulated time [s] they took."""

    processor_s: float
    simulated_s: float
    counts: Counts


@contextmanager
def engine_process(name: str, plan: BatchPlan) -> Iterator[Callable[[Sequence[int]], Timing]]:
    """Gives the rolls of some indices, made by an engine in a process of its own.

    Bullet keeps settings and caches for a whole process, and memory fills differently.

    Raises:
        PhysimError: on a call: what the engine raised, or its process died.
    """
    context = multiprocessing.get_context("spawn")
    pipe, theirs = context.Pipe()
    process = context.Process(target=_serve, args=(theirs, name, plan), daemon=True)
    process.start()
    theirs.close()

    def roll(indices: Sequence[int]) -> Timing:
        try:
            pipe.send(list(indices))
            answer = pipe.recv()
        except (EOFError, OSError):
            raise PhysicsError(
                f"{name}: its process died; try `physim bench --only {name}` alone, "
                "with more memory free"
            ) from None
        if isinstance(answer, Timing):
            return answer
        raise answer

    try:
        yield roll
    finally:
        pipe.close()
        process.kill()
        process.join()


def _serve(pipe: Connection, name: str, plan: BatchPlan) -> None:
    """Rolls what the pipe asks for, until it is closed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent says what Ctrl-C means
    try:
        with open_engine(name, plan.setup()) as roll:
            roll(plan.seed, 0)  # files are read, memory is taken
            while True:
                indices = pipe.recv()
                start = time.process_time()
                rolls = [roll(plan.seed, index) for index in indices]
                spent_s = time.process_time() - start
                simulated_s = sum(done.time_s for done in rolls)
                pipe.send(Timing(spent_s, simulated_s, Counts.from_rows(rolls)))
    except (EOFError, ConnectionError):  # the parent has ended meanwhile, by Ctrl-C
        return
    except PhysimError as error:
        pipe.recv()
        pipe.send(error)


@dataclass(frozen=True)
class PoseDistance:
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
class EngineResult:
    """What one engine came to.

    Attributes:
        name: one of `NAMES`.
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
    to_full: PoseDistance | None


def benchmark(
    names: Sequence[str],
    plan: BatchPlan,
    rounds: int,
    progress: Callable[[int, int], None] = lambda done, total: None,
) -> list[EngineResult]:
    """Times engines on the rolls 0 to n - 1 of the plan.

    In each round all engines, one after the other, make the same share of the rolls: what else
    the machine does meanwhile slows them alike, and ratios are taken within a round.

    Args:
        names: of the engines.
        plan: the rolls; its `settle` does not count.
        rounds: at most n.
        progress: called with the rolls done and all rolls, of all engines.
    """
    setup = plan.setup()
    steps_s = {name: settings_of(name, setup).time_step_s for name in names}
    shares = [part.tolist() for part in np.array_split(np.arange(plan.n), rounds)]
    timings: dict[str, list[Timing]] = {name: [] for name in names}
    with ExitStack() as stack:
        engines = {name: stack.enter_context(engine_process(name, plan)) for name in names}
        done, total = 0, plan.n * len(names)
        progress(done, total)
        for share in shares:
            for name, roll in engines.items():
                timings[name].append(roll(share))
                done += len(share)
                progress(done, total)
    return results(timings, [len(share) for share in shares], steps_s)


def results(
    timings: dict[str, list[Timing]], sizes: Sequence[int], steps_s: dict[str, float]
) -> list[EngineResult]:
    """What the rounds add up to; `timings` has every round by name, `sizes` their rolls."""
    speeds = {
        name: np.array([n / one.processor_s for n, one in zip(sizes, own, strict=True)])
        for name, own in timings.items()
    }
    counts = {name: sum((one.counts for one in own), Counts()) for name, own in timings.items()}
    found = []
    for name, own in timings.items():
        ratio, to_full = None, None
        if PLAIN in speeds:
            ratios = speeds[name] / speeds[PLAIN]
            ratio = float(np.median(ratios)), float(ratios.min()), float(ratios.max())
        if PHYSIM_FULL in counts and name != PHYSIM_FULL:
            to_full = distance(counts[name], counts[PHYSIM_FULL])
        speed = float(np.median(speeds[name]))
        simulated_s = sum(one.simulated_s for one in own) / sum(sizes)
        found.append(
            EngineResult(name, speed, steps_s[name], simulated_s, ratio, counts[name], to_full)
        )
    return found


def distance(one: Counts, two: Counts) -> PoseDistance | None:
    """How far the named poses of two samples are apart; None if one has none."""
    first, second = ([counts.poses[pose] for pose in NAMED_POSES] for counts in (one, two))
    if not sum(first) or not sum(second):
        return None
    test, tv = g_test(first, second), total_variation(first, second)
    return PoseDistance(tv, expected_tv(first, second), test.g, test.df, test.p)


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


def to_json(found: Sequence[EngineResult]) -> list[dict[str, Any]]:
    """The results, with `poses` as `physim stats --json` has them."""
    rows = []
    for each in found:
        summary = statistics_of(each.counts)
        ratio = each.ratio or (None, None, None)
        rows.append(
            {
                "name": each.name,
                "rolls_per_second": each.rolls_per_second,
                "time_step_s": each.time_step_s,
                "simulated_s": each.simulated_s,
                **dict(zip(("ratio", "ratio_low", "ratio_high"), ratio, strict=True)),
                "rolls": each.counts.rolls,
                "poses": summary["poses"],
                "statuses": summary["statuses"],
                "touching": each.counts.touching,
                "to_physim_full": None if each.to_full is None else asdict(each.to_full),
            }
        )
    return rows


def to_text(found: Sequence[EngineResult]) -> str:
    """Two tables: speeds and distances, and frequencies."""
    lines = [
        f"{'':15}{'rolls/s':>9}{'x plain':>9}{'(rounds)':>15}{'s per roll':>11}"
        f"{'TV to full':>12}{'by chance':>11}{'p':>9}"
    ]
    for each in found:
        line = f"{each.name:15}{each.rolls_per_second:>9.1f}"
        if each.ratio is None:
            line += " " * 24
        else:
            line += "{:>9.2f}{:>15}".format(each.ratio[0], "{1:.2f} to {2:.2f}".format(*each.ratio))
        line += f"{each.simulated_s:>11.3f}"
        if (far := each.to_full) is not None:
            line += f"{far.tv:>12.4f}{far.expected_tv:>11.4f}{far.p:>9.2g}"
        lines.append(line)
    lines += ["", "pigs by pose, % with standard error:"]
    lines.append(f"{'':15}" + "".join(f"{pose.value:>16}" for pose in Pose))
    lines += [f"{each.name:15}{_shares(each.counts)}" for each in found]
    odd = [
        f"{each.name} {each.counts.statuses[status]} {status.value}"
        for each in found
        for status in (Status.UNSETTLED, Status.OFF_TABLE)
        if each.counts.statuses[status]
    ]
    if odd:
        lines += ["", "rolls not counted: " + ", ".join(odd)]
    return "\n".join(lines)


def _shares(counts: Counts) -> str:
    """Each pose in percent, with its standard error."""
    pigs = max(counts.pigs, 1)
    shares = [counts.poses[pose] / pigs for pose in Pose]
    errors = [math.sqrt(share * (1.0 - share) / pigs) for share in shares]
    cells = [f"{100 * a:.2f} ±{100 * b:.2f}" for a, b in zip(shares, errors, strict=True)]
    return "".join(cell.rjust(16) for cell in cells)
