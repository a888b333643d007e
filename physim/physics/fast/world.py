"""From release to rest, the fast way: each pig for itself as long as that changes nothing.

Each pig goes its own way (`single`) as long as nothing can come of the other (`ProximityMonitor`):
it flies and bounces from check to check until it is at rest, or in a fast roll until its outcome is
certain (`EnergyBound`). While the pigs may meet, or near the table's edge, they go on in one
engine (`PigPair`), and each alone again once they are apart. `physics.simulate` is the same roll
without these shortcuts.

A fast roll takes the very same steps as a full one and only ends sooner. A pig whose basin is
certain is frozen while the other one goes on, as long as that one stays out of the circle in
which the frozen one may still move; when it does not, the frozen pig catches up.
"""

from __future__ import annotations

import threading
from contextlib import ExitStack

from physim.physics.body import Body
from physim.physics.fast.bounds import (
    CertainPig,
    ProximityMonitor,
    max_travel_m,
    sphere_clearance_m,
)
from physim.physics.fast.pair import EnergyBounds, PigPair, horizontal_travel_m, reaches_edge
from physim.physics.fast.single import SinglePig
from physim.physics.state import PlainStates, RestCriterion, Trajectory, rest_of
from physim.physics.surfaces import EngineSettings
from physim.types import Rest, Status, Table, Toss


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
        self.pair = PigPair(bodies, table, settings, criterion, bounds)
        self._open = ExitStack()
        self._lock = threading.Lock()
        self._closed = False

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
            return _Roll(self, toss, fast, trajectory).settle()


class _Roll:
    """One roll under way."""

    def __init__(self, world: World, toss: Toss, fast: bool, trajectory: Trajectory | None) -> None:
        self._world = world
        self._fast = fast
        self._trajectory = trajectory
        self._pigs = black, pink = world.pigs
        self._both = (black, pink), (pink, black)
        self._steps_per_check = world.settings.steps_per_check
        self._base_step_s = world.settings.time_step_s
        self._check_interval_s = self._steps_per_check * self._base_step_s
        self._step = 0  # base steps since release
        ways = trajectory.pigs if trajectory else (None, None)
        for pig, way, start in zip(self._pigs, ways, (toss.black, toss.pink), strict=True):
            pig.trajectory = way
            pig.release(pig.body.to_principal(start))
        self._monitor = ProximityMonitor(black, pink, self._steps_per_check)
        first_contact_s = min(pig.first_landing_s for pig in self._pigs)
        self._cap_s = first_contact_s + world.criterion.cap_s

    def settle(self) -> Rest:
        """Each alone and both together in turn, until there is nothing left to wait for."""
        while True:
            states = self._alone()
            if states is None:
                return self._end()
            rest = self._together(states)
            if rest is not None:
                return rest

    def _alone(self) -> PlainStates | None:
        """Check by check, each pig on its own.

        Returns:
            Both states (principal frame) as an engine needs them, where the pigs may meet or are
            near the edge; None where the roll is over.
        """
        black, pink = self._pigs
        while not (black.frozen and pink.frozen):
            steps = self._steps_ahead()
            motions = black.motion, pink.motion
            if steps > 0:
                self._step += steps
                for pig in self._pigs:
                    if pig.certain is None:
                        pig.go_on(steps)
                before = self._monitor.possible_contact(self._step)
                if before is not None:
                    self._step, motions, steps = before.base_steps, before.motions, 0
            if steps == 0:
                first, second = (motion.plain(self._base_step_s) for motion in motions)
                return first, second
            at_cap = self._step * self._base_step_s >= self._cap_s
            if self._fast or at_cap:
                for pig, other in self._both:
                    self._freeze(pig, other)
            if at_cap:
                break
        return None

    def _together(self, states: PlainStates) -> Rest | None:
        """Both pigs in one engine; the rest, or None if they are apart again."""
        black, pink = self._pigs
        pair, steps = self._world.pair, black.engine_steps + pink.engine_steps
        rest = pair.settle(states, self._step, steps, self._cap_s, self._fast, self._trajectory)
        if rest is None:
            self._step = pair.base_steps
            black.engine_steps += pair.engine_steps - steps
            for pig, state in zip(self._pigs, pair.plain(), strict=True):
                pig.resume(state, self._step)
        return rest

    def _steps_ahead(self) -> int:
        """How many base steps the pigs may go on, each alone; 0 if not at all.

        Where it is 0, both pigs are at this check.
        """
        black, pink = self._pigs
        for pig, other in self._both:
            if pig.certain is not None and not self._clear(pig, pig.certain, other):
                pig.certain = None  # the other one comes too near: all it may still do counts
                pig.catch_up(self._step)
        regular = self._steps_per_check - self._step % self._steps_per_check
        steps = regular
        if self._nears_edge(self._check_interval_s):
            steps = 0
        elif black.certain is None and pink.certain is None:
            steps = self._monitor.steps_ahead(self._step, (black.at_rest, pink.at_rest))
            # No leap over the edge: a flight is checked there as anywhere else.
            leap_s = (steps + self._steps_per_check) * self._base_step_s
            if steps > regular and self._nears_edge(leap_s):
                steps = regular
        if steps == 0:
            for pig in self._pigs:
                pig.catch_up(self._step)
        return steps

    def _freeze(self, pig: SinglePig, other: SinglePig) -> None:
        """Freezes a pig whose basin is certain and whose way is free."""
        if pig.frozen:
            return
        certain = pig.find_certain()
        if certain is None or not self._clear(pig, certain, other):
            return
        # A full roll looks ahead by what the pig may do before the next check.
        travel_m = certain.reach_m + certain.fastest_m_s * self._check_interval_s
        if not reaches_edge(self._world.table, pig.motion, travel_m):
            pig.certain = certain

    def _clear(self, pig: SinglePig, certain: CertainPig, other: SinglePig) -> bool:
        """Whether the other one stays out of a frozen pig's circle until the next check.

        The circle is so wide that the two would not be found near each other (`ProximityMonitor`)
        if the frozen one went on.
        """
        clearance_m = sphere_clearance_m(pig.motion, other.motion)
        clearance_m -= certain.reach_m + max_travel_m(certain.fastest_m_s, self._check_interval_s)
        if other.at_rest:
            return clearance_m > 0.0
        if other.certain is not None:
            travel_m = max_travel_m(other.certain.fastest_m_s, self._check_interval_s)
            return clearance_m > other.certain.reach_m + travel_m
        return clearance_m > max_travel_m(other.motion.point_speed_m_s, self._check_interval_s)

    def _nears_edge(self, time_s: float) -> bool:
        """Whether a pig that moves may reach the edge within this time."""
        return any(
            reaches_edge(self._world.table, pig.motion, horizontal_travel_m(pig.motion, time_s))
            for pig in self._pigs
            if not pig.frozen
        )

    def _end(self) -> Rest:
        black, pink = self._pigs
        return rest_of(
            self._world.bodies,
            (black.motion.plain(), pink.motion.plain()),
            (black.time_s, pink.time_s),
            Status.OK if black.frozen and pink.frozen else Status.UNSETTLED,
            black.engine_steps + pink.engine_steps,
            (black.basin, pink.basin),
        )
