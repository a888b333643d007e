"""Big Pigs, and pairs of a big and a standard one, in rolls and commands."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from physim.cli.main import main
from physim.dataset.plan import resolve
from physim.physics.fast.single import SinglePig
from physim.simulator import Setup, Simulator
from physim.types import Ended, Roll
from tests.physics.worlds import bits

SEED = 31
RISE = 0.05  # of the pig's height. Measured: .02 in 20 rolls of each stiffness, 0.003 at 2,000 N/m.
BIG = ("--toss", "trapdoor_big", "--surface", "floor")


def setup_of(kind: str, settle: str = "fast") -> Setup:
    """By name: a toss of two Big Pigs, or `mixed`."""
    if kind == "mixed":
        return Setup.named(pink="big", toss="hand_big", surface="floor", settle=settle)
    return Setup.named("big", toss=kind, surface="floor", settle=settle)


def named(roll: Roll) -> tuple[object, ...]:
    pigs = [(pig.pose, pig.rest) for pig in roll.pigs]
    return roll.status, roll.outcome, roll.score, roll.touching, pigs


@pytest.mark.parametrize("kind", ["trapdoor_big", "hand_big", "mixed"])
def test_fast_and_full_agree(kind: str) -> None:
    certain = 0
    with Simulator(setup_of(kind)) as fast, Simulator(setup_of(kind, "full")) as full:
        for index in range(10):
            soon, late = fast.roll(SEED, index), full.roll(SEED, index)
            assert named(soon) == named(late), index
            certain += soon.ended is Ended.CERTAIN
    assert certain >= 3


def test_a_roll_has_the_same_bits_whatever_was_rolled_before() -> None:
    """The springs and dampers of a soft pig are set anew with the step."""
    setup = setup_of("mixed")
    with Simulator(setup) as one:
        rolls = [bits(one.roll(SEED, index)) for index in range(6)]
    with Simulator(setup) as other:
        assert [bits(other.roll(SEED, index)) for index in (5, 2, 0)] == [
            rolls[index] for index in (5, 2, 0)
        ]


def test_springs_never_give_more_than_they_took(monkeypatch: pytest.MonkeyPatch) -> None:
    """Energy, that of the springs counted, from stretch to stretch of pigs alone."""
    least: dict[int, float] = {}
    rises: list[float] = []
    step = SinglePig.step

    def seen(self: SinglePig) -> None:
        if self.now["placing"][0]:
            least.pop(id(self), None)
        step(self)
        energy_m = self.sample().energy_on_table_m
        before = least.get(id(self), np.inf)
        rises.append((energy_m - before) / self.body.model.height_m)
        least[id(self)] = min(before, energy_m)

    monkeypatch.setattr(SinglePig, "step", seen)
    setup = setup_of("trapdoor_big", "full")
    far = replace(setup.toss, separation_m=1.0)  # type: ignore[type-var]
    with Simulator(replace(setup, toss=far)) as simulator:
        for index in range(6):
            simulator.roll(SEED, index)
    assert len(rises) > 100
    assert max(rises) < RISE


def test_foam_counts_in_the_configuration_and_rigid_pigs_keep_theirs() -> None:
    setup = setup_of("mixed")
    resolved = resolve(1, "fast", setup)
    assert "contact_stiffness_n_m" not in resolved["black"]
    assert resolved["pink"]["contact_stiffness_n_m"] == setup.pink.contact_stiffness_n_m > 0.0
    assert resolved["table"]["length_m"] == 5.0


def run(capfd: pytest.CaptureFixture[str], *arguments: object) -> str:
    with pytest.raises(SystemExit) as stop:
        main([str(argument) for argument in arguments])
    out, err = capfd.readouterr()
    assert stop.value.code == 0, err
    return out


@pytest.mark.parametrize("pigs", [("--model", "big"), ("--black", "standard", "--pink", "big")])
def test_roll_batch_stats_and_render(
    pigs: tuple[str, ...], tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    rolled = run(capfd, "roll", "-n", 4, "--json", "--seed", SEED, *pigs, *BIG)
    assert [json.loads(line)["index"] for line in rolled.splitlines()] == [0, 1, 2, 3]
    folder = tmp_path / "rolls"
    run(capfd, "batch", 4, "--workers", 1, "--seed", SEED, "--out", folder, *pigs, *BIG)
    assert json.loads(run(capfd, "stats", folder, "--json"))["rolls"] == 4
    for out in (("--contacts", "--out", tmp_path / "a.png"), ("--out", tmp_path / "a.glb")):
        run(capfd, "render", "--run", folder, "--index", 1, *out)
    assert (tmp_path / "a.png").stat().st_size > 1000
    assert (tmp_path / "a.glb").stat().st_size > 1000


def test_the_default_toss_and_table_take_them_too(capfd: pytest.CaptureFixture[str]) -> None:
    rolled = run(capfd, "roll", "-n", 3, "--json", "--model", "big")
    assert len(rolled.splitlines()) == 3


def test_the_model_is_shown_as_soft(capfd: pytest.CaptureFixture[str]) -> None:
    assert "soft: 2000 N/m at each point of contact" in run(capfd, "model", "show", "big")
    assert "soft" not in run(capfd, "model", "show", "standard")
