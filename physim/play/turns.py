"""One turn alone: what holding at N points brings and risks, whatever the scores."""

from __future__ import annotations

from dataclasses import dataclass

from physim.game.distribution import ThrowOdds


@dataclass(frozen=True)
class HoldValue:
    """Holding at a number of points.

    Attributes:
        hold: the number.
        expected_points: banked a turn, on average; what an oinker takes of earlier points is left
            aside.
        bust: probability that the turn ends with nothing.
    """

    hold: int
    expected_points: float
    bust: float


def hold_values(odds: ThrowOdds, most: int) -> list[HoldValue]:
    """Each hold value from 1 to `most`."""
    return [_hold(odds, hold) for hold in range(1, most + 1)]


def best_hold(values: list[HoldValue]) -> HoldValue:
    """The most expected points; of equal ones the smallest hold value."""
    return max(values, key=lambda value: (value.expected_points, -value.hold))


def break_even(odds: ThrowOdds, banked: int = 0) -> float | None:
    """The turn total at which another throw wins nothing on average.

    Args:
        odds: of one throw.
        banked: points that an oinker would take.

    Returns:
        Points; negative where a throw loses on average even with nothing in the turn. None where
        no throw ends the turn.
    """
    if odds.ends_turn == 0:
        return None
    return (odds.expected_points - odds.loses_score * banked) / odds.ends_turn


def _hold(odds: ThrowOdds, hold: int) -> HoldValue:
    """Probabilities of the turn totals, from the lowest up: each is reached from lower ones."""
    pairs = list(zip(odds.points, odds.probabilities, strict=True))
    nothing = sum(p for points, p in pairs if points == 0)
    reached = [0.0] * hold
    reached[0] = 1.0
    expected = banks = 0.0
    for total in range(hold):
        # Throws of 0 points stay at a total and are repeated; a first one is a throw as well.
        here = reached[total] / (1.0 - nothing)
        for points, probability in pairs:
            if points == 0:
                continue
            after = total + points
            if after < hold:
                reached[after] += here * probability
            else:
                banks += here * probability
                expected += here * probability * after
    return HoldValue(hold, expected, 1.0 - banks)
