"""The rest criterion of both pigs in one engine, on states made by hand."""

import math
from collections.abc import Callable
from dataclasses import replace

import pytest
from scipy.spatial.transform import Rotation

from physim.physics.body import Body
from physim.physics.state import (
    EngineMotion,
    PlainState,
    RestCriterion,
    RestDetector,
    both_at_rest,
)
from physim.types import PigModel, Table

CHECK_S = 1 / 128
WINDOW_S = RestCriterion().window_s
SIDE_M = 0.02


def never() -> bool:
    return False


def seen(
    z: float = SIDE_M / 2,
    x: float = 0.0,
    turn: Rotation | None = None,
    velocity: tuple[float, float, float] = (0.0, 0.0, 0.0),
) -> PlainState:
    a, b, c, w = (turn or Rotation.identity()).as_quat().tolist()
    return PlainState((x, 0.0, z), (a, b, c, w), velocity, (0.0, 0.0, 0.0))


class Both:
    """Two equal cubes."""

    def __init__(self, body: Body, table: Table, criterion: RestCriterion) -> None:
        self._body = body
        self._detectors = [RestDetector(body, table, criterion) for _ in range(2)]

    def at_rest(
        self, now_s: float, pigs: tuple[PlainState, PlainState], meet: Callable[[], bool]
    ) -> bool:
        motions = [EngineMotion(self._body, pig) for pig in pigs]
        return both_at_rest(self._detectors, motions, now_s, meet)


@pytest.fixture
def still(box: Callable[..., PigModel], bare_table: Callable[..., Table]) -> Both:
    return Both(Body.of(box((SIDE_M, SIDE_M, SIDE_M))), bare_table(2.0), RestCriterion())


def first_rest_s(
    still: Both, pig: Callable[[float], PlainState], meet: Callable[[], bool] = never
) -> float:
    """When the criterion is met, the other pig lying still; infinite for not within 1 s."""
    for check in range(1, 129):
        now_s = check * CHECK_S
        if still.at_rest(now_s, (pig(now_s), seen(x=0.5)), meet):
            return now_s
    return math.inf


def test_a_cube_that_lies_is_at_rest_after_the_window(still: Both) -> None:
    # The first check begins the window.
    assert first_rest_s(still, lambda _: seen()) == pytest.approx(
        CHECK_S + math.ceil(WINDOW_S / CHECK_S) * CHECK_S
    )


def test_what_moves_is_not(still: Both) -> None:
    limit = RestCriterion().speed * math.sqrt(2 * 9.81 * SIDE_M)
    slow, fast = (0.9 * limit, 0.0, 0.0), (1.1 * limit, 0.0, 0.0)
    assert first_rest_s(still, lambda _: seen(velocity=slow)) < 0.2
    assert first_rest_s(still, lambda _: seen(velocity=fast)) == math.inf


def test_what_creeps_or_turns_is_not(still: Both) -> None:
    per_window = 1.3 * RestCriterion().displacement * SIDE_M / WINDOW_S
    assert first_rest_s(still, lambda t: seen(x=per_window * t)) == math.inf
    corner_m = SIDE_M * math.sqrt(3) / 2
    assert (
        first_rest_s(
            still, lambda t: seen(turn=Rotation.from_rotvec([0, 0, per_window * t / corner_m]))
        )
        == math.inf
    )


def test_the_window_begins_anew_after_a_move(still: Both) -> None:
    moved_s = 6 * CHECK_S
    at_s = first_rest_s(still, lambda t: seen(x=0.0 if t < moved_s else 0.001))
    assert at_s == pytest.approx(moved_s + math.ceil(WINDOW_S / CHECK_S) * CHECK_S)


def test_what_hovers_or_balances_is_not(still: Both) -> None:
    hovering = seen(z=SIDE_M / 2 + 0.006 * SIDE_M)
    tilted = Rotation.from_euler("y", 40, degrees=True)
    low_m = SIDE_M / 2 * (math.sin(math.radians(40)) + math.cos(math.radians(40)))
    on_an_edge = seen(z=low_m, turn=tilted)
    past_the_edge = seen(x=1.01)
    for pig in (hovering, on_an_edge, past_the_edge):
        assert first_rest_s(still, lambda _, pig=pig: pig) == math.inf
    # A pig that leans on the other gets twice the window.
    at_s = first_rest_s(still, lambda _: on_an_edge, meet=lambda: True)
    assert at_s == pytest.approx(CHECK_S + math.ceil(2 * WINDOW_S / CHECK_S) * CHECK_S)


def test_limits_are_those_of_the_rule(
    box: Callable[..., PigModel], bare_table: Callable[..., Table]
) -> None:
    body = Body.of(box((SIDE_M, SIDE_M, SIDE_M)))
    patient = replace(RestCriterion(), window_s=0.5)
    still = Both(body, bare_table(2.0), patient)
    assert first_rest_s(still, lambda _: seen()) == pytest.approx(0.5 + CHECK_S)
