"""One pig alone on an endless table, in a client of its own.

On a flat table only the corners of the pig's hull matter: the shape carries those alone
(`Body.lean_m`). The body is made once and re-posed for every roll: with a single pair of
bodies in the world, nothing that Bullet keeps can depend on the rolls before, once a step
in the air has dropped the contacts (the tests compare the bits).
"""

from __future__ import annotations

from physim.values import Surface
from physim.world.body import Body
from physim.world.bullet import Client, halvings_for
from physim.world.bullet_bodies import in_air, make_pig, make_plane, make_shape, make_unseen, pose
from physim.world.bullet_client import LOCK
from physim.world.motion import Motion, PlainState
from physim.world.settings import EngineSettings

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
