"""What can happen in a game: the entries of its log. Players are named by their ids."""

from __future__ import annotations

from dataclasses import dataclass

from physim.rules.throws import Throw


@dataclass(frozen=True)
class Called:
    """A Hog Call for the next throw; `prediction` in the form of `read_prediction`."""

    player: str
    prediction: str


@dataclass(frozen=True)
class Thrown:
    """A throw of the player whose turn it is."""

    throw: Throw


@dataclass(frozen=True)
class Points:
    """Points of this turn typed in without the throw; negative ones take back."""

    points: int


@dataclass(frozen=True)
class Banked:
    """The player whose turn it is stops."""


@dataclass(frozen=True)
class Removed:
    """A player is taken out of the game."""

    player: str


@dataclass(frozen=True)
class Corrected:
    """The swineherd sets a player's banked points."""

    player: str
    score: int


Event = Called | Thrown | Points | Banked | Removed | Corrected
