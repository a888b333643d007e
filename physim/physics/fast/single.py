"""One pig's way through a roll while the other is out of reach: flight and contact in turn.

Time is counted in base steps, the longest time steps, since the release, and a pig is checked every
few of them. Between two checks it either flies, which is computed (`flight`), or is in contact with
the table, which the engine steps. It lands at the very moment of its first touch, from which the
engine takes whole steps: at a check, a pig in contact is therefore up to one base step later than
the check (`time_s`). This offset vanishes with the step like every error of the engine.

The engine changes speed first and place then (semi-implicit Euler): its bodies lie on parabolas
whose speed is half a step's fall below the engine's. A pig that takes off goes on along its
parabola.

On a flat endless table only the corners of the pig's hull matter: the shape carries those alone
(`Body.contact_hulls_m`). The body is made once and re-posed for every roll: with a single pair of
bodies in the world, nothing that Bullet keeps can depend on the rolls before, once a step in the
air has dropped the contacts (the tests compare the bits).
"""

from __future__ import annotations

import math

from physim.physics.body import Body
from physim.physics.engine import LOCK, Engine, in_air, make_shape, make_unseen, obj_text
from physim.physics.fast.bounds import CertainPig, EnergyBound
from physim.physics.fast.flight import Flight, FlightMotion, FlightPiece, Motion
from physim.physics.state import (
    EngineMotion,
    PigTrajectory,
    PlainState,
    RestCriterion,
    RestDetector,
)
from physim.physics.surfaces import EngineSettings
from physim.types import GRAVITY_M_S2, RigidState, Table

# A flight that lasts at least so long is computed; shorter ones cost less to step.
LEAST_FLIGHT_S = 0.015


