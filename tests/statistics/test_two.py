"""Two samples side by side."""

from __future__ import annotations

import json
import math
from fractions import Fraction
from pathlib import Path

import pytest

from physim.statistics.counts import PAIRS, Counts
from physim.statistics.report import to_json, to_text, two_to_json, two_to_text
from physim.statistics.tables import ReferenceTable, load_table
from physim.statistics.tests import (
    compare,
    deserved_points,
    differences,
    holm,
    newcombe,
    side_by_side,
)
from physim.types import Pose
from tests.counted import counts_of

REAL = {
    Pose.SIDE_DOT_UP: 3606,
    Pose.SIDE_DOT_DOWN: 4180,
    Pose.TROTTER: 1057,
    Pose.RAZORBACK: 2674,
    Pose.SNOUTER: 364,
    Pose.LEANING_JOWLER: 73,
    Pose.OTHER: 0,
}


def test_newcombe_s_interval_is_that_of_his_example() -> None:
    # R. G. Newcombe (1998), table II, (a) 56/70 - 48/80, method 10.
    interval = newcombe(56, 70, 48, 80)
    assert interval.low == pytest.approx(0.0524, abs=1e-4)
    assert interval.high == pytest.approx(0.3339, abs=1e-4)


def test_holm_s_method_is_that_of_a_worked_example() -> None:
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])


def test_the_same_sample_does_not_differ_and_a_shifted_one_does() -> None:
    assert not any(it.matters for it in side_by_side(counts_of(REAL), counts_of(REAL)))
    shifted = REAL | {Pose.TROTTER: 557, Pose.RAZORBACK: 3174}
    found = {
        Pose(it.name) for it in side_by_side(counts_of(REAL), counts_of(shifted)) if it.matters
    }
    assert found == {Pose.TROTTER, Pose.RAZORBACK}


def test_the_real_frequencies_deserve_the_points_of_the_rules() -> None:
    total = sum(REAL.values())
    expected = {
        Pose.RAZORBACK: 5,
        Pose.TROTTER: 5,
        Pose.SNOUTER: 10,
        Pose.LEANING_JOWLER: 15,
    }
    assert {pose: deserved_points(REAL[pose] / total) for pose in expected} == expected
    assert deserved_points(0.0) is None
    assert deserved_points(1e-4) == 30


def test_text_and_json_hold_both_samples() -> None:
    one, two = counts_of(REAL), counts_of(REAL | {Pose.SNOUTER: 20})
    shown = json.loads(json.dumps(two_to_json(one, two, ("a", "b"))))
    assert shown["differences"]["snouter"]["matters"]
    assert shown["deserved_points"]["b"]["snouter"] > 10
    text = two_to_text(one, two, ("a", "b"))
    assert all(len(line) <= 80 for line in text.splitlines())
    assert "nothing to compare" in two_to_text(one, Counts(), ("a", "b"))


def test_a_second_dataset_and_a_table_together_are_refused(tmp_path: Path) -> None:
    from click.testing import CliRunner

    from physim.cli.stats import stats

    result = CliRunner().invoke(stats, [str(tmp_path), str(tmp_path), "--against", "kern2006"])
    assert result.exit_code != 0


# --- the same numbers by other routes ---


def wilson(count: int, size: int) -> tuple[float, float]:
    """Roots p of (count / size - p)^2 = z^2 p (1 - p) / size."""
    z2 = 1.959963984540054**2
    middle = 2 * count + z2
    half = math.sqrt(z2 * (z2 + 4 * count * (1 - count / size)))
    return (middle - half) / (2 * (size + z2)), (middle + half) / (2 * (size + z2))


def fisher(a: int, m: int, b: int, n: int) -> float:
    """Sum over all tables of the same margins that are no more probable, in whole numbers."""
    ways = [math.comb(m, k) * math.comb(n, a + b - k) for k in range(min(m, a + b) + 1)]
    here = math.comb(m, a) * math.comb(n, b)
    return float(Fraction(sum(way for way in ways if way <= here), math.comb(m + n, a + b)))


def step_down(p: list[float]) -> list[float]:
    """Holm by definition: of all that are not larger, the largest of rank from above times p."""
    at_least = [min(1.0, q * sum(other >= q for other in p)) for q in p]
    return [max(a for a, q in zip(at_least, p, strict=True) if q <= own) for own in p]


