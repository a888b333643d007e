"""One pig's way through a roll while the other is out of reach: flight and contact in turn.

Time is counted in ticks, longest time steps since the release, and a pig is looked at every
few ticks. Between two looks it either flies, which is computed (`flight`), or is in contact
with the table, which the engine steps (`bullet_solo`). It lands at the very moment of its first
touch, from which the engine takes whole steps: at a look, a pig in contact is therefore up to
one tick later than the look (`time_s`). This offset vanishes with the step like every error of
the engine.

The engine changes speed first and place then (semi-implicit Euler): its bodies lie on
parabolas whose speed is half a step's fall below the engine's. A pig that takes off goes on
along its parabola.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from physim.values import GRAVITY_M_S2, Quat, RigidState, Triple
from physim.world.body import Body
from physim.world.bullet import Motion, Seen
from physim.world.bullet_solo import SoloClient
from physim.world.flight import Flight

# A flight that lasts at least so long is computed; shorter ones cost less to step.
LEAST_FLIGHT_S = 0.02
# As long as the speed suffices for such a flight, the pig is looked at twice as often.
LEAST_SPRING_M = GRAVITY_M_S2 * LEAST_FLIGHT_S**2 / 8.0


# Before a roll has begun.
NOWHERE: Seen = ((0.0, 0.0, 0.0), (0.0, 0.0, 0.0, 1.0), (0.0, 0.0, 0.0), (0.0, 0.0, 0.0))


@dataclass(frozen=True)
class Held:
    """How a pig moves at a look: as an engine left it, or some time into a flight."""

    motion: Motion
    flight: Flight | None
    flown_s: float
    tick_s: float

    def engine_state(self) -> RigidState:
        """The state (principal frame) with the velocity that an engine needs to go on from it.

        Of a flight, the fall of half a longest step; an engine that halves its steps begins up
        to half of that too slow, which vanishes with the step.
        """
        if self.flight is None:
            return self.motion.state()
        return lifted(self.flight.state(self.flown_s), 0.5 * self.tick_s)


def lifted(state: RigidState, time_s: float) -> RigidState:
    """The state with the fall of this time taken off its downward speed."""
    lift = np.array([0.0, 0.0, GRAVITY_M_S2 * time_s])
    return replace(state, velocity_m_s=state.velocity_m_s + lift)


class Solo:
    """One pig on an endless table."""

    def __init__(self, client: SoloClient) -> None:
        self.client = client
        self.body: Body = client.body
        self.tick_s = client.settings.time_step_s
        self._short_ticks = max(1, client.settings.steps_a_call // 2)
        self.ticks = 0
        """Of the last look."""
        self.steps = 0
        """Engine steps since release."""
        self.first_landing_s = 0.0
        self.gap_m = 0.0
        """In contact: of the lowest corner above the table; negative where it has sunk in."""
        self.energy_m = 0.0
        """Potential and kinetic, over m g; without what lifts a sunken pig onto the table."""
        self._at_s = 0.0  # of the engine's state
        self._springy = False  # whether it may soon be in the air for long
        self._flight: Flight | None = None
        self._began_s = 0.0
        self._lands_s = math.inf
        self._wait_s = 0.0  # from take-off to landing
        self._stay_s = 0.0  # before this time no flight is worth computing
        self._motion = Motion(self.body, NOWHERE)

    def release(self, start: RigidState) -> None:
        """Begins a roll with this state (principal frame) at tick 0."""
        self.client.forget()
        self.ticks = self.steps = 0
        self._stay_s = 0.0
        flight = Flight(self.body, start)
        self._fly(flight, 0.0, flight.landing_s())
        self.first_landing_s = self._lands_s
        if self._lands_s <= 0.0:
            self._land()
            self._look(0)

    @property
    def flying(self) -> bool:
        """Whether it flies now, computed."""
        return self._flight is not None

    @property
    def time_s(self) -> float:
        """Of the present state, since release."""
        return self._at_s if self._flight is None else self.ticks * self.tick_s

    @property
    def ticks_in_air(self) -> float:
        """How many ticks from now it lands; 0 in contact."""
        return 0.0 if self._flight is None else self._lands_s / self.tick_s - self.ticks

    def resume(self, state: RigidState, tick: int) -> None:
        """Goes on alone from this state (principal frame, of an engine) at this tick."""
        self.client.forget()
        self.client.place(state)
        self.ticks, self._at_s, self._stay_s = tick, tick * self.tick_s, 0.0
        self._flight = None
        self._look(0)

    def advance(self, ticks: int) -> None:
        """Brings the pig to the look so many ticks from now, by flights and contacts."""
        self.ticks += ticks
        now_s = self.ticks * self.tick_s
        while True:
            landed = self._flight is not None
            if landed:
                if self._lands_s > now_s:
                    return
                speed = self._land()
            else:
                speed = self.point_speed_m_s
            ticks = math.ceil((now_s - self._at_s) / self.tick_s)
            if ticks <= 0:
                if landed:  # at the very moment of the look
                    self._look(0)
                return
            if self._springy:
                ticks = min(ticks, self._short_ticks)
            halvings = self.client.halvings(speed)
            self.steps += self.client.run(ticks, halvings)
            self._at_s += ticks * self.tick_s
            self._look(halvings)

    @property
    def centre_m(self) -> Triple:
        """The centre of mass at this look."""
        flight = self._flight
        return self._motion.centre_m if flight is None else flight.place_m(self._flown_s)

    @property
    def velocity_m_s(self) -> Triple:
        """Of the centre of mass at this look."""
        flight = self._flight
        return self._motion.velocity_m_s if flight is None else flight.velocity_m_s(self._flown_s)

    @property
    def quat_xyzw(self) -> Quat:
        """The attitude at this look, principal frame to world."""
        flight = self._flight
        return self._motion.quat_xyzw if flight is None else flight.attitude(self._flown_s)

    @property
    def turning_m_s(self) -> float:
        """A bound on the speed of the pig's points about its centre of mass."""
        flight = self._flight
        if flight is None:
            return self._motion.turning_m_s
        return self.body.radius_m * flight.fastest_rad_s

    @property
    def point_speed_m_s(self) -> float:
        """A bound on the speed of the pig's fastest point."""
        if self._flight is None:
            return self._motion.point_speed_m_s
        return math.hypot(*self.velocity_m_s) + self.turning_m_s

    @property
    def energy_on_table_m(self) -> float:
        """Potential and kinetic energy over m g, once the pig is lifted onto the table.

        The engine lifts a pig that has sunk in, at no cost to its motion.
        """
        return self.energy_m - min(0.0, self.gap_m)

    def state(self) -> RigidState:
        """The state at this look, principal frame."""
        if self._flight is None:
            return self._motion.state()
        return self._flight.state(self._flown_s)

    @property
    def _flown_s(self) -> float:
        """From take-off to this look; a pig that took off after it is held a moment before."""
        return self.ticks * self.tick_s - self._began_s

    def hold(self) -> Held:
        """How the pig moves at this look, to come back to."""
        return Held(self._motion, self._flight, self._flown_s, self.tick_s)

    def _fly(self, flight: Flight, began_s: float, wait_s: float) -> None:
        self._flight, self._began_s = flight, began_s
        self._wait_s, self._lands_s = wait_s, began_s + wait_s
        self.energy_m, self.gap_m = flight.energy_m, 0.0

    def _land(self) -> float:
        """From flight into contact.

        Returns:
            A bound on the speed of the pig's points [m/s].
        """
        if self._flight is None:
            raise RuntimeError("a pig that does not fly cannot land")
        state = self._flight.state(self._wait_s)
        self.client.place(state)
        self._flight = None
        self._at_s, self._springy = self._lands_s, True
        turning = self.body.radius_m * math.hypot(*state.angular_velocity_rad_s.tolist())
        return math.hypot(*state.velocity_m_s.tolist()) + turning

    def _look(self, halvings: int) -> None:
        """Reads the engine; a pig that will be in the air for long takes off."""
        self._motion = self.client.look()
        motion = self._motion
        self.gap_m, kinetic_m = motion.gap_and_kinetic_m()
        self.energy_m = motion.centre_m[2] + kinetic_m
        self._springy = kinetic_m > LEAST_SPRING_M
        if self.gap_m > 2.0 * self.client.settings.contact_breaking_m:
            self._take_off(motion.velocity_m_s[2], halvings)

    def _take_off(self, up_m_s: float, halvings: int) -> None:
        """Computes the flight of a pig that is clear of the table, if it is long enough."""
        now_s = self._at_s
        fall_s = (up_m_s + math.sqrt(up_m_s**2 + 2 * GRAVITY_M_S2 * self.gap_m)) / GRAVITY_M_S2
        if now_s < self._stay_s or fall_s < LEAST_FLIGHT_S:
            return
        half_step_s = 0.5 * self.tick_s / (1 << halvings)
        flight = Flight(self.body, lifted(self._motion.state(), -half_step_s))
        wait_s = flight.landing_s()
        if wait_s < LEAST_FLIGHT_S:
            self._stay_s = now_s + wait_s
        else:
            self._fly(flight, now_s, wait_s)
