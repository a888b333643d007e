"""Two pigs in one engine: while they may meet, and near the table's edge."""

from __future__ import annotations

import math
from collections.abc import Callable

from physim.values import Ended, Rest, Status
from physim.world.bullet_pair import Motions, PairClient
from physim.world.certain import Certificate
from physim.world.meeting import closing_m_s, gap_m, room_m, way_m
from physim.world.motion import Motion, PlainStates, States
from physim.world.still import RestCriterion, Stillness
from physim.world.track import Track

TOUCH_M = 1e-4  # pigs this near to each other may lean on each other


class Together:
    """The stretches of one roll that both pigs spend in one engine."""

    def __init__(
        self,
        client: PairClient,
        rule: RestCriterion,
        cap_s: float,
        certificates: tuple[Certificate, Certificate] | None,
        observe: Callable[[float, States], None] | None,
        fast: bool,
        tracks: tuple[Track, Track] | None,
    ) -> None:
        """Prepares for pigs that meet.

        Args:
            client: the engine that both pigs are put into.
            rule: when pigs are at rest.
            cap_s: time since release at which waiting ends [s].
            certificates: of both pigs, or None.
            observe: as for `settle`.
            fast: whether the roll ends once it is certain.
            tracks: take down both pigs' ways, or None.
        """
        self._client = client
        self._rule = rule
        self._cap_s = cap_s
        self._certificates = certificates
        self._observe = observe
        self._fast = fast
        self._tracks = tracks
        self._look_s = client.settings.call_s
        self._stills: tuple[Stillness, ...] = ()
        self.tick = 0
        """Longest steps since release."""
        self.steps = 0
        """Engine steps since release, of all engines."""

    def states(self) -> PlainStates:
        """Both pigs' states, principal frame."""
        return self._client.plain()

    def settle(self, states: PlainStates, tick: int, steps: int) -> Rest | None:
        """Look by look, from these states (principal frame) at this tick.

        Returns:
            How the roll ended, or None once the pigs can go on each alone.
        """
        client = self._client
        self.tick, self.steps = tick, steps
        self._stills = tuple(Stillness(body, client.table, self._rule) for body in client.bodies)
        client.place(states, at_edge=False)
        self._note(0)
        if self._near_edge(client.look()):
            client.place(states, at_edge=True)
        look_ticks = client.settings.steps_a_call
        while self._time_s < self._cap_s:
            self.steps += client.advance(look_ticks, self._note if self._tracks else None)
            self.tick += look_ticks
            motions = client.look()
            if self._observe:
                self._observe(self._time_s, client.states())
            if client.at_edge:
                if self._any_fallen(motions):
                    return self._end(Status.OFF_TABLE)
            elif self._near_edge(motions):
                client.place(client.plain(), at_edge=True)
            elif self._apart(motions):
                return None
            if self._at_rest(motions):
                return self._end(Status.OK)
            if self._fast or self._time_s >= self._cap_s:
                basins = self._certain(motions)
                if basins is not None:
                    return self._end(Status.OK, basins)
        return self._end(Status.UNSETTLED)

    def _note(self, number: int) -> None:
        """Takes down where the pigs are so many longest steps after this look."""
        if self._tracks is None:
            return
        time_s = (self.tick + number) * self._client.settings.time_step_s
        for track, motion in zip(self._tracks, self._client.look(), strict=True):
            track.add(time_s, motion.plain())

    @property
    def _time_s(self) -> float:
        return self.tick * self._client.settings.time_step_s

    def _end(self, status: Status, basins: tuple[int, int] | None = None) -> Rest:
        (black, pink), bodies = self._client.states(), self._client.bodies
        return Rest(
            status=status,
            ended=Ended.REST if basins is None else Ended.CERTAIN,
            time_s=self._time_s,
            pigs=(bodies[0].leave(black), bodies[1].leave(pink)),
            times_s=(self._time_s, self._time_s),
            steps=self.steps,
            basins=basins or (None, None),
        )

    def _apart(self, motions: Motions) -> bool:
        """Whether the pigs can go on each alone: they surely do not touch within a tick."""
        time_s = self._client.settings.time_step_s
        first, second = motions
        in_air = all(
            motion.centre_m[2] - motion.body.radius_m > way_m(motion.point_speed_m_s, time_s)
            for motion in motions
        )
        if in_air:
            way = closing_m_s(first, second) * time_s
        else:
            way = way_m(first.point_speed_m_s + second.point_speed_m_s, time_s, 2)
        return room_m(first, second) > way or gap_m(first, second, way) > way

    def _at_rest(self, motions: Motions) -> bool:
        """Whether both pigs are at rest, on their own feet or against each other."""
        pairs = list(zip(self._stills, motions, strict=True))
        if any(motion.point_speed_m_s > still.limit_m_s for still, motion in pairs):
            for still in self._stills:
                still.moves()
            return False
        pigs = [(still, motion.state()) for still, motion in pairs]
        still_s = min(still.still_s(state, self._time_s) for still, state in pigs)
        if still_s < self._rule.window_s:
            return False
        if all(still.supported(state) for still, state in pigs):
            return True
        return still_s >= 2 * self._rule.window_s and self._client.pigs_meet(TOUCH_M)

    def _certain(self, motions: Motions) -> tuple[int, int] | None:
        """The basins that neither pig can leave, where they cannot reach each other or the edge."""
        if self._client.at_edge or self._certificates is None:
            return None
        found = []
        room = math.dist(motions[0].centre_m, motions[1].centre_m)
        for motion, certificate in zip(motions, self._certificates, strict=True):
            room -= motion.body.radius_m
            if room <= 0.0:
                return None
            energy_m = motion.energy_on_table_m
            basin = certificate.basin(motion.quat_xyzw, energy_m)
            if basin is None:
                return None
            reach_m = certificate.reach_m(basin, energy_m)
            room -= reach_m
            if self._over_edge(motion, reach_m + self._look_s * certificate.fastest_m_s(energy_m)):
                return None
            found.append(basin)
        return (found[0], found[1]) if room > 0.0 else None

    def _near_edge(self, motions: Motions) -> bool:
        """Whether a pig may reach the edge before the next look."""
        return any(
            self._over_edge(motion, self._look_s * max(map(abs, motion.velocity_m_s[:2])))
            for motion in motions
        )

    def _over_edge(self, motion: Motion, way_m: float) -> bool:
        table = self._client.table
        x, y = (abs(c) + motion.body.radius_m + way_m for c in motion.centre_m[:2])
        return x > table.length_m / 2 or y > table.width_m / 2

    def _any_fallen(self, motions: Motions) -> bool:
        """Whether a pig is past the edge and below the table's top for good."""
        table = self._client.table
        for motion in motions:
            x, y, z = motion.centre_m
            outside = abs(x) > table.length_m / 2 or abs(y) > table.width_m / 2
            if outside and z < -motion.body.radius_m:
                return True
        return False
