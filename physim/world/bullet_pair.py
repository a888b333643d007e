"""Two pigs that may meet, or that are near the table's edge, in a client of their own.

They carry all their parts, and a table with its edges takes the place of the endless one
where one of them is near. The world is made anew for every such roll: what Bullet's broad
phase keeps of earlier ones decides when the pair is found, and the last bits of its
contacts with it.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

from physim.files import scratch
from physim.values import Table
from physim.world.body import Body
from physim.world.bullet import Client, halvings_for
from physim.world.bullet_bodies import (
    in_air,
    make_box,
    make_pig,
    make_plane,
    make_shape_of,
    make_unseen,
    pose,
    write_parts,
)
from physim.world.bullet_client import LOCK, MARGIN_M, UNITS_PER_M, pybullet
from physim.world.motion import Motion, PlainStates, States
from physim.world.settings import EngineSettings

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
