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
from pathlib import Path
from typing import Any, TypeVar

from physim.errors import ModelError, PhysimError, how_to_install
from physim.files import scratch, told

T = TypeVar("T")
MEMORY_BYTES = 2 << 30  # of address space
_PATIENCE = 20  # as a busy machine may give a child that little of a core
_UNWRITABLE = 3  # exit code of a child that could not write its answer
_CORES = 2  # more threads would reserve more memory than they are worth
_START = (
    "import json, sys; sys.path[:] = json.loads(sys.argv[1]); from physim.importer.child import "
)
_ENVIRONMENT = {
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "MALLOC_ARENA_MAX": "2",  # else every thread reserves 64 MB
}


class ChildError(ModelError):
    """The child was stopped at a limit, or died."""


def run_limited(
    task: Callable[..., T], *arguments: Any, time_s: float, doing: str, memory: int = MEMORY_BYTES
) -> T:
    """What `task(*arguments)` returns, computed in a child process.

    Args:
        task: a function of a module's top level.
        arguments: values that can be pickled.
        time_s: of a core; the child is killed after it, or after some times as long by the clock.
        doing: what it does, for messages: "reading pig.stl".
        memory: address space [bytes].

    Raises:
        ChildError: out of time or memory, or a crash; the text names no remedy.
        ModelError: no room for what the processes tell each other, or a limit of the user's own
            that is lower than these.
        PhysimError: what the task raised.
    """
    with scratch() as folder:
        request, answer = folder / "request", folder / "answer"
        with told(ModelError, doing):
            request.write_bytes(pickle.dumps((task, arguments, memory, math.ceil(time_s))))
        command = [sys.executable, "-c", _START + "main; main()", json.dumps(sys.path)]
        process = subprocess.Popen(
            [*command, str(request), str(answer)],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env=os.environ | _ENVIRONMENT,
        )
        try:
            code = process.wait(_PATIENCE * time_s)
        except subprocess.TimeoutExpired:
            code = -signal.SIGXCPU
        finally:
            process.kill()
            process.wait()
        if code == _UNWRITABLE:
            raise ModelError(f"{doing}: {folder} has no room; set TMPDIR to a folder that has some")
        if not answer.is_file():
            if code == -signal.SIGXCPU:
                raise _stopped(
                    f"{doing} took longer than {time_s:g} s and was stopped",
                    resource.RLIMIT_CPU,
                    time_s,
                )
            raise ChildError(f"{doing} {_death(code)}")
        kind, value = pickle.loads(answer.read_bytes())
    if kind == "refused":
        raise value
    if kind == "memory":
        raise _stopped(
            f"{doing} needs more than {memory >> 20} MB of memory", resource.RLIMIT_AS, memory
        )
    if kind == "failed":
        raise ChildError(f"{doing} failed unexpectedly ({value})")
    result: T = value
    return result


def main() -> None:
    """The child: `python -c ... SYS_PATH REQUEST ANSWER`."""
    request, answer = Path(sys.argv[2]), Path(sys.argv[3])
    task, arguments, memory, time_s = pickle.loads(request.read_bytes())
    _limit(resource.RLIMIT_AS, memory)
    _limit(resource.RLIMIT_CPU, time_s, 5)  # SIGXCPU, at last SIGKILL
    _limit(resource.RLIMIT_CORE, 0)
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:_CORES])
    unfinished = answer.with_suffix(".unfinished")
    outcome = pickle.dumps(_outcome(task, arguments))
    try:
        unfinished.write_bytes(outcome)
        unfinished.replace(answer)
    except OSError:
        sys.exit(_UNWRITABLE)


def _limit(which: int, ours: int, more: int = 0) -> None:
    """Sets a limit of this process, or leaves it where the one it was started with is lower.

    Args:
        which: as `resource` names it.
        ours: what the process may take before it is warned.
        more: what it may take after that, before it is killed.
    """
    soft, hard = resource.getrlimit(which)
    hard = min(ours + more, hard if hard != resource.RLIM_INFINITY else ours + more)
    soft = min(ours, hard, soft if soft != resource.RLIM_INFINITY else ours)
    resource.setrlimit(which, (soft, hard))


def _outcome(task: Callable[..., Any], arguments: tuple[Any, ...]) -> tuple[str, Any]:
    try:
        return "done", task(*arguments)
    except PhysimError as error:
        return "refused", error
    except MemoryError:
        return "memory", None
    except ModuleNotFoundError as error:
        return "refused", missing_library(error)
    except Exception as error:  # whatever a library makes of a broken file
        return "failed", type(error).__name__


def missing_library(error: ImportError) -> ModelError:
    """What to tell of a library of the importer that is not installed."""
    return ModelError(
        f"the library `{error.name}` is missing; get it with: {how_to_install('mesh')}"
    )


def _stopped(what: str, which: int, ours: float) -> ModelError:
    """The error of a child that met a limit: the user's own, where that is the lower one."""
    own = resource.getrlimit(which)[0]
    if own == resource.RLIM_INFINITY or own >= ours:
        return ChildError(what)
    if which == resource.RLIMIT_AS:
        limit = f"{own >> 20} MB of memory (`ulimit -v`)"
    else:
        limit = f"{own} s of a processor (`ulimit -t`)"
    return ModelError(f"{what}; this process may take only {limit}: raise that limit")


def _death(code: int) -> str:
    if code == -signal.SIGKILL:
        return "was killed (out of memory?)"
    return f"crashed ({signal.Signals(-code).name})" if code < 0 else f"ended with code {code}"
