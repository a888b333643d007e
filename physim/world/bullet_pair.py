"""Two pigs that may meet, or that are near the table's edge, in a client of their own.

They carry all their parts, and a table with its edges takes the place of the endless one
where one of them is near. The world is made anew for every such roll: what Bullet's broad
phase keeps of earlier ones decides when the pair is found, and the last bits of its
contacts with it.
"""

from __future__ import annotations

from physim.values import RigidState, Table
from physim.world.body import Body
from physim.world.bullet import Client, Motion, halvings_for
from physim.world.bullet_bodies import (
    in_air,
    make_box,
    make_pig,
    make_plane,
    make_shape_of,
    make_unseen,
    pose,
)
from physim.world.bullet_client import MARGIN_M, UNITS_PER_M, obj_text, pybullet
from physim.world.settings import EngineSettings

RENEW_AFTER = 200  # worlds: Bullet keeps some memory of every shape ever made

States = tuple[RigidState, RigidState]
Motions = tuple[Motion, Motion]


class PairClient(Client):
    """A table and two pigs. Use it with `with`; it connects when it is needed."""

    def __init__(self, bodies: tuple[Body, Body], table: Table, settings: EngineSettings) -> None:
        super().__init__(settings)
        self.bodies = bodies
        self.table = table
        self.at_edge = False
        self._pigs: list[int] = []
        self._made = 0
        self._texts = [obj_text([part * UNITS_PER_M for part in body.parts_m]) for body in bodies]

    def __enter__(self) -> PairClient:
        return self

    def place(self, states: States, *, at_edge: bool) -> None:
        """Puts both pigs, made anew, into these states (principal frame)."""
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
        first, second = self._texts
        shape = make_shape_of(self.id, first)
        shapes = (shape, shape if second == first else make_shape_of(self.id, second))
        self._pigs = [
            make_pig(self.id, body, shape, unseen, in_air(state, number))
            for number, (body, shape, state) in enumerate(
                zip(self.bodies, shapes, states, strict=True)
            )
        ]
        self.run(1)
        for pig, state in zip(self._pigs, states, strict=True):
            pose(self.id, pig, state)

    def advance(self, ticks: int) -> int:
        """Simulates so many longest steps; the engine's steps."""
        halvings = max(
            halvings_for(motion.point_speed_m_s, motion.body.model.height_m, self.settings)
            for motion in self.look()
        )
        return self.run(ticks, halvings)

    def look(self) -> Motions:
        """Where both pigs are and how they move."""
        first, second = (
            Motion(body, self.seen(pig)) for body, pig in zip(self.bodies, self._pigs, strict=True)
        )
        return first, second

    def states(self) -> States:
        """The same as states (principal frame)."""
        first, second = (motion.state() for motion in self.look())
        return first, second

    def pigs_meet(self, within_m: float) -> bool:
        """Whether the two pigs' surfaces come within this distance [m]."""
        points = pybullet.getClosestPoints(
            self._pigs[0],
            self._pigs[1],
            distance=(within_m - 2 * MARGIN_M) * UNITS_PER_M,
            physicsClientId=self.id,
        )
        return len(points) > 0
