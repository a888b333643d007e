"""Two pigs in one engine: while they may touch, and near the table's edge.

They carry all their parts, and a table with its edges takes the place of the endless one where one
of them is near. The pigs are made anew for every such stretch of a roll: what Bullet keeps of their
contacts would decide the last bits of the next ones.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable

from physim.physics.body import Body
from physim.physics.engine import LOCK, Engine, make_shape, make_unseen, obj_text
from physim.physics.fast.bounds import EnergyBound
from physim.physics.fast.proximity import LEAST_DISTANCE_M, max_travel_m, pair_distance_m
from physim.physics.state import (
    TOUCH_M,
    EngineMotion,
    PlainStates,
    RestCriterion,
    RestDetector,
    Trajectory,
    both_at_rest,
    off_table,
    rest_of,
)
from physim.physics.surfaces import EngineSettings
from physim.types import Rest, Status, Table

OFTEN, FIRST_CHECKS = 4, 2  # so often a check interval it is checked, in the first intervals
RENEW_AFTER = 200  # worlds: Bullet keeps some memory of every shape ever made

EngineMotions = tuple[EngineMotion, EngineMotion]
EnergyBounds = tuple[EnergyBound, EnergyBound]


class Meeting(ABC):
    """Two pigs that go on together, check by check, in an engine that knows both and the edges.

    Attributes:
        base_steps: longest time steps since release.
        engine_steps: since release, of all engines.
        at_edge: whether the table has edges.
    """

    def __init__(
        self,
        bodies: tuple[Body, Body],
        table: Table,
        settings: EngineSettings,
        criterion: RestCriterion | None = None,
        bounds: EnergyBounds | None = None,
    ) -> None:
        self.bodies = bodies
        self.table = table
        self.settings = settings
        self.at_edge = False
        self.base_steps = self.engine_steps = 0
        self._criterion = criterion or RestCriterion()
        self._bounds = bounds
        self._check_interval_s = settings.check_interval_s

    @abstractmethod
    def place(self, states: PlainStates, *, at_edge: bool) -> None:
        """Puts both pigs, made anew, into these states (principal frame)."""

    @abstractmethod
    def advance(self, base_steps: int, each: Callable[[int], None] | None = None) -> int:
        """Simulates so many base steps; the engine's steps. `each`: as for `Engine.run`."""

    @abstractmethod
    def sample(self) -> EngineMotions:
        """How both pigs move."""

    @abstractmethod
    def pigs_touch(self, within_m: float) -> bool:
        """Whether the two pigs' surfaces come within this distance [m]."""

    def plain(self) -> PlainStates:
        """Both states (principal frame)."""
        first, second = self.sample()
        return first.plain(), second.plain()

    def settle(
        self,
        states: PlainStates,
        base_steps: int,
        engine_steps: int,
        cap_s: float,
        fast: bool,
        trajectory: Trajectory | None,
    ) -> Rest | None:
        """Check by check, from these states (principal frame) and steps since release.

        Args:
            states: of both pigs.
            base_steps: as the attribute, up to now.
            engine_steps: as the attribute, up to now.
            cap_s: time since release at which waiting ends [s].
            fast: as for `World.settle`.
            trajectory: as for `World.settle`.

        Returns:
            How the roll ended, or None once the pigs can go on each alone.
        """
        self.base_steps, self.engine_steps = base_steps, engine_steps
        detectors = [RestDetector(body, self.table, self._criterion) for body in self.bodies]

        def note(number: int) -> None:
            time_s = (self.base_steps + number) * self.settings.time_step_s
            if trajectory is not None:
                for pig, motion in zip(trajectory.pigs, self.sample(), strict=True):
                    pig.add(time_s, motion.plain())

        motions = (
            EngineMotion(self.bodies[0], states[0]),
            EngineMotion(self.bodies[1], states[1]),
        )
        self.place(states, at_edge=self._near_edge(motions))
        note(0)
        checks = 0
        while self._time_s < cap_s:
            # Most pigs that meet are apart after a few ms, and cheaper then.
            checks += 1
            often = OFTEN if checks <= OFTEN * FIRST_CHECKS else 1
            steps = max(1, self.settings.steps_per_check // often)
            self.engine_steps += self.advance(steps, note if trajectory else None)
            self.base_steps += steps
            motions = self.sample()
            if self.at_edge:
                if any(_fallen(self.table, motion) for motion in motions):
                    return self._end(Status.OFF_TABLE)
            elif self._near_edge(motions):
                self.place(self.plain(), at_edge=True)
            elif self._apart(motions):
                return None
            if both_at_rest(detectors, motions, self._time_s, lambda: self.pigs_touch(TOUCH_M)):
                return self._end(Status.OK)
            if fast or self._time_s >= cap_s:
                basins = self._certain(motions)
                if basins is not None:
                    return self._end(Status.OK, basins)
        return self._end(Status.UNSETTLED)

    @property
    def _time_s(self) -> float:
        return self.base_steps * self.settings.time_step_s

    def _end(self, status: Status, basins: tuple[int | None, int | None] = (None, None)) -> Rest:
        times_s = self._time_s, self._time_s
        return rest_of(self.bodies, self.plain(), times_s, status, self.engine_steps, basins)

    def _apart(self, motions: EngineMotions) -> bool:
        """Whether the pigs can go on each alone: they surely do not touch within a base step."""
        time_s = self.settings.time_step_s
        first, second = motions
        in_air = all(
            motion.centre_m[2] - motion.body.radius_m
            > max_travel_m(motion.point_speed_m_s, time_s, 1)
            for motion in motions
        )
        if in_air:  # both fall alike
            drift_m_s = math.dist(first.velocity_m_s, second.velocity_m_s)
            travel_m = (drift_m_s + first.turning_m_s + second.turning_m_s) * time_s
        else:
            travel_m = max_travel_m(first.point_speed_m_s + second.point_speed_m_s, time_s, 2)
        radii_m = first.body.radius_m + second.body.radius_m + LEAST_DISTANCE_M
        clear_m = math.dist(first.centre_m, second.centre_m) - radii_m
        return clear_m > travel_m or pair_distance_m(first, second, travel_m) > travel_m

    def _certain(self, motions: EngineMotions) -> tuple[int, int] | None:
        """The basins that neither pig can leave, where they cannot reach each other or the edge."""
        if self.at_edge or self._bounds is None:
            return None
        found = []
        clearance_m = math.dist(motions[0].centre_m, motions[1].centre_m)
        for motion, bound in zip(motions, self._bounds, strict=True):
            clearance_m -= motion.body.radius_m
            certain = bound.certain(motion) if clearance_m > 0.0 else None
            if certain is None:
                return None
            clearance_m -= certain.reach_m
            travel_m = certain.reach_m + self._check_interval_s * certain.fastest_m_s
            if reaches_edge(self.table, motion, travel_m):
                return None
            found.append(certain.basin)
        return (found[0], found[1]) if clearance_m > 0.0 else None

    def _near_edge(self, motions: EngineMotions) -> bool:
        """Whether a pig may reach the edge before the next check."""
        return any(
            reaches_edge(self.table, motion, horizontal_travel_m(motion, self._check_interval_s))
            for motion in motions
        )


class PigPair(Engine, Meeting):
    """Two pigs in PyBullet. Use it with `with`; it connects when it is needed."""

    bodies: tuple[Body, Body]

    def __init__(
        self,
        bodies: tuple[Body, Body],
        table: Table,
        settings: EngineSettings,
        criterion: RestCriterion | None = None,
        bounds: EnergyBounds | None = None,
    ) -> None:
        Engine.__init__(self, settings, table.surface, bodies)
        Meeting.__init__(self, bodies, table, settings, criterion, bounds)
        different = bodies[:1] if bodies[1].model is bodies[0].model else bodies
        self._parts = [obj_text(body.parts_m) for body in different]
        # With and without edges: client, pigs, shapes, and how often pigs were made there.
        self._worlds: dict[bool, tuple[int, list[int], list[int], int]] = {}

    def __enter__(self) -> PigPair:
        return self

    def close(self) -> None:
        """Ends both clients."""
        for client, *_ in self._worlds.values():
            self.id = client
            super().close()
        self._worlds = {}
        self.id = -1

    def place(self, states: PlainStates, *, at_edge: bool) -> None:
        """Puts both pigs, made anew, into these states (principal frame)."""
        with LOCK:
            empty: tuple[int, list[int], list[int], int] = (-1, [], [], RENEW_AFTER)
            self.id, self.pigs, shapes, made = self._worlds.get(at_edge, empty)
            self.at_edge = at_edge
            if made < RENEW_AFTER:
                self.remove_pigs()
            else:
                super().close()
                self.open()
                self.add_table(self.table if at_edge else None)
                shapes = [make_shape(self.id, parts) for parts in self._parts]
                shapes, made = [*shapes, make_unseen(self.id)], 0
            unseen = shapes[-1]
            self._worlds[at_edge] = self.id, self.pigs, shapes, made + 1
            for shape, state in zip((shapes[0], shapes[-2]), states, strict=True):
                self.add_pig(shape, unseen, state.quat_xyzw)
            self.run(1)
            for number, state in enumerate(states):
                self.pose(number, state)

    def advance(self, base_steps: int, each: Callable[[int], None] | None = None) -> int:
        """Simulates so many base steps; the engine's steps. `each`: as for `run`."""
        motions, settings = self.sample(), self.settings
        time_s = base_steps * settings.time_step_s
        low = any(one.clearance_m < 2.0 * one.point_speed_m_s * time_s for one in motions)
        fastest = (settings.of_pairs if low else settings).full_step_speed
        halvings = max(self.halvings(one.body, one.point_speed_m_s, fastest) for one in motions)
        return self.run(base_steps, halvings, each)

    def sample(self) -> EngineMotions:
        """How both pigs move."""
        return self.motion_of(0), self.motion_of(1)


def reaches_edge(table: Table, motion: EngineMotion, travel_m: float) -> bool:
    """Whether this way brings a pig's sphere over the edge."""
    x, y, _ = motion.centre_m
    reach_m = motion.body.radius_m + travel_m
    return abs(x) + reach_m > table.length_m / 2 or abs(y) + reach_m > table.width_m / 2


def horizontal_travel_m(motion: EngineMotion, time_s: float) -> float:
    """How far the centre of mass gets along the table's length or width."""
    u, v, _ = motion.velocity_m_s
    return max(abs(u), abs(v)) * time_s


def _fallen(table: Table, motion: EngineMotion) -> bool:
    """Whether a pig is past the edge and below the table's top for good."""
    return off_table(motion.centre_m, table) and motion.centre_m[2] < -motion.body.radius_m
