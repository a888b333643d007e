"""Another processor is found out, whatever the reason, and mixed in by the user's word alone."""

from __future__ import annotations

import json
import os
import platform
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from fake_rolls import FakePlan
from runs import files_in, rows_in

from physim.dataset import plan
from physim.dataset.manifest import read_manifest
from physim.dataset.plan import Job, sample_roll
from physim.dataset.rows import make_rows
from physim.dataset.run import run_batch
from physim.dataset.workers import state
from physim.errors import DatasetError, WorkerError

PLAN = FakePlan(n=40, chunk_size=20)
MORE = replace(PLAN, n=80)
NO_AVX2 = "glibc.cpu.hwcaps=-AVX2,-FMA,-AVX2_Usable,-FMA_Usable"
NO_SIMD = "AVX512F AVX512CD AVX512_SKX AVX512_CLX AVX512_CNL AVX512_ICL AVX512_SPR AVX2 FMA3"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    run_batch(PLAN, tmp_path / "d", workers=1)
    return tmp_path / "d"


@pytest.fixture
def elsewhere(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plan, "_bits", lambda: "0123456789abcdef")


def edited(folder: Path, **platform: str | None) -> None:
    """Changes the platform of the manifest."""
    path = folder / "manifest.json"
    data = json.loads(path.read_text())
    changed = {**data["platform"], **platform}
    data["platform"] = {name: text for name, text in changed.items() if text is not None}
    path.write_text(json.dumps(data))


def _fma_by_glibc() -> bool:
    info = Path("/proc/cpuinfo")
    return platform.libc_ver()[0] == "glibc" and info.exists() and " fma " in info.read_text()


def bits_with(**environment: str) -> str:
    """The bits of a process of this environment."""
    code = "from physim.dataset.plan import this_platform; print(this_platform()['bits'])"
    top = str(Path(plan.__file__).parents[2])
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", code],
        env={**os.environ, "PYTHONPATH": top, **environment},
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout.strip()


def test_the_bits_are_those_of_the_functions_in_use() -> None:
    here = plan.this_platform()["bits"]
    assert bits_with(NPY_DISABLE_CPU_FEATURES=NO_SIMD, OPENBLAS_CORETYPE="Sandybridge") == here


@pytest.mark.skipif(not _fma_by_glibc(), reason="no C library that chooses its code by AVX2")
def test_a_c_library_that_computes_otherwise_has_other_bits() -> None:
    """Without AVX2, it computes 1 sine in 2,000 with another last bit."""
    assert bits_with(GLIBC_TUNABLES=NO_AVX2) != plan.this_platform()["bits"]


def test_the_same_machine_goes_on(folder: Path) -> None:
    assert run_batch(MORE, folder, workers=1).new_rolls == 40
    assert read_manifest(folder).mixed_with == []


@pytest.mark.usefixtures("elsewhere")
@pytest.mark.parametrize("counts_only", [False, True])
def test_another_processor_is_refused_though_roll_0_is_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, counts_only: bool
) -> None:
    folder = tmp_path / "d"
    run_batch(PLAN, folder, workers=1, counts_only=counts_only)
    before = (folder / "manifest.json").read_bytes()
    monkeypatch.setattr(plan, "_bits", lambda: "fedcba9876543210")
    with pytest.raises(DatasetError) as refusal:
        run_batch(MORE, folder, workers=1, counts_only=counts_only)
    told = str(refusal.value)
    assert "bits: 0123456789abcdef there, fedcba9876543210 here" in told
    assert "--mixed-platforms" in told and "\n" not in told
    assert (folder / "manifest.json").read_bytes() == before
    # What is whole needs no new rolls, so nothing can differ.
    assert run_batch(PLAN, folder, workers=1, counts_only=counts_only).new_rolls == 0


def test_rolls_are_mixed_by_the_users_word(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(plan, "_bits", lambda: "0123456789abcdef")
    assert run_batch(MORE, folder, workers=1, mixed_platforms=True).new_rolls == 40
    mixed = read_manifest(folder).mixed_with
    assert [machine["platform"]["bits"] for machine in mixed] == ["0123456789abcdef"]
    assert set(mixed[0]["versions"]) >= {"physim", "numpy", "pybullet"}
    # Once more by the same machine is no other machine; a third one is.
    assert run_batch(replace(PLAN, n=90), folder, workers=1, mixed_platforms=True).n == 90
    assert read_manifest(folder).mixed_with == mixed
    with pytest.raises(DatasetError, match="mixed-platforms"):
        run_batch(replace(PLAN, n=95), folder, workers=1)
    monkeypatch.setattr(plan, "_bits", lambda: "fedcba9876543210")
    run_batch(replace(PLAN, n=99), folder, workers=1, mixed_platforms=True)
    assert len(read_manifest(folder).mixed_with) == 2
    monkeypatch.undo()
    # The machine that began it goes on without a word, with the rolls that it always makes.
    run_batch(replace(PLAN, n=100), folder, workers=1)
    run_batch(replace(PLAN, n=100), tmp_path / "whole", workers=1)
    assert rows_in(folder) == rows_in(tmp_path / "whole")


def test_the_word_changes_nothing_where_nothing_differs(folder: Path, tmp_path: Path) -> None:
    run_batch(MORE, folder, workers=1, mixed_platforms=True)
    run_batch(MORE, tmp_path / "whole", workers=1)
    assert files_in(folder) == files_in(tmp_path / "whole")
    assert read_manifest(folder).mixed_with == []


def test_rolls_whose_own_bits_differ_can_be_mixed_too(folder: Path) -> None:
    path = folder / "manifest.json"
    data = json.loads(path.read_text())
    data["check_roll"]["black_x_m"] *= 1 + 2**-52
    path.write_text(json.dumps(data))
    with pytest.raises(DatasetError, match=r"come out with other bits.*mixed-platforms"):
        run_batch(MORE, folder, workers=1)
    assert run_batch(MORE, folder, workers=1, mixed_platforms=True).new_rolls == 40
    assert len(read_manifest(folder).mixed_with) == 1


def test_an_older_dataset_is_continued_by_the_users_word(folder: Path) -> None:
    """It does not hold the bits that tell processors apart."""
    path = folder / "manifest.json"
    data = json.loads(path.read_text())
    del data["mixed_with"]
    path.write_text(json.dumps(data))
    edited(folder, bits=None)
    assert run_batch(PLAN, folder, workers=1).new_rolls == 0
    with pytest.raises(DatasetError, match=r"bits: \(not there\) there.*mixed-platforms"):
        run_batch(MORE, folder, workers=1)
    assert run_batch(MORE, folder, workers=1, mixed_platforms=True).new_rolls == 40


@pytest.mark.parametrize("mixed", [5, {}])
def test_a_manifest_with_a_wrong_list_is_refused(folder: Path, mixed: Any) -> None:
    path = folder / "manifest.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"mixed_with": mixed}))
    with pytest.raises(DatasetError, match=r"`mixed_with` cannot be.*restore it"):
        read_manifest(folder)


def test_a_worker_of_a_cluster_with_other_bits_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    with PLAN.open() as roller:
        kit = replace(Job.of(PLAN), sample=sample_roll(roller, 0))
    assert make_rows(kit, range(1)).content
    state.close()
    monkeypatch.setattr(plan, "_bits", lambda: "0123456789abcdef")
    with pytest.raises(WorkerError, match=r"other bits \(bits: \S+ wanted, 0123456789abcdef here"):
        make_rows(kit, range(1))
