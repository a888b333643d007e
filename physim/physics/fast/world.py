"""From release to rest, the fast way: each pig for itself as long as that changes nothing.

Each pig goes its own way (`single`) as long as nothing can come of the other (`proximity`): it
flies and bounces from check to check until it is at rest, or in a fast roll until its outcome is
certain (`EnergyBound`). While the pigs may meet, or near the table's edge, they go on in one
engine (`PigPair`), and each alone again once they are apart. `physics.simulate` is the same roll
without these shortcuts.

A fast roll takes the very same steps as a full one and only ends sooner. A pig whose basin is
certain is frozen while the other one goes on, as long as that one stays out of the circle in
which the frozen one may still move; when it does not, the frozen pig catches up.
"""

from __future__ import annotations

import math
import threading
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from physim.compiled import compiled, told
from physim.config import PYBULLET
from physim.errors import PhysicsError, optional
from physim.physics.body import Body
from physim.physics.fast.advance import advance, bring, release, resume
from physim.physics.fast.pair import EnergyBounds, PigPair
from physim.physics.fast.pig_record import WORK, PigRecord
from physim.physics.fast.proximity import (
    ROLL,
    certain_basin,
    for_engine,
    keeps_clear,
    nears_edge,
    possible_contact,
    reaches_edge,
    steps_ahead,
)
from physim.physics.fast.single import SinglePig, needs_pybullet
from physim.physics.state import PlainState, RestCriterion, Trajectory, rest_of
from physim.physics.surfaces import EngineSettings
from physim.types import Rest, Status, Table, Toss

if TYPE_CHECKING:
    from physim.physics.mujoco_engine import MujocoPair

STEP, MEET, OVER, BROKEN = range(4)  # what `go_on` asks for
# Where a roll is between two checks; each is for black, the next number for pink.
BEGINS, CLEARS, MEETS, GOES = 0, 2, 4, 6
AHEAD, CHECKED = 8, 9


@compiled
def go_on(
    rolls: NDArray[Any],
    now: NDArray[Any],
    fixed: NDArray[Any],
    work: NDArray[Any],
) -> int:
    """Goes on with a roll until an engine is needed, or it is over.

    Returns:
        `STEP` where PyBullet is to step the pig `asks`, `MEET` where both pigs (`states`) go on in
        one engine, `OVER`, or `BROKEN` where a state is no number.
    """
    black = PigRecord(now[0], fixed[0], work[0])
    pink = PigRecord(now[1], fixed[1], work[1])
    roll, first, second = rolls[0], now[0], now[1]
    while True:
        if not math.isfinite(first.centre[0] + first.energy_m + second.centre[0] + second.energy_m):
            return BROKEN
        if roll.phase == AHEAD:
            look_ahead(roll, black, pink)
            roll.phase = MEETS if roll.ahead == 0 else GOES
        elif roll.phase == CHECKED:
            if possible_contact(roll, black, pink):
                roll.step = roll.near_step
                return MEET
            if over_at_check(roll, black, pink):
                return OVER
            roll.phase = CLEARS
        else:
            if roll.phase == CLEARS and frozen(black) and frozen(pink):
                return OVER
            roll.asks = roll.phase % 2
            one, other = (black, pink) if roll.asks == 0 else (pink, black)
            if not on_its_way(roll, one, other):
                return STEP
            roll.phase += 1
            if roll.phase == CLEARS + 2:
                roll.phase = AHEAD
            elif roll.phase == MEETS + 2:
                for_engine(black, roll.states[0])
                for_engine(pink, roll.states[1])
                return MEET
            elif roll.phase == GOES + 2:
                roll.phase = CHECKED


@compiled
def frozen(pig: PigRecord) -> bool:
    """Whether it is at rest or certain, and so left alone."""
    return bool(pig.now.at_rest or pig.now.basin >= 0)


