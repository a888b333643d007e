"""The table, ready for rolls: an engine for each pig alone, and one for the two together."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from types import TracebackType

from physim.values import Table
from physim.world.body import Body
from physim.world.bullet_pair import PairClient
from physim.world.bullet_solo import SoloClient
from physim.world.settings import EngineSettings
from physim.world.solo import Solo


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
