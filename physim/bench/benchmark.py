"""Engines side by side on the same tosses, in rounds: what a roll costs, and what they roll.

physim's simulator is timed beside loops that use an engine alone. Those get physim's tosses, rest
criterion and classifier, so that only the simulation differs.
"""

from __future__ import annotations

import math
import multiprocessing
import signal
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import asdict, dataclass, replace
from importlib.util import find_spec
from multiprocessing.connection import Connection
from types import TracebackType
from typing import Any

import numpy as np

from physim.dataset.plan import BatchPlan
from physim.errors import PhysicsError, PhysimError
from physim.physics.body import Body
from physim.physics.rest import RestCriterion, Stillness
from physim.seeding import stream
from physim.simulator import FAST, FULL, RestTable, Setup, Simulator, judge
from physim.statistics.compare import g_test, total_variation
from physim.statistics.counts import NAMED_POSES, Counts
from physim.statistics.report import summarize
from physim.tosses.release import Draws
from physim.types import Ended, Pose, Rest, RigidState, Roll, Status, Table, Toss

PLAIN, MUJOCO, PHYSIM_FULL, PHYSIM = NAMES = ("plain_pybullet", "mujoco", "physim_full", "physim")
Motion = tuple[Sequence[float], Sequence[float], Sequence[float], Sequence[float]]
"""Position, quaternion (xyzw), velocity and spin of a pig, principal frame, SI."""


class OutsideEngine(ABC):
    """An engine from outside physim with two pigs and a table. Use it with `with`."""

    def __init__(self, setup: Setup) -> None:
        self.setup = setup
        self.bodies = (Body.of(setup.black), Body.of(setup.pink))
        self._rests = (RestTable.of(setup.black), RestTable.of(setup.pink))

    def __enter__(self) -> OutsideEngine:
        self.open()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    @abstractmethod
    def open(self) -> None:
        """Makes the world."""

    @abstractmethod
    def close(self) -> None:
        """Gives the world's memory back."""

    @abstractmethod
    def release(self, toss: Toss) -> None:
        """Puts the pigs where the toss lets them go."""

    @abstractmethod
    def advance(self, steps: int) -> None:
        """Steps the world."""

    @abstractmethod
    def sample(self) -> Sequence[Motion]:
        """The motion of both pigs."""

    @abstractmethod
    def pigs_meet(self) -> bool:
        """Whether the pigs are in contact."""

    def roll(self, seed: int, index: int) -> Roll:
        """The roll of that seed and index."""
        pigs = self.setup.pigs
        toss = self.setup.toss.release(Draws(stream(seed, index)), index, pigs)
        return judge(seed, index, self.settle(toss), pigs, self._rests)

    def settle(self, toss: Toss) -> Rest:
        """From release to rest; states in the pig frame."""
        table, settings = self.setup.table, self.setup.settings
        detector = PairRestDetector(self.bodies, table, self.setup.criterion)
        self.release(toss)
        status, steps, now_s, motions = Status.UNSETTLED, 0, 0.0, self.sample()
        while status is Status.UNSETTLED and now_s < self.setup.criterion.cap_s:
            self.advance(settings.steps_a_call)
            steps += settings.steps_a_call
            now_s = steps * settings.time_step_s
            motions = self.sample()
            if detector.at_rest(now_s, motions, self.pigs_meet):
                status = Status.OK
        x_m, y_m = table.length_m / 2, table.width_m / 2
        if any(abs(x) > x_m or abs(y) > y_m for (x, y, _), *_ in motions):
            status = Status.OFF_TABLE
        black, pink = (
            body.leave(_state(motion)) for body, motion in zip(self.bodies, motions, strict=True)
        )
        return Rest(status, Ended.REST, now_s, (black, pink), (now_s, now_s), steps)


class PairRestDetector:
    """The rest criterion of `physim.physics.rest` for two pigs in one engine."""

    def __init__(self, bodies: tuple[Body, Body], table: Table, rule: RestCriterion) -> None:
        self._pigs = [(body, Stillness(body, table, rule)) for body in bodies]
        self._window_s = rule.window_s

    def at_rest(self, now_s: float, motions: Sequence[Motion], meet: Callable[[], bool]) -> bool:
        """Whether both pigs are at rest by now.

        Args:
            now_s: simulated time [s].
            motions: of the two.
            meet: whether the pigs touch; asked only of pigs that hold still unsupported.
        """
        for (body, still), (_, _, velocity, spin) in zip(self._pigs, motions, strict=True):
            if math.hypot(*velocity) + body.radius_m * math.hypot(*spin) > still.limit_m_s:
                for _, each in self._pigs:
                    each.moves()
                return False
        pigs = [(still, _state(at)) for (_, still), at in zip(self._pigs, motions, strict=True)]
        still_s = min([still.still_s(state, now_s) for still, state in pigs])
        if still_s < self._window_s:
            return False
        if all(still.supported(state) for still, state in pigs):
            return True
        return still_s >= 2 * self._window_s and meet()


def _state(motion: Motion) -> RigidState:
    return RigidState(*(np.array(numbers) for numbers in motion))


def has_mujoco() -> bool:
    """Whether the optional library is installed."""
    return find_spec("mujoco") is not None


def open_engine(name: str, setup: Setup) -> AbstractContextManager[OutsideEngine | Simulator]:
    """One of `NAMES` with this setup, to be opened by `with`."""
    if name == PLAIN:
        from physim.bench.pybullet_loop import PlainPyBullet

        return PlainPyBullet(setup)
    if name == MUJOCO:
        from physim.bench.mujoco_loop import MujocoPigs

        return MujocoPigs(setup)
    return Simulator(replace(setup, settle=FULL if name == PHYSIM_FULL else FAST))


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
        with open_engine(name, plan.setup()) as engine:
            engine.roll(plan.seed, 0)  # files are read, memory is taken
            while True:
                indices = pipe.recv()
                start = time.process_time()
                rolls = [engine.roll(plan.seed, index) for index in indices]
                spent_s = time.process_time() - start
                simulated_s = sum(roll.time_s for roll in rolls)
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
    step_s = plan.setup().settings.time_step_s
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
    return results(timings, [len(share) for share in shares], step_s)


def results(
    timings: dict[str, list[Timing]], sizes: Sequence[int], step_s: float
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
        found.append(EngineResult(name, speed, step_s, simulated_s, ratio, counts[name], to_full))
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
        summary = summarize(each.counts)
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