@compiled
def on_its_way(roll: Any, pig: PigRecord, other: PigRecord) -> bool:
    """Does what the phase says for one pig; False where it has to be stepped."""
    p = pig.now
    if roll.phase < CLEARS:
        return bool(advance(pig))
    if roll.phase < MEETS:
        if p.basin >= 0 and not keeps_clear(pig, other):
            p.basin = -1  # all that it may still do counts
            p.caught_up += 1
        return bool(p.basin >= 0 or bring(pig, roll.step, True))
    if roll.phase < GOES:
        return bool(bring(pig, roll.step, True))
    return bool(p.basin >= 0 or bring(pig, roll.step, False))


@compiled
def look_ahead(roll: Any, black: PigRecord, pink: PigRecord) -> None:
    """To the check up to which the pigs may go on, each alone: none where they may meet."""
    c = black.fixed
    roll.ahead = c.check_steps - roll.step % c.check_steps
    check_s = c.check_steps * c.step_s
    if nears_edge(black, check_s) or nears_edge(pink, check_s):
        roll.ahead = 0
    elif black.now.basin < 0 and pink.now.basin < 0:
        steps = steps_ahead(roll, black, pink)
        # No leap over the edge: a flight is checked there as anywhere else.
        leap_s = (steps + c.check_steps) * c.step_s
        if steps <= roll.ahead or not (nears_edge(black, leap_s) or nears_edge(pink, leap_s)):
            roll.ahead = steps
    roll.step += roll.ahead


@compiled
def over_at_check(roll: Any, black: PigRecord, pink: PigRecord) -> bool:
    """Freezes what is certain; whether waiting ends here."""
    step_s = black.fixed.step_s
    at_cap = roll.step * step_s >= roll.cap_s
    if roll.fast or at_cap:
        freeze(black, pink)
        freeze(pink, black)
    return bool(at_cap)


@compiled
def freeze(pig: PigRecord, other: PigRecord) -> None:
    """Freezes a pig whose basin is certain and whose way is free."""
    p, c = pig.now, pig.fixed
    if frozen(pig) or certain_basin(pig) < 0 or not keeps_clear(pig, other):
        return
    # A full roll looks ahead by what the pig may do before the next check.
    if not reaches_edge(pig, p.reach_m + p.fastest_m_s * (c.check_steps * c.step_s)):
        p.basin = p.known


def meeting(
    bodies: tuple[Body, Body],
    table: Table,
    settings: EngineSettings,
    criterion: RestCriterion,
    bounds: EnergyBounds | None,
) -> PigPair | MujocoPair:
    """What steps pigs that meet or are near the edge; PyBullet also where MuJoCo cannot."""
    needed = any(needs_pybullet(body, table.surface) for body in bodies)
    if settings.pairs == PYBULLET or needed:
        return PigPair(bodies, table, settings, criterion, bounds)
    optional("mujoco", "mujoco", "without PyBullet, a roll")
    from physim.physics.mujoco_engine import MujocoPair

    return MujocoPair(bodies, table, settings, criterion, bounds)


