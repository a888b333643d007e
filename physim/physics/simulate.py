"""From release to rest.

Each pig goes its own way (`solo`) as long as nothing can come of the other (`meeting`): it
flies and bounces from look to look until it is at rest, or in a fast roll until its outcome
is certain. While the pigs may meet, or near the table's edge, they go on in one engine
(`together`), and each alone again once they are apart.

A fast roll takes the very same steps as a full one and only ends sooner. A pig whose basin is
certain is parked while the other one goes on, as long as that one stays out of the circle in
which the parked one may still move; when it does not, the parked pig catches up.

The table, ready for rolls: an engine for each pig alone, and one for the two together.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from types import TracebackType

from physim.physics.body import Body
from physim.physics.energy_bound import Certificate
from physim.physics.pair import PairClient, Together
from physim.physics.proximity import Watch, room_m, way_m
from physim.physics.recording import Track
from physim.physics.rest import RestCriterion, Stillness
from physim.physics.single import Solo, SoloClient
from physim.physics.state import PlainState, PlainStates, States
from physim.physics.surfaces import EngineSettings
from physim.types import Ended, Rest, Status, Table, Toss

Certificates = tuple[Certificate, Certificate]
Observer = Callable[[float, States], None]


def settle(
    world: World,
    toss: Toss,
    criterion: RestCriterion | None = None,
    observe: Observer | None = None,
    certificates: Certificates | None = None,
    *,
    fast: bool = False,
    tracks: tuple[Track, Track] | None = None,
) -> Rest:
    """Simulates one roll from release until both pigs are at rest.

    Args:
        world: an open world.
        toss: the two states at release, pig frame.
        criterion: when pigs are at rest; the default if None.
        observe: called at every look with the time since release [s] and both states
            (principal frame) at that time, or up to a step later; a pig that is at rest, or
            parked in a fast roll, is shown where it stays.
        certificates: know when a pig's outcome is certain; asked at the cap, and before.
        fast: ends the roll once the outcome is certain. It changes when a roll stops, and
            nothing else.
        tracks: empty ones, which take down the ways of both pigs; this changes no bit.
    """
    rule = criterion or RestCriterion()
    with world.alone():
        return _Roll(world, toss, rule, observe, certificates, fast, tracks).settle()


class _Pig:
    """One pig of a roll under way, while it goes its own way."""

    def __init__(self, solo: Solo, still: Stillness, certificate: Certificate | None) -> None:
        self.solo = solo
        self.still = still
        self.certificate = certificate
        self.at_rest = False
        self.basin: int | None = None
        """The basin with which the pig is parked."""
        self.reach_m = 0.0
        """How far the centre of mass of a parked pig may still get from where it is."""
        self.fastest_m_s = 0.0
        """What no point of a parked pig exceeds any more."""
        self._certain: int | None = None

    @property
    def parked(self) -> bool:
        return self.at_rest or self.basin is not None

    def advance(self, ticks: int) -> None:
        """To the next look; a pig at rest stays where it is."""
        if self.at_rest:
            return
        solo = self.solo
        solo.advance(ticks)
        if solo.flight is not None or solo.point_speed_m_s > self.still.limit_m_s:
            self.still.moves()
        else:
            self.at_rest = self.still.at_rest(solo.state(), solo.time_s)

    def certain(self) -> int | None:
        """The basin that it cannot leave any more; sets what it may still do in it."""
        energy_m = self.solo.energy_on_table_m
        if self.certificate is None or energy_m >= self.certificate.highest_m:
            return None
        if self._certain is None:
            self._certain = self.certificate.basin(self.solo.quat_xyzw, energy_m)
        if self._certain is not None:
            self.reach_m = self.certificate.reach_m(self._certain, energy_m)
            self.fastest_m_s = self.certificate.fastest_m_s(energy_m)
        return self._certain

    def resume(self, state: PlainState, tick: int) -> None:
        """Goes its own way again."""
        self.solo.resume(state, tick)
        self.still.moves()
        self.at_rest = False
        self.basin = self._certain = None


class _Roll:
    """One roll under way."""

    def __init__(
        self,
        world: World,
        toss: Toss,
        rule: RestCriterion,
        observe: Observer | None,
        certificates: Certificates | None,
        fast: bool,
        tracks: tuple[Track, Track] | None,
    ) -> None:
        self._world = world
        self._rule = rule
        self._observe = observe
        self._fast = fast
        self._look_ticks = world.settings.steps_a_call
        self._call_s = world.settings.call_s
        self._halves = (world.table.length_m / 2, world.table.width_m / 2)
        self._tick = 0
        self._tick_s = world.settings.time_step_s
        for solo, body, state, track in zip(
            world.solos, world.bodies, toss.pigs, tracks or (None, None), strict=True
        ):
            solo.track = track
            solo.release(body.enter(state))
        first, second = (
            _Pig(solo, Stillness(solo.body, world.table, rule), certificate)
            for solo, certificate in zip(world.solos, certificates or (None, None), strict=True)
        )
        self._pigs = (first, second)
        self._both = (first, second), (second, first)
        self._watch = Watch(*world.solos, self._look_ticks)
        first_contact_s = min(solo.first_landing_s for solo in world.solos)
        self._cap_s = first_contact_s + rule.cap_s
        self._together = Together(
            world.pair, rule, self._cap_s, certificates, observe, fast, tracks
        )

    def settle(self) -> Rest:
        """Each alone and both together in turn, until there is nothing left to wait for."""
        self._show()
        while True:
            states = self._alone()
            if states is None:
                return self._end()
            rest = self._meet(states)
            if rest is not None:
                return rest

    def _alone(self) -> PlainStates | None:
        """Look by look, each pig on its own.

        Returns:
            None if the roll is over; otherwise the states (principal frame) at the present
            tick from which the pigs must go on together.
        """
        pigs = self._pigs
        black, pink = pigs
        while not (black.parked and pink.parked):
            ticks = self._ticks_ahead()
            if ticks == 0:
                for pig in pigs:
                    self._catch_up(pig)
                return pigs[0].solo.hold().engine_state(), pigs[1].solo.hold().engine_state()
            self._tick += ticks
            for pig in pigs:
                if pig.basin is None:
                    pig.advance(ticks)
            before = self._watch.met(self._tick)
            if before is not None:
                self._tick = before.tick
                return before.states()
            self._show()
            at_cap = self._time_s >= self._cap_s
            if self._fast or at_cap:
                for pig, other in self._both:
                    self._park(pig, other)
            if at_cap:
                break
        return None

    def _meet(self, states: PlainStates) -> Rest | None:
        """Both pigs in one engine; the rest, or None if they are apart again."""
        black, pink = (pig.solo for pig in self._pigs)
        steps = black.steps + pink.steps
        rest = self._together.settle(states, self._tick, steps)
        if rest is not None:
            return rest
        self._tick = self._together.tick
        black.steps += self._together.steps - steps
        for pig, state in zip(self._pigs, self._together.states(), strict=True):
            pig.resume(state, self._tick)
        return None

    @property
    def _time_s(self) -> float:
        return self._tick * self._tick_s

    def _ticks_ahead(self) -> int:
        """How far the pigs may go on, each alone; 0 if not at all."""
        pigs = self._pigs
        for pig, other in self._both:
            if pig.basin is not None and not self._clear(pig, other):
                pig.basin = None  # the other one comes too near: all it may still do counts
                self._catch_up(pig)
        if self._near_edge(pigs[0]) or self._near_edge(pigs[1]):
            return 0
        regular = self._look_ticks - self._tick % self._look_ticks
        if pigs[0].basin is not None or pigs[1].basin is not None:
            return regular
        ticks = self._watch.ticks(self._tick, (pigs[0].at_rest, pigs[1].at_rest))
        # No leap over the edge: a flight is looked at there as anywhere else.
        return regular if ticks > regular and self._flies_off(ticks) else ticks

    def _catch_up(self, pig: _Pig) -> None:
        """Brings a pig that was parked to the present look, by the looks it would have had."""
        while pig.solo.ticks < self._tick and not pig.at_rest:
            pig.advance(self._look_ticks - pig.solo.ticks % self._look_ticks)

    def _park(self, pig: _Pig, other: _Pig) -> None:
        """Parks a pig whose basin is certain and whose way is free."""
        if pig.parked:
            return
        basin = pig.certain()
        if basin is None or not self._clear(pig, other):
            return
        # A full roll looks ahead by what the pig may do before the next look.
        if not self._over_edge(pig, pig.reach_m + pig.fastest_m_s * self._call_s):
            pig.basin = basin

    def _clear(self, pig: _Pig, other: _Pig) -> bool:
        """Whether the other one stays out of a parked pig's circle until the next look.

        The circle is so wide that the two would not be found near each other (`watch`) if
        the parked one went on.
        """
        room = room_m(pig.solo, other.solo)
        room -= pig.reach_m + way_m(pig.fastest_m_s, self._call_s)
        if other.at_rest:
            return room > 0.0
        if other.basin is not None:
            return room > other.reach_m + way_m(other.fastest_m_s, self._call_s)
        return room > way_m(other.solo.point_speed_m_s, self._call_s)

    def _near_edge(self, pig: _Pig) -> bool:
        """Whether a pig may reach the edge before the next look."""
        return not pig.parked and self._over_edge(pig, _fastest(pig) * self._call_s)

    def _flies_off(self, ticks: int) -> bool:
        """Whether a pig in flight comes near the edge on this way."""
        time_s = (ticks + self._look_ticks) * self._tick_s
        return any(
            self._over_edge(pig, _fastest(pig) * time_s) for pig in self._pigs if not pig.parked
        )

    def _over_edge(self, pig: _Pig, way_m: float) -> bool:
        """Whether this way brings a pig's sphere over the edge."""
        x, y, _ = pig.solo.centre_m
        reach = pig.solo.body.radius_m + way_m
        length, width = self._halves
        return abs(x) + reach > length or abs(y) + reach > width

    def _show(self) -> None:
        if self._observe:
            self._observe(self._time_s, (self._pigs[0].solo.state(), self._pigs[1].solo.state()))

    def _end(self) -> Rest:
        black, pink = self._pigs
        certain = black.basin is not None or pink.basin is not None
        bodies = self._world.bodies
        times = (black.solo.time_s, pink.solo.time_s)
        return Rest(
            status=Status.OK if black.parked and pink.parked else Status.UNSETTLED,
            ended=Ended.CERTAIN if certain else Ended.REST,
            time_s=max(times),
            pigs=(bodies[0].leave(black.solo.state()), bodies[1].leave(pink.solo.state())),
            times_s=times,
            steps=black.solo.steps + pink.solo.steps,
            basins=(black.basin, pink.basin),
        )


