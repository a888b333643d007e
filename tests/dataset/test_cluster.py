"""Rolls on a Dask cluster: real schedulers and workers on the loopback interface."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from dask_cluster import PATHS, Cluster, end
from fake_rolls import FakePlan
from runs import files_in, wait_until

from physim.dataset import dask
from physim.dataset.parquet import read_counts
from physim.dataset.plan import BatchPlan
from physim.dataset.run import run_batch
from physim.errors import ConfigError, DatasetError, WorkerError

pytest.importorskip("distributed")


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """A scheduler and three workers."""
    with Cluster(tmp_path_factory.mktemp("cluster")) as cluster:
        for _ in range(3):
            cluster.add()
        yield cluster


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("plain") / "d"
    run_batch(FakePlan(n=600, chunk_size=20), folder, workers=1)
    return folder


def test_a_lost_worker_costs_nothing_and_a_new_one_helps(
    cluster: Cluster, plain: Path, tmp_path: Path
) -> None:
    folder, changed = tmp_path / "d", []

    def change(done: int, total: int) -> None:
        if done > 60 and not changed:
            changed.append(done)
            cluster.workers.pop(0).kill()
            cluster.add()

    plan = FakePlan(n=600, chunk_size=20, wait_s=0.005)
    result = run_batch(plan, folder, dask=cluster.address, progress=change)
    assert changed and result.new_rolls == 600
    assert files_in(folder) == files_in(plain)


@pytest.mark.slow
def test_physics_gives_the_same_bits(cluster: Cluster, tmp_path: Path) -> None:
    plan = BatchPlan(n=8, seed=3, chunk_size=4)
    run_batch(plan, tmp_path / "cluster", dask=cluster.address)
    run_batch(plan, tmp_path / "here", workers=1)
    assert files_in(tmp_path / "cluster") == files_in(tmp_path / "here")


def test_a_dataset_goes_on_elsewhere(cluster: Cluster, plain: Path, tmp_path: Path) -> None:
    folder = tmp_path / "d"
    run_batch(FakePlan(n=50, chunk_size=20), folder, workers=1)
    assert run_batch(FakePlan(n=600), folder, dask=cluster.address).new_rolls == 550
    assert files_in(folder) == files_in(plain)


def test_counts_alone(cluster: Cluster, plain: Path, tmp_path: Path) -> None:
    result = run_batch(FakePlan(n=600), tmp_path, dask=cluster.address, counts_only=True)
    assert result.counts == read_counts(plain) == read_counts(tmp_path)


@pytest.mark.slow
def test_rolls_that_always_kill_their_worker_end_the_run(tmp_path: Path) -> None:
    graves = tmp_path / "graves"
    graves.mkdir()
    plan = FakePlan(n=100, chunk_size=20, deadly_index=60, deaths=99, graves=str(graves))
    with Cluster(tmp_path) as cluster:
        for _ in range(5):
            cluster.add()
        with pytest.raises(WorkerError, match="died 4 times"):
            run_batch(plan, tmp_path / "d", dask=cluster.address)
    assert len(list(graves.iterdir())) == 4


@pytest.mark.parametrize(
    ("options", "environment", "says"),
    [
        (("--preload", "other_versions"), {}, r"pybullet: \S+ wanted, 0\.0 here"),
        pytest.param(
            (),
            {"FAKE_OTHER_BITS": "x"},
            r"other bits.* \(black_\w+: \S+ (there|wanted), \S+ here",
            marks=pytest.mark.slow,
        ),
    ],
)
def test_a_worker_that_differs_is_refused(
    cluster: Cluster,
    plain: Path,
    tmp_path: Path,
    options: tuple[str, ...],
    environment: dict[str, str],
    says: str,
) -> None:
    folder = tmp_path / "d"
    run_batch(FakePlan(n=40, chunk_size=20), folder, workers=1)
    other = cluster.add(*options, there=True, **environment)
    try:
        # The folder's check refuses if it is this worker that makes the first roll, else its own.
        with pytest.raises((WorkerError, DatasetError), match=says):
            run_batch(FakePlan(n=600, wait_s=0.005), folder, dask=cluster.address)
    finally:
        cluster.workers.remove(other)
        end(other)
    run_batch(FakePlan(n=600), folder, dask=cluster.address)
    assert files_in(folder) == files_in(plain)


def test_a_scheduler_that_dies_ends_the_run_and_loses_nothing(plain: Path, tmp_path: Path) -> None:
    folder = tmp_path / "d"
    plan = FakePlan(n=600, chunk_size=20, wait_s=0.01)
    with Cluster(tmp_path) as cluster:
        cluster.add()

        def end(done: int, total: int) -> None:
            if done > 60:
                cluster.scheduler.kill()

        began = time.monotonic()
        with pytest.raises(WorkerError, match="connection to the Dask scheduler was lost"):
            run_batch(plan, folder, dask=cluster.address, progress=end)
        assert time.monotonic() - began < 30
    kept = files_in(folder)
    assert kept and kept.items() < files_in(plain).items()
    run_batch(FakePlan(n=600), folder, workers=1)
    assert files_in(folder) == files_in(plain)


def test_without_a_worker_one_is_told_how_to_start_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dask, "_NO_WORKER_S", 1.0)
    with (
        Cluster(tmp_path) as cluster,
        pytest.raises(WorkerError, match=r"no worker for 1 s.*dask worker tcp://"),
    ):
        run_batch(FakePlan(n=10), dask=cluster.address)


@pytest.mark.parametrize(
    ("address", "why"),
    [
        ("tcp://127.0.0.1:1", "no Dask scheduler answers"),
        ("nonsense", "missing port"),
        ("fax://there:1", "unknown address scheme"),
        ("", "must not be empty"),
    ],
)
def test_an_address_without_a_scheduler_is_refused(
    address: str, why: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dask, "_CONNECT_S", 1.0)
    began = time.monotonic()
    with pytest.raises(ConfigError, match=why):
        run_batch(FakePlan(n=1), dask=address)
    assert time.monotonic() - began < 15


def test_a_worker_is_no_scheduler(cluster: Cluster) -> None:
    with pytest.raises(ConfigError, match="it is a Worker"):
        run_batch(FakePlan(n=1), dask=_address_of_a_worker(cluster))


def _address_of_a_worker(cluster: Cluster) -> str:
    from distributed import Client

    with Client(cluster.address, set_as_default=False) as client:
        return next(iter(client.nthreads()))


def test_a_scheduler_and_a_number_of_workers_do_not_go_together() -> None:
    with pytest.raises(ConfigError, match="does not go with a Dask scheduler"):
        run_batch(FakePlan(n=1), dask="tcp://127.0.0.1:1", workers=2)


RUN = (
    "from fake_rolls import FakePlan\n"
    "from physim.dataset.run import run_batch\n"
    "import sys\n"
    "run_batch(FakePlan(n=600, chunk_size=20, wait_s=float(sys.argv[3])), sys.argv[1],\n"
    "          dask=sys.argv[2])\n"
)


@pytest.mark.parametrize(
    "how", [signal.SIGINT, pytest.param(signal.SIGKILL, marks=pytest.mark.slow)]
)
def test_a_client_that_goes_leaves_the_cluster_idle(
    cluster: Cluster, plain: Path, tmp_path: Path, how: signal.Signals
) -> None:
    from distributed import Client

    folder = tmp_path / "d"
    with subprocess.Popen(
        [sys.executable, "-c", RUN, str(folder), cluster.address, "0.1"],
        env={**os.environ, "PYTHONPATH": PATHS},
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as run:
        wait_until(lambda: len(files_in(folder)) >= 2)
        run.send_signal(how)
        _, err = run.communicate(timeout=120)
    assert run.returncode != 0
    assert "distributed" not in err.replace("distributed/", "")  # no logs
    with Client(cluster.address, set_as_default=False) as client:
        wait_until(lambda: not any(client.processing().values()), 120)
    run_batch(FakePlan(n=600), folder, workers=1)
    assert files_in(folder) == files_in(plain)