class World:
    """A table and two pigs. Use it with `with`; rolls are made on it one at a time."""

    def __init__(
        self,
        bodies: tuple[Body, Body],
        table: Table,
        settings: EngineSettings | None = None,
        criterion: RestCriterion | None = None,
        bounds: EnergyBounds | None = None,
    ) -> None:
        """Prepares what `with` opens.

        Args:
            bodies: the two pigs.
            table: what they land on.
            settings: of the engines; the default if None.
            criterion: when pigs are at rest; the default if None.
            bounds: know when a pig's outcome is certain; asked at the cap, and before in fast
                rolls.
        """
        self.bodies = bodies
        self.table = table
        self.settings = settings = settings or EngineSettings()
        self.criterion = criterion = criterion or RestCriterion()
        first, second = (
            SinglePig(body, table, settings, criterion, bound)
            for body, bound in zip(bodies, bounds or (None, None), strict=True)
        )
        self.pigs = first, second
        self.pair = meeting(bodies, table, settings, criterion, bounds)
        self._roll = np.zeros(1, dtype=ROLL)
        self._now = np.concatenate([pig.now for pig in self.pigs])
        self._fixed = np.concatenate([pig.fixed for pig in self.pigs])
        self._work = np.zeros(2, dtype=WORK)
        for number, pig in enumerate(self.pigs):
            own = slice(number, number + 1)
            pig.share(self._now[own], self._fixed[own], self._work[own])
        self._open = ExitStack()
        self._lock = threading.Lock()
        self._closed = self._called = False

    def __enter__(self) -> World:
        with ExitStack() as stack:  # closes those that are open if another cannot be opened
            for engine in (*self.pigs, self.pair):
                stack.enter_context(engine)
            self._open = stack.pop_all()
        self._closed = False
        return self

    def __exit__(self, *error: object) -> None:
        with self._lock:
            self._closed = True
            self._open.close()

    def settle(
        self, toss: Toss, *, fast: bool = False, trajectory: Trajectory | None = None
    ) -> Rest:
        """Simulates one roll from release until both pigs are at rest.

        Args:
            toss: the two states at release, pig frame.
            fast: ends the roll once the outcome is certain. It changes when a roll stops, and
                nothing else.
            trajectory: an empty one, which takes down the ways of both pigs; this changes no bit.
        """
        with self._lock:
            if self._closed:
                raise RuntimeError("this Simulator was closed while a roll waited for it")
            if self._called:
                return self._settle(toss, fast, trajectory)
            self._called = True
            with told():
                return self._settle(toss, fast, trajectory)

    def _settle(self, toss: Toss, fast: bool, trajectory: Trajectory | None) -> Rest:
        ways = trajectory.pigs if trajectory else (None, None)
        for pig, way, start in zip(self.pigs, ways, toss.pigs, strict=True):
            pig.record(way)
            release(*pig.records, PlainState.of(pig.body.to_principal(start)))
        cap_s = float(self._now["first_landing_s"].min()) + self.criterion.cap_s
        roll = self._roll
        roll["step"], roll["phase"], roll["near"], roll["known_step"] = 0, BEGINS, False, -1
        roll["fast"], roll["cap_s"] = fast, cap_s
        arguments = roll, self._now, self._fixed, self._work
        while True:
            wanted = go_on(*arguments)
            if wanted == STEP:
                self.pigs[roll["asks"][0]].step()
            elif wanted == MEET:
                for pig in self.pigs:
                    pig.write_down()
                rest = self._together(fast, trajectory)
                if rest is not None:
                    return rest
            elif wanted == OVER:
                return self._end()
            else:
                raise PhysicsError(
                    "the engine's state is not finite: report the model, seed and index"
                )

    def _together(self, fast: bool, trajectory: Trajectory | None) -> Rest | None:
        """Both pigs in one engine; the rest, or None if they are apart again."""
        roll, pair = self._roll, self.pair
        steps = int(self._now["engine_steps"].sum())
        first, second = (PlainState.of_numbers(state) for state in roll["states"][0].tolist())
        begins, cap_s = int(roll["step"][0]), float(roll["cap_s"][0])
        rest = pair.settle((first, second), begins, steps, cap_s, fast, trajectory)
        if rest is None:
            roll["step"], roll["phase"] = pair.base_steps, BEGINS
            self._now["engine_steps"][0] += pair.engine_steps - steps
            for pig, state in zip(self.pigs, pair.plain(), strict=True):
                resume(*pig.records, state, pair.base_steps)
        return rest

    def _end(self) -> Rest:
        black, pink = self.pigs
        for pig in self.pigs:
            pig.write_down()
        ready = black.frozen and pink.frozen
        return rest_of(
            self.bodies,
            (black.motion.plain(), pink.motion.plain()),
            (black.time_s, pink.time_s),
            Status.OK if ready else Status.UNSETTLED,
            int(self._now["engine_steps"].sum()),
            (black.basin, pink.basin),
        )