class SinglePig(Engine):
    """One pig on an endless table, with an engine of its own. Use it with `with`.

    `go_on` is its way through a roll: to the next check, until it is at rest; `advance` goes on
    whether it is or not.

    Attributes:
        body: the pig.
        base_step_s: the longest time step [s].
        base_steps: of the last check, since release.
        engine_steps: since release.
        motion: at the last check.
        flight: where it flies, computed; None in contact.
        first_landing_s: when the first flight ends [s].
        trajectory: takes down the pig's way, if there is one.
        at_rest: it stays where it is.
        certain: what it may still do, where it is frozen since its basin is certain.
    """

    motion: Motion  # from the release on

    def __init__(
        self,
        body: Body,
        table: Table,
        settings: EngineSettings,
        criterion: RestCriterion | None = None,
        bound: EnergyBound | None = None,
    ) -> None:
        super().__init__(settings, table.surface, [body])
        self.body = body
        self.base_step_s = settings.time_step_s
        self.base_steps = self.engine_steps = 0
        self.flight: Flight | None = None
        self.first_landing_s = 0.0
        self.trajectory: PigTrajectory | None = None
        self._detector = RestDetector(body, table, criterion or RestCriterion())
        self._bound = bound
        self._begin()
        self._clear_m = 2.0 * settings.contact_breaking_m
        self._at_s = 0.0  # of the engine's state
        self._began_s = self._lands_s = 0.0  # of the flight
        self._stay_s = 0.0  # before this time no flight is worth computing

    def open(self) -> None:
        """Connects and makes table and pig."""
        with LOCK:
            super().open()
            self.add_table()
            shape = make_shape(self.id, obj_text(self.body.contact_hulls_m))
            self.add_pig(shape, make_unseen(self.id))

    def place(self, state: PlainState) -> None:
        """Puts the pig into this state (principal frame), without a contact."""
        with LOCK:
            self.claim(anew=True)
            self.pose(0, in_air(state.quat_xyzw))
            self.run(1)
            self.pose(0, state)

    def sample(self) -> EngineMotion:
        """How the pig moves in the engine."""
        return self.motion_of(0)

    @property
    def frozen(self) -> bool:
        """Whether it is at rest or certain, and so left alone."""
        return self.at_rest or self.certain is not None

    @property
    def basin(self) -> int | None:
        """The basin with which it is frozen."""
        return None if self.certain is None else self.certain.basin

    def _begin(self) -> None:
        self._detector.reset()
        self.at_rest = False
        self.certain: CertainPig | None = None
        self._known: int | None = None  # the basin that it was found in

    def release(self, start: RigidState) -> None:
        """Begins a roll with this state (principal frame)."""
        self._begin()
        self.base_steps = self.engine_steps = 0
        self._stay_s = 0.0
        self._fly(Flight(self.body, PlainState.of(start)), 0.0)
        self.first_landing_s = self._lands_s
        if self._lands_s <= 0.0:
            self._land()
            self._check(0)

    def resume(self, state: PlainState, base_steps: int) -> None:
        """Goes on alone from this state (principal frame, of an engine) at this time."""
        self._begin()
        self.place(state)
        self.base_steps, self._at_s, self._stay_s = base_steps, base_steps * self.base_step_s, 0.0
        self.flight = None
        self._check(0)

    def go_on(self, base_steps: int) -> None:
        """To the check so many base steps from now; a pig at rest stays where it is."""
        if self.at_rest:
            return
        self.advance(base_steps)
        if self.flight is not None or self.motion.point_speed_m_s > self._detector.limit_m_s:
            self._detector.reset()
        else:
            self.at_rest = self._detector.at_rest(self.motion.plain().state(), self.time_s)

    def catch_up(self, base_steps: int) -> None:
        """Goes on from where it was frozen, by the checks that it would have had."""
        every = self.settings.steps_per_check
        while self.base_steps < base_steps and not self.at_rest:
            self.go_on(every - self.base_steps % every)

    def find_certain(self) -> CertainPig | None:
        """What it may still do, if it cannot leave the basin that it is in any more."""
        found = None if self._bound is None else self._bound.certain(self.motion, self._known)
        if found is not None:
            self._known = found.basin
        return found

    def advance(self, base_steps: int) -> None:
        """Brings the pig to the check so many base steps from now, by flights and contacts."""
        self.base_steps += base_steps
        now_s = self.base_steps * self.base_step_s
        while True:
            landed = self.flight is not None
            if not landed:
                speed = self.motion.point_speed_m_s
            elif self._lands_s > now_s:
                self._update_flight()
                return
            else:
                speed = self._land()
            steps = math.ceil((now_s - self._at_s) / self.base_step_s)
            if steps <= 0:
                if landed:  # at the very moment of the check
                    self._check(0)
                return
            halvings = self.halvings(self.body, speed)
            self.engine_steps += self.run(steps, halvings, self._note if self.trajectory else None)
            self._at_s += steps * self.base_step_s
            self._check(halvings)

    @property
    def time_s(self) -> float:
        """Of the present state, since release."""
        return self._at_s if self.flight is None else self.base_steps * self.base_step_s

    @property
    def steps_in_air(self) -> float:
        """How many base steps from now it lands; 0 in contact."""
        return 0.0 if self.flight is None else self._lands_s / self.base_step_s - self.base_steps

    def _fly(self, flight: Flight, began_s: float) -> None:
        self.flight, self._began_s = flight, began_s
        self._lands_s = began_s + flight.landing_s
        if self.trajectory is not None:
            now_s = self.base_steps * self.base_step_s
            self.trajectory.add(now_s, FlightPiece(flight, began_s))
        self._update_flight()

    def _update_flight(self) -> None:
        """To this check, in the air; a pig that took off after it is held a moment before."""
        if self.flight is not None:
            flown_s = self.base_steps * self.base_step_s - self._began_s
            self.motion = FlightMotion(self.flight, flown_s)

    def _land(self) -> float:
        """From flight into contact; a bound on the speed of the pig's points [m/s]."""
        if self.flight is None:
            raise RuntimeError("a pig that does not fly cannot land")
        state = self.flight.plain(self.flight.landing_s)
        self.place(state)
        self.flight = None
        self._at_s = self._lands_s
        if self.trajectory is not None:
            self.trajectory.add(self._at_s, state)
        return math.hypot(*state.velocity_m_s) + self.body.radius_m * math.hypot(*state.spin_rad_s)

    def _note(self, number: int) -> None:
        """Takes down where the pig is so many base steps after the engine's state."""
        if self.trajectory is not None:
            self.trajectory.add(self._at_s + number * self.base_step_s, self.sample().plain())

    def _check(self, halvings: int) -> None:
        """Samples the engine; a pig that is clear of the table takes off if it flies for long."""
        motion = self.sample()
        self.motion = motion
        if motion.clearance_m <= self._clear_m or self._at_s < self._stay_s:
            return
        up_m_s = motion.velocity_m_s[2]
        fall_m_s = up_m_s + math.sqrt(up_m_s**2 + 2.0 * GRAVITY_M_S2 * motion.clearance_m)
        if fall_m_s < GRAVITY_M_S2 * LEAST_FLIGHT_S:
            return
        engine_step_s = self.base_step_s / (1 << halvings)
        flight = Flight(self.body, motion.plain().half_step_velocity(-engine_step_s))
        if flight.landing_s < LEAST_FLIGHT_S:
            self._stay_s = self._at_s + flight.landing_s
        else:
            self._fly(flight, self._at_s)
