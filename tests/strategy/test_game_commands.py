"""`physim strategy` and `physim tournament` from the command line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from physim.cli.main import main
from physim.game.outcomes import Distribution
from physim.rules.score import labelled_throws


@pytest.fixture(autouse=True)
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """No progress line, however busy the machine is."""
    monkeypatch.setattr("physim.cli.game_options.PATIENCE_S", 1e9)


def run(capfd: pytest.CaptureFixture[str], *arguments: object) -> tuple[int, str, str]:
    with pytest.raises(SystemExit) as stop:
        main([str(argument) for argument in arguments])
    out, err = capfd.readouterr()
    assert isinstance(stop.value.code, int)
    return stop.value.code, out, err


SMALL = ("--target", 20, "--resamples", 3)


def test_strategy_has_the_public_names(capfd: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    picture = tmp_path / "map.png"
    code, out, err = run(
        capfd, "strategy", *SMALL, "--json", "--heat-map", picture,
        "--players", "hold:20", "rolls:2", "--games", 50,
    )  # fmt: skip
    assert (code, err) == (0, "")
    result = json.loads(out)
    assert result["expected_points"] == pytest.approx(4.714)
    assert result["p_pig_out"] == pytest.approx(1279 / 6000)
    assert result["p_oinker"] == pytest.approx(23 / 6000)
    assert result["break_even"] == pytest.approx(4.714 / 0.217)
    # Clopper-Pearson, from the table of reference values.
    interval = result["intervals"]["p_pig_out"]
    assert (interval["low"], interval["high"]) == pytest.approx((0.20286, 0.22375), abs=5e-6)
    assert 0.5 < result["first_player_wins"] < 1
    assert len(result["hold_at"]) == 20 * 20 and result["hold_at"]["0-0"] > 0
    assert [row["hold"] for row in result["by_hold"]] == list(range(1, 21))
    assert result["best_hold"] == 20
    for key in ("first_player_wins", "expected_points", "break_even"):
        one = result["intervals"][key]
        assert one["low"] < result[key] < one["high"]
    assert result["hog_call"]["predictions"][0]["prediction"] == "razorback"
    hold, rolls = result["players"]
    assert hold["games"] == 50 and 0 < hold["against_optimal"] <= 0.5
    assert rolls["against_optimal"] is None and rolls["low"] < rolls["high"]
    assert picture.stat().st_size > 5_000


def test_strategy_as_text_fits_a_terminal(capfd: pytest.CaptureFixture[str]) -> None:
    code, out, err = run(capfd, "strategy", *SMALL, "--rules", "wikipedia", "--players", "greedy")
    assert (code, err) == (0, "")
    assert max(map(len, out.splitlines())) <= 80
    for words in ("optimal first player wins", "Hog Call", "greedy", "hold at"):
        assert words in out


def test_tournament_has_the_public_names(capfd: pytest.CaptureFixture[str]) -> None:
    code, out, err = run(
        capfd, "tournament", "--players", "hold:5", "greedy", "rolls:2", "--games", 100, "--json",
        "--target", 20, "--seed", 4,
    )  # fmt: skip
    assert (code, err) == (0, "")
    result = json.loads(out)
    assert result["games"] == 300 and result["seed"] == 4
    assert [player["name"] for player in result["players"]] == ["hold:5", "greedy", "rolls:2"]
    for player in result["players"]:
        assert {"wins", "win_rate", "low", "high"} <= set(player)
    assert result["length"]["turns_mean"] > 1


def test_tournament_as_text_and_at_one_table(capfd: pytest.CaptureFixture[str]) -> None:
    code, out, err = run(
        capfd, "tournament", "--together", "--players", "hold:20", "score_aware", "hog_caller",
        "--games", 60, "--rule", "end=end_of_round",
    )  # fmt: skip
    assert (code, err) == (0, "")
    assert "one table" in out and "who begins wins" in out
    assert max(map(len, out.splitlines())) <= 80


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("tournament", "--players", "hold:20"), "2 to 100 players, found 1"),
        (("tournament", "hold:20"), "players come after --players"),
        (("tournament", "--players", "hld:20", "greedy"), "did you mean `hold`"),
        (("tournament", "--players", "hold:x", "greedy"), "as in hold:20"),
        (("tournament", "--games", 0), "from 1 to"),
        (("tournament", "--workers", 0), "from 1 to 1024"),
        (("tournament", "--together", "--players", "optimal", "greedy", "greedy"), "games of two"),
        (("tournament", "--rule", "end=end_of_round"), "end=at_once"),  # optimal is a default
        (("strategy", "--rules", "tabel"), "did you mean `table`"),
        (("strategy", "--rules", "none.yaml"), "none.yaml: cannot be read"),
        (("strategy", "--rule", "oinker_costs"), "key=value"),
        (("strategy", "--rule", "oinker_costs=live"), "must be one of game_score, turn"),
        (("strategy", "--target", "many"), "`target` must be a whole number"),
        (("strategy", "--target", 501), "up to a target of 500"),
        (("strategy", "--rule", "end=end_of_round"), "end=at_once"),
        (("strategy", "--source", "kern2005"), "did you mean `kern2006`"),
        (("strategy", "--source", ""), "must not be empty"),
        (("strategy", "--heat-map", "map.gif"), ".png, .pdf, .svg"),
        (("strategy", "--heat-map", "no/such/map.png"), "cannot be written"),
        (("strategy", "--resamples", -1), "from 0 to"),
    ],
)
def test_bad_input_gets_one_line_and_code_2(
    capfd: pytest.CaptureFixture[str], arguments: tuple[object, ...], says: str
) -> None:
    code, out, err = run(capfd, *arguments)
    (line,) = err.splitlines()
    assert (code, out) == (2, "") and line.startswith("physim: ") and says in line


def test_what_takes_long_tells_how_far_it_is(
    capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("physim.cli.game_options.PATIENCE_S", 0.0)
    code, out, err = run(capfd, "tournament", "--games", 20, "--json", "--target", 10)
    assert code == 0 and json.loads(out)["games"] == 60
    assert "solving: sweep " in err and "60 of 60 games" in err
    code, out, err = run(capfd, "strategy", "--target", 10, "--resamples", 0, "--json")
    assert code == 0 and json.loads(out) and "solving: sweep 1, " in err


def test_a_dataset_is_a_source(capfd: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    folder = tmp_path / "rolls"
    assert run(capfd, "batch", 60, "--out", folder, "--workers", 1)[0] == 0
    code, out, _ = run(capfd, "strategy", *SMALL, "--source", folder, "--json")
    result = json.loads(out)
    assert code == 0 and result["sample_size"] == 60
    code, out, _ = run(capfd, "tournament", "--source", folder, "--games", 20, "--json",
                       "--players", "hold:10", "greedy")  # fmt: skip
    assert code == 0 and json.loads(out)["games"] == 20
    assert "no dataset there" in run(capfd, "strategy", "--source", tmp_path)[2]


@pytest.mark.parametrize("command", ["tournament", "strategy"])
def test_a_source_that_never_scores_is_refused(
    command: str, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    throws = [labelled_throws()[name] for name in ("off_table", "pig_out")]
    source = Distribution("a cube", tuple(throws), (9.0, 1.0), 10)
    monkeypatch.setattr("physim.cli.strategy.distribution_of", lambda *_: source)
    code, out, err = run(capfd, command)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert "a cube: none of its throws scores points, so no game would end" in err
