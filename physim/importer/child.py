"""A function in a process of its own, with limits of time and memory.

Files from elsewhere may make a reader hang, take all memory or crash in C code. There it takes
only the child with it.
"""

from __future__ import annotations

import json
import math
import os
import pickle
import resource
import signal
import subprocess
import sys
from collections.abc import Callable
from typing import Any, TypeVar, cast

from physim.errors import ModelError, PhysimError, how_to_install

T = TypeVar("T")
MEMORY_BYTES = 2 << 30  # of address space
_PATIENCE = 20  # as a busy machine may give a child that little of a core
_CORES = 2  # more threads would reserve more memory than they are worth
_START = (
    "import json, sys; sys.path[:] = json.loads(sys.argv[1]); from physim.importer import child; "
    "child.main()"
)
_ENVIRONMENT = {
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "MALLOC_ARENA_MAX": "2",  # else every thread reserves 64 MB
}


class ChildError(ModelError):
    """The child was stopped at a limit, or died."""


def run_limited(task: Callable[..., T], *arguments: Any, time_s: float, doing: str) -> T:
    """What `task(*arguments)` returns, computed in a child process.

    Args:
        task: a function of a module's top level.
        arguments: values that can be pickled.
        time_s: of a core; the child is killed after it, or after some times as long by the clock.
        doing: what it does, for messages: "reading pig.stl".

    Raises:
        ChildError: out of time or memory, or a crash; the text names no remedy.
        ModelError: a limit of the user's own that is lower than these.
        PhysimError: what the task raised.
    """
    try:
        done = subprocess.run(
            [sys.executable, "-c", _START, json.dumps(sys.path)],
            input=pickle.dumps((task, arguments, math.ceil(time_s))),
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=os.environ | _ENVIRONMENT,
            timeout=_PATIENCE * time_s,
            check=False,
        )
        code, answer = done.returncode, done.stdout
    except subprocess.TimeoutExpired:
        code, answer = -signal.SIGXCPU, b""
    value: Any
    kind, value = ("died", code) if code else pickle.loads(answer)
    if kind == "done":
        return cast(T, value)
    if kind == "refused":
        raise value
    own_bytes, own_s = (
        resource.getrlimit(which)[0] for which in (resource.RLIMIT_AS, resource.RLIMIT_CPU)
    )
    own = ""  # where the user's own limit is the lower one
    if kind == "memory":
        what = f"needs more than {MEMORY_BYTES >> 20} MB of memory"
        if 0 <= own_bytes < MEMORY_BYTES:
            own = f"{own_bytes >> 20} MB of memory (`ulimit -v`)"
    elif kind == "died" and value == -signal.SIGXCPU:
        what = f"took longer than {time_s:g} s and was stopped"
        own = f"{own_s} s of a processor (`ulimit -t`)" if 0 <= own_s < time_s else ""
    elif kind == "failed":
        what = f"failed unexpectedly ({value})"
    elif value == -signal.SIGKILL:
        what = "was killed (out of memory?)"
    else:
        what = f"crashed ({signal.Signals(-value).name})" if value < 0 else f"ended with {value}"
    if own:
        raise ModelError(f"{doing} {what}; this process may take only {own}: raise that limit")
    raise ChildError(f"{doing} {what}")


def main() -> None:
    """The child: the task comes by its standard input, what it gives goes to its output."""
    answer = os.dup(1)
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # libraries may print
    task, arguments, time_s = pickle.load(sys.stdin.buffer)
    _limit(resource.RLIMIT_AS, MEMORY_BYTES)
    _limit(resource.RLIMIT_CPU, time_s, 5)  # SIGXCPU, at last SIGKILL
    _limit(resource.RLIMIT_CORE, 0)
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:_CORES])
    outcome: tuple[str, Any]
    try:
        outcome = "done", task(*arguments)
    except PhysimError as error:
        outcome = "refused", error
    except MemoryError:
        outcome = "memory", None
    except ModuleNotFoundError as error:
        outcome = "refused", missing_library(error)
    except Exception as error:  # whatever a library makes of a broken file
        outcome = "failed", type(error).__name__
    with os.fdopen(answer, "wb") as file:
        file.write(pickle.dumps(outcome))
    os._exit(0)  # without what libraries do at an end


def _limit(which: int, ours: int, more: int = 0) -> None:
    """Sets a limit of this process, or leaves it where the one it was started with is lower.

    Args:
        which: as `resource` names it.
        ours: what the process may take before it is warned.
        more: what it may take after that, before it is killed.
    """
    soft, hard = (ours + more if own < 0 else own for own in resource.getrlimit(which))
    hard = min(ours + more, hard)
    resource.setrlimit(which, (min(ours, soft, hard), hard))


def missing_library(error: ImportError) -> ModelError:
    """What to tell of a library of the importer that is not installed."""
    return ModelError(
        f"the library `{error.name}` is missing; get it with: {how_to_install('mesh')}"
    )