@pytest.mark.parametrize(
    ("one", "two"),
    [
        ({"a": 7, "b": 3, "c": 0}, {"a": 2, "b": 17, "c": 1}),
        ({"a": 1, "b": 0, "c": 0}, {"a": 0, "b": 1, "c": 0}),
        ({"a": 40, "b": 2, "c": 0}, {"a": 3600, "b": 4180, "c": 73}),
        ({"a": 12, "b": 5, "c": 3}, {"a": 12, "b": 5, "c": 3}),
    ],
)
def test_intervals_and_p_are_those_of_other_routes(
    one: dict[str, int], two: dict[str, int]
) -> None:
    m, n = sum(one.values()), sum(two.values())
    found = differences(one, m, two, n)
    assert [it.name for it in found] == list(one)
    p = step_down([fisher(one[name], m, two[name], n) for name in one])
    assert [it.p for it in found] == pytest.approx(p, rel=1e-9)
    for it in found:
        (low_1, high_1), (low_2, high_2) = wilson(one[it.name], m), wilson(two[it.name], n)
        f, g = one[it.name] / m, two[it.name] / n
        assert (it.one, it.two) == (f, g)
        ends = (
            f - g - math.sqrt((f - low_1) ** 2 + (high_2 - g) ** 2),
            f - g + math.sqrt((high_1 - f) ** 2 + (g - low_2) ** 2),
        )
        assert (it.interval.low, it.interval.high) == pytest.approx(ends, abs=1e-12)
        assert -1.0 <= it.interval.low <= f - g <= it.interval.high <= 1.0


def test_the_intervals_of_newcombe_s_small_and_empty_examples() -> None:
    """R. G. Newcombe (1998), table II, method 10: (c), (d) and (g)."""
    for counted, ends in [
        ((6, 7, 2, 7), (0.0582, 0.8062)),
        ((5, 56, 0, 29), (-0.0381, 0.1926)),
        ((10, 10, 0, 20), (0.6791, 1.0)),
    ]:
        interval = newcombe(*counted)
        assert (interval.low, interval.high) == pytest.approx(ends, abs=6e-5)


def test_an_empty_sample_has_no_differences() -> None:
    assert differences({"a": 0}, 0, {"a": 3}, 4) == differences({"a": 3}, 4, {"a": 0}, 0) == ()


def test_against_a_table_each_difference_has_the_columns_of_two_datasets() -> None:
    sample = counts_of(REAL | {Pose.TROTTER: 557, Pose.RAZORBACK: 3174, Pose.OTHER: 20})
    comparison = compare(sample, load_table("kern2006"))
    shown = to_json(sample, comparison)["against"]
    beside = two_to_json(sample, counts_of(REAL), ("a", "b"))["differences"]
    assert shown["differences"].keys() == beside.keys() - {"other"}
    assert all(shown["differences"][name].keys() == beside[name].keys() for name in ("trotter",))
    assert [name for name, it in shown["differences"].items() if it["matters"]] == [
        "trotter",
        "razorback",
    ]
    trotter = shown["differences"]["trotter"]
    assert trotter["frequencies"] == [557 / (sample.pigs - 20), 1057 / 11_954]
    assert trotter["low"] < trotter["difference"] < trotter["high"] < 0
    assert shown["pair_differences"] == {}
    text = to_text(sample, comparison)
    assert max(map(len, text.splitlines())) <= 80
    assert "Holm's method for 6 poses compared" in text and "A: these rolls" in text
    (line,) = (line for line in text.splitlines() if line.startswith("trotter ") and " to " in line)
    assert line.endswith("*") and "8.84" in line


def test_other_makes_no_pose_rarer_than_a_table_s() -> None:
    """Shares are of the named poses on both sides, for the poses as for G and the pairs."""
    real = {Pose(name): count for name, count in load_table("kern2006").counts.items()}
    sample = counts_of(real | {Pose.OTHER: 6000})
    for table in (load_table("kern2006"), ReferenceTable("d", sample.pose_cells())):
        comparison = compare(sample, table)
        assert comparison.test is not None and comparison.test.g == pytest.approx(0.0, abs=1e-9)
        assert [(it.one - it.two, it.p) for it in comparison.poses] == [(0.0, 1.0)] * 6
        text = to_text(sample, comparison)
        assert "shares without the pose other" in text
        assert "of 11,954 pigs of A and 11,954 of B:" in text
    text = two_to_text(sample, counts_of(REAL), ("a", "b"))
    assert "shares of all these pigs, the pose other among them" in text
    other = side_by_side(sample, counts_of(REAL))[-1]
    assert (other.name, other.one, other.two) == ("other", 6000 / 17_954, 0.0)


def test_pairs_with_other_are_in_neither_size() -> None:
    with_other = next(pair for pair in PAIRS if Pose.OTHER in pair)
    sample = Counts(rolls=82, joint={PAIRS[0]: 30, PAIRS[1]: 2, with_other: 50})
    comparison = compare(sample, load_table("kern2006_pairs"))
    assert comparison.pairs[0].one == 30 / 32
    assert "of 32 rolls of A and 6,000 of B:" in to_text(sample, comparison)


def test_against_a_table_of_pairs_they_are_compared_too() -> None:
    sample = Counts(rolls=32, joint={PAIRS[0]: 30, PAIRS[1]: 2})
    comparison = compare(sample, load_table("kern2006_pairs"))
    shown = to_json(sample, comparison)["against"]
    assert len(shown["pair_differences"]) == 22 and len(shown["differences"]) == 6
    first = shown["pair_differences"]["side_dot_up+side_dot_up"]
    assert first["frequencies"][0] == 30 / 32 and first["matters"]
    text = to_text(sample, comparison)
    assert max(map(len, text.splitlines())) <= 80 and "for 22 pairs compared" in text
