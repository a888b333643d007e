"""A Dask scheduler and its workers as real processes on the loopback interface."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from contextlib import ExitStack
from pathlib import Path

from runs import wait_until

HERE = Path(__file__).parent
PATHS = os.pathsep.join([str(HERE.parents[1]), str(HERE), os.environ.get("PYTHONPATH", "")])


class Cluster:
    """A scheduler and workers, each a process of its own."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._held = ExitStack()
        self.workers: list[subprocess.Popen[bytes]] = []

    def __enter__(self) -> Cluster:
        self.scheduler, log = self._start("dask_scheduler", "--host", "127.0.0.1", "--port", "0")
        self.address = _named(self.scheduler, log)
        return self

    def __exit__(self, *error: object) -> None:
        self._held.close()

    def add(
        self, *options: str, there: bool = False, **environment: str
    ) -> subprocess.Popen[bytes]:
        """Starts a worker, and with `there` waits until it is one of the cluster's."""
        options = ("--no-nanny", "--nthreads", "1", *options)
        worker, log = self._start("dask_worker", self.address, *options, **environment)
        self.workers.append(worker)
        if there:
            wait_until(lambda: "Registered to" in log.read_text())
        return worker

    def _start(
        self, module: str, *arguments: str, **environment: str
    ) -> tuple[subprocess.Popen[bytes], Path]:
        log = self._folder / f"{module}-{len(self.workers)}-{time.monotonic_ns()}.log"
        with log.open("wb") as sink:
            process = subprocess.Popen(
                [sys.executable, "-m", f"distributed.cli.{module}", *arguments, "--no-dashboard"],
                env={**os.environ, "PYTHONPATH": PATHS, **environment},
                cwd=self._folder,
                stdout=sink,
                stderr=sink,
            )
        self._held.callback(end, process)
        return process, log


def _named(scheduler: subprocess.Popen[bytes], log: Path) -> str:
    """The address that a scheduler prints."""
    found: list[str] = []

    def named() -> bool:
        assert scheduler.poll() is None, log.read_text()
        found[:] = re.findall(r"Scheduler at: +(tcp://\S+)", log.read_text())
        return bool(found)

    wait_until(named)
    return found[0]


def end(process: subprocess.Popen[bytes]) -> None:
    process.kill()
    process.wait()
