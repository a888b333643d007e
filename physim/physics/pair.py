"""Two pigs in one engine: while they may meet, and near the table's edge.

Two pigs that may meet, or that are near the table's edge, in a client of their own.

They carry all their parts, and a table with its edges takes the place of the endless one
where one of them is near. The world is made anew for every such roll: what Bullet's broad
phase keeps of earlier ones decides when the pair is found, and the last bits of its
contacts with it.
"""

from __future__ import annotations

import math
import shutil
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

from physim.files import scratch
from physim.physics.body import Body
from physim.physics.energy_bound import Certificate
from physim.physics.engine import (
    LOCK,
    MARGIN_M,
    UNITS_PER_M,
    Client,
    halvings_for,
    in_air,
    make_box,
    make_pig,
    make_plane,
    make_shape_of,
    make_unseen,
    pose,
    pybullet,
    write_parts,
)
from physim.physics.proximity import closing_m_s, gap_m, room_m, way_m
from physim.physics.recording import Track
from physim.physics.rest import RestCriterion, Stillness
from physim.physics.state import Motion, PlainStates, States
from physim.physics.surfaces import EngineSettings
from physim.types import Ended, Rest, Status, Table

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


RENEW_AFTER = 200  # worlds: Bullet keeps some memory of every shape ever made

_folders: set[Path] = set()  # of this process's clients, while they are open
Motions = tuple[Motion, Motion]


class PairClient(Client):
    """A table and two pigs. Use it with `with`; it connects when it is needed."""

    def __init__(self, bodies: tuple[Body, Body], table: Table, settings: EngineSettings) -> None:
        super().__init__(settings, table.surface, bodies)
        self.bodies = bodies
        self.table = table
        self.at_edge = False
        self._pigs: list[int] = []
        self._made = 0
        self._written = ExitStack()
        self._files: list[Path] = []

    def __enter__(self) -> PairClient:
        return self

    def close(self) -> None:
        """Ends the client; what it has written goes too."""
        super().close()
        self._written.close()
        self._files = []

    def place(self, states: PlainStates, *, at_edge: bool) -> None:
        """Puts both pigs, made anew, into these states (principal frame)."""
        with LOCK:
            self._place(states, at_edge)

    def _place(self, states: PlainStates, at_edge: bool) -> None:
        self._made += 1
        if self._made > RENEW_AFTER:
            self.close()
            self._made = 1
        self.open()
        self.at_edge = at_edge
        if at_edge:
            make_box(self.id, self.table)
        else:
            make_plane(self.id, self.table.surface)
        unseen = make_unseen(self.id)
        if not self._files or not all(file.exists() for file in self._files):
            self._write()  # also what somebody has removed, as those who clean /tmp do
        shapes = [make_shape_of(self.id, file) for file in self._files]
        shapes = shapes if len(shapes) == 2 else [*shapes, *shapes]
        self._pigs = [
            make_pig(self.id, body, shape, unseen, in_air(state.quat_xyzw, number))
            for number, (body, shape, state) in enumerate(
                zip(self.bodies, shapes, states, strict=True)
            )
        ]
        self.pigs = list(zip(self._pigs, self.bodies, strict=True))
        self.run(1)
        for pig, state in zip(self._pigs, states, strict=True):
            pose(self.id, pig, state)

    def _write(self) -> None:
        """Files of both shapes, or of the one that both pigs have."""
        self._written.close()
        folder = self._written.enter_context(scratch())
        _folders.add(folder)
        self._written.callback(_folders.discard, folder)
        first, second = self.bodies
        bodies = [first] if second.model is first.model else [first, second]
        self._files = [
            write_parts(folder / f"{number}.obj", body.parts_m)
            for number, body in enumerate(bodies)
        ]

    def advance(self, ticks: int, each: Callable[[int], None] | None = None) -> int:
        """Simulates so many longest steps; the engine's steps. `each`: as for `run`."""
        halvings = max(
            halvings_for(motion.point_speed_m_s, motion.body.model.height_m, self.settings)
            for motion in self.look()
        )
        return self.run(ticks, halvings, each)

    def look(self) -> Motions:
        """Where both pigs are and how they move."""
        first, second = (
            self.motion(body, pig) for body, pig in zip(self.bodies, self._pigs, strict=True)
        )
        return first, second

    def states(self) -> States:
        """The same as states (principal frame)."""
        first, second = (motion.state() for motion in self.look())
        return first, second

    def plain(self) -> PlainStates:
        """The same in plain numbers."""
        first, second = (motion.plain() for motion in self.look())
        return first, second

    def pigs_meet(self, within_m: float) -> bool:
        """Whether the two pigs' surfaces come within this distance [m]."""
        with LOCK:
            self._claim()
            points = pybullet.getClosestPoints(
                self._pigs[0],
                self._pigs[1],
                distance=(within_m - 2 * MARGIN_M) * UNITS_PER_M,
                physicsClientId=self.id,
            )
        return len(points) > 0


def remove_files() -> None:
    """Removes what this process's clients have written, before it ends without closing them."""
    for folder in tuple(_folders):
        shutil.rmtree(folder, ignore_errors=True)
