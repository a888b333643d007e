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

One pig alone on an endless table, in a client of its own.

On a flat table only the corners of the pig's hull matter: the shape carries those alone
(`Body.lean_m`). The body is made once and re-posed for every roll: with a single pair of
bodies in the world, nothing that Bullet keeps can depend on the rolls before, once a step
in the air has dropped the contacts (the tests compare the bits).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from physim.physics.body import Body
from physim.physics.engine import (
    LOCK,
    Client,
    halvings_for,
    in_air,
    make_pig,
    make_plane,
    make_shape,
    make_unseen,
    pose,
)
from physim.physics.flight import Flight
from physim.physics.recording import Track
from physim.physics.state import Motion, PlainState
from physim.physics.surfaces import EngineSettings
from physim.types import GRAVITY_M_S2, Quat, RigidState, Surface, Triple

# A flight that lasts at least so long is computed; shorter ones cost less to step.
LEAST_FLIGHT_S = 0.015


@dataclass(frozen=True)
class Held:
    """How a pig moves at a look, to come back to."""

    state: PlainState
    flies: bool
    tick_s: float

    def engine_state(self) -> PlainState:
        """The state (principal frame) with the velocity that an engine needs to go on from it.

        Of a flight, the fall of half a longest step; an engine that halves its steps begins up
        to half of that too slow, which vanishes with the step.
        """
        return self.state.lifted(0.5 * self.tick_s) if self.flies else self.state


