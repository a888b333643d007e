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
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

from physim.errors import ModelError, PhysimError
from physim.extras import how_to_install

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
        ModelError: no room for what the processes tell each other.
        PhysimError: what the task raised.
    """
    with tempfile.TemporaryDirectory(prefix="physim-import-") as folder:
        request, answer = Path(folder) / "request", Path(folder) / "answer"
        try:
            request.write_bytes(pickle.dumps((task, arguments, memory, math.ceil(time_s))))
        except OSError as error:
            raise _no_room(doing, folder) from error
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
            raise _no_room(doing, folder)
        if not answer.is_file():
            if code == -signal.SIGXCPU:
                raise ChildError(f"{doing} took longer than {time_s:g} s and was stopped")
            raise ChildError(f"{doing} {_death(code)}")
        kind, value = pickle.loads(answer.read_bytes())
    if kind == "refused":
        raise value
    if kind == "memory":
        raise ChildError(f"{doing} needs more than {memory >> 20} MB of memory")
    if kind == "failed":
        raise ChildError(f"{doing} failed ({value})")
    result: T = value
    return result


def main() -> None:
    """The child: `python -c ... SYS_PATH REQUEST ANSWER`."""
    request, answer = Path(sys.argv[2]), Path(sys.argv[3])
    task, arguments, memory, time_s = pickle.loads(request.read_bytes())
    resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
    resource.setrlimit(resource.RLIMIT_CPU, (time_s, time_s + 5))  # SIGXCPU, at last SIGKILL
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:_CORES])
    unfinished = answer.with_suffix(".unfinished")
    outcome = pickle.dumps(_outcome(task, arguments))
    try:
        unfinished.write_bytes(outcome)
        unfinished.replace(answer)
    except OSError:
        sys.exit(_UNWRITABLE)


def _outcome(task: Callable[..., Any], arguments: tuple[Any, ...]) -> tuple[str, Any]:
    try:
        return "done", task(*arguments)
    except PhysimError as error:
        return "refused", error
    except MemoryError:
        return "memory", None
    except ImportError as error:
        return "refused", missing_library(error)
    except Exception as error:  # whatever a library makes of a broken file
        text = " ".join(f"{type(error).__name__}: {error}".split())
        return "failed", text[:160]


def missing_library(error: ImportError) -> ModelError:
    """What to tell of a library of the importer that is not installed."""
    return ModelError(
        f"the library `{error.name}` is missing; get it with: {how_to_install('mesh')}"
    )


def _no_room(doing: str, folder: str) -> ModelError:
    return ModelError(
        f"{doing}: {folder} cannot be written to; free some space there, or set TMPDIR to a folder "
        "that has some"
    )


def _death(code: int) -> str:
    if code == -signal.SIGKILL:
        return "was killed (out of memory?)"
    return f"crashed ({signal.Signals(-code).name})" if code < 0 else f"ended with code {code}"
