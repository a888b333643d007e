"""The way of both pigs through one roll, as it was simulated: a state for every moment.

A pig in contact is noted after every longest step of its engine, a flight as such: it is
computed, so that any moment of it is known. Noting changes no bit of a roll, and at every look
the state is the one that the roll itself has.
"""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from dataclasses import dataclass, field

from physim.physics.body import Body
from physim.physics.flight import Flight
from physim.physics.state import PlainState, States
from physim.types import Quat


@dataclass
class Track:
    """The way of one pig. Times are those since release [s], states of the principal frame."""

    _times_s: list[float] = field(default_factory=list)
    _pieces: list[PlainState | tuple[Flight, float]] = field(default_factory=list)

    def add(self, time_s: float, state: PlainState) -> None:
        """The pig is here then. What was noted of later times did not happen."""
        self._cut(time_s)
        self._times_s.append(time_s)
        self._pieces.append(state)

    def fly(self, time_s: float, flight: Flight, began_s: float) -> None:
        """From `time_s` on the pig flies; the flight's own time began at `began_s`."""
        self._cut(time_s)
        self._times_s.append(time_s)
        self._pieces.append((flight, began_s))

    def at(self, time_s: float) -> PlainState:
        """The state at a time; before the release that of the release, at last that at rest."""
        number = max(0, bisect_right(self._times_s, time_s) - 1)
        begins_s, piece = self._times_s[number], self._pieces[number]
        if not isinstance(piece, PlainState):
            flight, began_s = piece
            return flight.plain(max(begins_s, time_s) - began_s)
        if time_s <= begins_s or number + 1 == len(self._pieces):
            return piece
        ends_s = self._times_s[number + 1]
        after = self._pieces[number + 1]
        if not isinstance(after, PlainState):
            after = after[0].plain(ends_s - after[1])
        return _between(piece, after, (time_s - begins_s) / (ends_s - begins_s))

    @property
    def ends_s(self) -> float:
        """When the pig was last seen to move."""
        return self._times_s[-1]

    def _cut(self, time_s: float) -> None:
        keep = bisect_left(self._times_s, time_s)
        del self._times_s[keep:], self._pieces[keep:]


@dataclass(frozen=True)
class Recording:
    """Both pigs' ways through a roll: black, pink."""

    bodies: tuple[Body, Body]
    tracks: tuple[Track, Track] = field(default_factory=lambda: (Track(), Track()))

    def at(self, time_s: float) -> States:
        """Both states (pig frame) at a time since release [s]."""
        black, pink = (
            body.leave(track.at(time_s).state())
            for body, track in zip(self.bodies, self.tracks, strict=True)
        )
        return black, pink

    @property
    def ends_s(self) -> float:
        """When both pigs lay still, or the roll was over otherwise."""
        return max(track.ends_s for track in self.tracks)


def _between(a: PlainState, b: PlainState, share: float) -> PlainState:
    """A state on the way from one to the next, a step apart."""
    vectors = (
        tuple((1.0 - share) * p + share * q for p, q in zip(one, two, strict=True))
        for one, two in ((a[0], b[0]), (a[2], b[2]), (a[3], b[3]))
    )
    centre, velocity, spin = ((x, y, z) for x, y, z in vectors)
    return PlainState(centre, _turned(a.quat_xyzw, b.quat_xyzw, share), velocity, spin)


def _turned(a: Quat, b: Quat, share: float) -> Quat:
    same = sum(p * q for p, q in zip(a, b, strict=True))
    sign = 1.0 if same >= 0.0 else -1.0
    x, y, z, w = ((1.0 - share) * p + sign * share * q for p, q in zip(a, b, strict=True))
    scale = 1.0 / math.sqrt(x * x + y * y + z * z + w * w)
    return x * scale, y * scale, z * scale, w * scale
