"""Who is timed: each rolls the tosses of a seed and names what lies there."""

from __future__ import annotations

from contextlib import AbstractContextManager
from dataclasses import replace
from importlib.util import find_spec
from types import TracebackType
from typing import Protocol

from physim.rests import RestTable
from physim.roll import FAST, FULL, Setup, Simulator, judge
from physim.seeding import stream
from physim.tosses.draws import Draws
from physim.values import Rest, Roll, Toss

PLAIN, MUJOCO, PHYSIM_FULL, PHYSIM = NAMES = ("plain_pybullet", "mujoco", "physim_full", "physim")


class Contestant(Protocol):
    """Makes the rolls of one setup."""

    def roll(self, seed: int, index: int) -> Roll:
        """The roll of that seed and index."""
        ...


class Loop(Protocol):
    """An engine from outside physim, with the physics alone. Used with `with`."""

    def __enter__(self) -> object: ...

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None: ...

    def settle(self, toss: Toss) -> Rest:
        """From release to rest; states in the pig frame."""
        ...


class Judged:
    """A loop with physim's tosses before it and its classifier behind. Use it with `with`."""

    def __init__(self, setup: Setup, loop: Loop) -> None:
        self.setup = setup
        self.loop = loop

    def __enter__(self) -> Judged:
        of_black = RestTable.of(self.setup.black)
        same = self.setup.pink is self.setup.black
        self._rests = (of_black, of_black if same else RestTable.of(self.setup.pink))
        self.loop.__enter__()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.loop.__exit__(kind, error, trace)

    def roll(self, seed: int, index: int) -> Roll:
        """The roll of that seed and index."""
        pigs = self.setup.pigs
        toss = self.setup.toss.release(Draws(stream(seed, index)), index, pigs)
        return judge(seed, index, self.loop.settle(toss), pigs, self._rests)


def has_mujoco() -> bool:
    """Whether the optional library is installed."""
    return find_spec("mujoco") is not None


def contestant(name: str, setup: Setup) -> AbstractContextManager[Contestant]:
    """One of `NAMES` with this setup, to be opened by `with`."""
    if name == PLAIN:
        from physim.bench.pybullet_loop import PlainPyBullet

        return Judged(setup, PlainPyBullet(setup))
    if name == MUJOCO:
        from physim.bench.mujoco_loop import MujocoPigs

        return Judged(setup, MujocoPigs(setup))
    return Simulator(replace(setup, settle=FULL if name == PHYSIM_FULL else FAST))