class Solo:
    """One pig on an endless table.

    Attributes:
        client: the engine.
        body: the pig.
        tick_s: the longest time step [s].
        ticks: of the last look.
        steps: engine steps since release.
        first_landing_s: when the first flight ends [s].
        flight: where it flies, computed; None in contact.
        centre_m, velocity_m_s: of the centre of mass at this look.
        speed_m_s: at which the centre of mass moves.
        turning_m_s: a bound on the speed of the pig's points about its centre of mass.
        gap_m: in contact, of the lowest corner above the table; negative where it has sunk in.
        energy_m: potential and kinetic, over m g; without what lifts a sunken pig onto the table.
        energy_on_table_m: with it.
        track: takes down the pig's way, if there is one.
    """

    def __init__(self, client: SoloClient) -> None:
        self.client = client
        self.body: Body = client.body
        self.tick_s = client.settings.time_step_s
        self._clear_m = 2.0 * client.settings.contact_breaking_m
        self.ticks = 0
        self.steps = 0
        self.first_landing_s = 0.0
        self.flight: Flight | None = None
        self.centre_m: Triple = (0.0, 0.0, 0.0)
        self.velocity_m_s: Triple = (0.0, 0.0, 0.0)
        self.speed_m_s = 0.0
        self.turning_m_s = 0.0
        self.gap_m = 0.0
        self.energy_m = self.energy_on_table_m = 0.0
        self.track: Track | None = None
        self._motion: Motion | None = None
        self._at_s = 0.0  # of the engine's state
        self._began_s = 0.0
        self._lands_s = math.inf
        self._wait_s = 0.0  # from take-off to landing
        self._stay_s = 0.0  # before this time no flight is worth computing

    def release(self, start: RigidState) -> None:
        """Begins a roll with this state (principal frame) at tick 0."""
        self.ticks = self.steps = 0
        self._stay_s = 0.0
        flight = Flight.of(self.body, start)
        self._fly(flight, 0.0, flight.landing_s())
        self.first_landing_s = self._lands_s
        if self._lands_s <= 0.0:
            self._land()
            self._look(0)

    @property
    def time_s(self) -> float:
        """Of the present state, since release."""
        return self._at_s if self.flight is None else self.ticks * self.tick_s

    @property
    def ticks_in_air(self) -> float:
        """How many ticks from now it lands; 0 in contact."""
        return 0.0 if self.flight is None else self._lands_s / self.tick_s - self.ticks

    def resume(self, state: PlainState, tick: int) -> None:
        """Goes on alone from this state (principal frame, of an engine) at this tick."""
        self.client.place(state)
        self.ticks, self._at_s, self._stay_s = tick, tick * self.tick_s, 0.0
        self.flight = None
        self._look(0)

    def advance(self, ticks: int) -> None:
        """Brings the pig to the look so many ticks from now, by flights and contacts."""
        self.ticks += ticks
        now_s = self.ticks * self.tick_s
        while True:
            landed = self.flight is not None
            if not landed:
                speed = self.speed_m_s + self.turning_m_s
            elif self._lands_s > now_s:
                self._sail()
                return
            else:
                speed = self._land()
            ticks = math.ceil((now_s - self._at_s) / self.tick_s)
            if ticks <= 0:
                if landed:  # at the very moment of the look
                    self._look(0)
                return
            halvings = self.client.halvings(speed)
            self.steps += self.client.run(ticks, halvings, self._note if self.track else None)
            self._at_s += ticks * self.tick_s
            self._look(halvings)

    @property
    def quat_xyzw(self) -> Quat:
        """The attitude at this look, principal frame to world."""
        return (
            self._in_contact.quat_xyzw
            if self.flight is None
            else self.flight.attitude(self._flown_s)
        )

    @property
    def point_speed_m_s(self) -> float:
        """A bound on the speed of the pig's fastest point."""
        return self.speed_m_s + self.turning_m_s

    def plain(self) -> PlainState:
        """The state at this look, principal frame."""
        flight = self.flight
        return self._in_contact.plain() if flight is None else flight.plain(self._flown_s)

    def state(self) -> RigidState:
        """The same as arrays."""
        return self.plain().state()

    def hold(self) -> Held:
        """How the pig moves at this look."""
        return Held(self.plain(), self.flight is not None, self.tick_s)

    @property
    def _in_contact(self) -> Motion:
        if self._motion is None:
            raise RuntimeError("a pig is released before it is asked")
        return self._motion

    @property
    def _flown_s(self) -> float:
        """From take-off to this look; a pig that took off after it is held a moment before."""
        return self.ticks * self.tick_s - self._began_s

    def _fly(self, flight: Flight, began_s: float, wait_s: float) -> None:
        self.flight, self._began_s = flight, began_s
        self._wait_s, self._lands_s = wait_s, began_s + wait_s
        self.energy_m = flight.energy_m
        self.energy_on_table_m = flight.energy_m + self.body.sag_m
        self.gap_m = 0.0
        self.turning_m_s = self.body.radius_m * flight.fastest_rad_s
        if self.track is not None:
            self.track.fly(self.ticks * self.tick_s, flight, began_s)
        self._sail()

    def _sail(self) -> None:
        """To this look, in the air."""
        flight = self.flight
        if flight is None:
            raise RuntimeError("a pig that does not fly cannot sail")
        flown_s = self.ticks * self.tick_s - self._began_s
        self.centre_m = flight.place_m(flown_s)
        self.velocity_m_s = flight.velocity_m_s(flown_s)
        self.speed_m_s = math.hypot(*self.velocity_m_s)

    def _land(self) -> float:
        """From flight into contact.

        Returns:
            A bound on the speed of the pig's points [m/s].
        """
        if self.flight is None:
            raise RuntimeError("a pig that does not fly cannot land")
        state = self.flight.plain(self._wait_s)
        self.client.place(state)
        self.flight = None
        self._at_s = self._lands_s
        if self.track is not None:
            self.track.add(self._at_s, state)
        return math.hypot(*state.velocity_m_s) + self.body.radius_m * math.hypot(*state.spin_rad_s)

    def _note(self, number: int) -> None:
        """Takes down where the pig is so many longest steps after the engine's state."""
        if self.track is not None:
            self.track.add(self._at_s + number * self.tick_s, self.client.look().plain())

    def _look(self, halvings: int) -> None:
        """Reads the engine; a pig that will be in the air for long takes off."""
        motion = self._motion = self.client.look()
        self.centre_m, self.velocity_m_s = motion.centre_m, motion.velocity_m_s
        self.speed_m_s, self.turning_m_s = motion.speed_m_s, motion.turning_m_s
        self.gap_m, self.energy_m = motion.gap_m, motion.energy_m
        self.energy_on_table_m = motion.energy_on_table_m
        if self.gap_m > self._clear_m and self._at_s >= self._stay_s:
            self._take_off(motion, halvings)

    def _take_off(self, motion: Motion, halvings: int) -> None:
        """Computes the flight of a pig that is clear of the table, if it is long enough."""
        up_m_s = motion.velocity_m_s[2]
        fall_s = up_m_s + math.sqrt(up_m_s**2 + 2.0 * GRAVITY_M_S2 * motion.gap_m)
        if fall_s < GRAVITY_M_S2 * LEAST_FLIGHT_S:
            return
        half_step_s = 0.5 * self.tick_s / (1 << halvings)
        flight = Flight(self.body, motion.plain().lifted(-half_step_s))
        wait_s = flight.landing_s()
        if wait_s < LEAST_FLIGHT_S:
            self._stay_s = self._at_s + wait_s
        else:
            self._fly(flight, self._at_s, wait_s)


_HIGH = in_air((0.0, 0.0, 0.0, 1.0))


class SoloClient(Client):
    """A table without edges and one pig. Use it with `with`."""

    def __init__(self, body: Body, surface: Surface, settings: EngineSettings) -> None:
        super().__init__(settings, surface, [body])
        self.body = body
        self._pig = -1

    def open(self) -> None:
        """Connects and makes table and pig."""
        with LOCK:
            super().open()
            make_plane(self.id, self.surface)
            shape = make_shape(self.id, self.body.lean_m)
            self._pig = make_pig(self.id, self.body, shape, make_unseen(self.id), _HIGH)
        self.pigs = [(self._pig, self.body)]

    def place(self, state: PlainState) -> None:
        """Puts the pig into this state (principal frame), without a contact."""
        with LOCK:
            self._claim(anew=True)
            pose(self.id, self._pig, in_air(state.quat_xyzw))
            self.run(1)
            pose(self.id, self._pig, state)

    def look(self) -> Motion:
        """Where the pig is and how it moves."""
        return self.motion(self.body, self._pig)

    def halvings(self, point_speed_m_s: float) -> int:
        """How often the step is halved while a point of the pig is that fast."""
        return halvings_for(point_speed_m_s, self.body.model.height_m, self.settings)