def _fastest(pig: _Pig) -> float:
    """At which speed its centre of mass moves along the table's length or width [m/s]."""
    u, v, _ = pig.solo.velocity_m_s
    return max(abs(u), abs(v))


class World:
    """A table and two pigs. Use it with `with`; `settle` rolls on it, one roll at a time."""

    def __init__(
        self, bodies: tuple[Body, Body], table: Table, settings: EngineSettings | None = None
    ) -> None:
        self.bodies = bodies
        self.table = table
        self.settings = settings or EngineSettings()
        first, second = (SoloClient(body, table.surface, self.settings) for body in bodies)
        self.solos = (Solo(first), Solo(second))
        self.pair = PairClient(bodies, table, self.settings)
        self._open = ExitStack()
        self._lock = threading.Lock()
        self._user: int | None = None  # the thread that rolls
        self._closed = False

    def __enter__(self) -> World:
        with ExitStack() as stack:  # closes those that are open if another cannot be opened
            for client in (self.solos[0].client, self.solos[1].client, self.pair):
                stack.enter_context(client)
            self._open = stack.pop_all()
        self._closed = False
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        with self.alone():
            self._closed = True
            self._open.close()

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Keeps other threads out, and refuses an observer that rolls on what it observes."""
        if self._user == threading.get_ident():
            raise RuntimeError(
                "a roll is being made here; an observer needs a Simulator of its own"
            )
        with self._lock:
            if self._closed:
                raise RuntimeError("this Simulator was closed while a roll waited for it")
            self._user = threading.get_ident()
            try:
                yield
            finally:
                self._user = None
