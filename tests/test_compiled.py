"""Compiled code is kept between processes, and never used for other sources."""

from __future__ import annotations

import ast
import errno
import importlib.util
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numba
import numpy as np
import pytest

from physim import compiled as module
from physim import precomputed
from physim.physics import state
from physim.types import GRAVITY_M_S2


@pytest.fixture
def load(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[[], Any]:
    """Loads `kernel.py` as a new process would, with a folder for compiled code."""
    folder = tmp_path / "sources"
    folder.mkdir()
    (folder / "constants.py").write_text("FACTOR = 2.0\n")
    (folder / "inner.py").write_text(
        "from constants import FACTOR\n"
        "from physim.compiled import compiled\n"
        "@compiled\n"
        "def inner(number):\n"
        "    return FACTOR * number\n"
    )
    (folder / "kernel.py").write_text(
        "from inner import inner\n"
        "from physim.compiled import compiled\n"
        "@compiled\n"
        "def outer(number):\n"
        "    return inner(number) + 1.0\n"
    )
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path / "kept"))
    monkeypatch.syspath_prepend(str(folder))
    monkeypatch.setattr(sys, "dont_write_bytecode", True)

    def load() -> Any:
        for name in ("constants", "inner", "kernel"):
            monkeypatch.delitem(sys.modules, name, raising=False)
        module._made_from.cache_clear()
        return importlib.import_module("kernel").outer

    return load


def hits(function: Any) -> int:
    """How often compiled code was taken from a file."""
    return sum(function.stats.cache_hits.values())


def files(tmp_path: Path) -> list[Path]:
    return sorted(path for path in (tmp_path / "kept").rglob("*") if path.is_file())


def test_compiled_code_is_kept(load: Callable[[], Any], tmp_path: Path) -> None:
    first = load()
    assert first(3.0) == 7.0 and hits(first) == 0
    second = load()
    assert second(3.0) == 7.0 and hits(second) == 1
    assert second(3) == 7.0 and hits(second) == 1  # other types, in the same file
    assert load()(3) == 7.0
    assert len(files(tmp_path)) == 2


def edit(tmp_path: Path, name: str, old: str, new: str) -> None:
    """Changes a source within its size and times, as copies and archives may."""
    path = tmp_path / "sources" / name
    times = path.stat()
    path.write_text(path.read_text().replace(old, new))
    os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))


def test_compiled_code_follows_its_sources(load: Callable[[], Any], tmp_path: Path) -> None:
    """Case 118; and as if a process of older sources had written last."""
    assert load()(3.0) == 7.0
    old = {path: path.read_bytes() for path in files(tmp_path)}
    edit(tmp_path, "constants.py", "2.0", "5.0")
    changed = load()
    assert changed(3.0) == 16.0 and hits(changed) == 0
    assert len(files(tmp_path)) == 2  # what was kept of the old sources is gone
    for path, content in old.items():
        path.write_bytes(content)
    assert load()(3.0) == 16.0


@pytest.mark.usefixtures("load")
def test_what_is_kept_is_compared_with_every_source_and_library(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def now() -> bytes:
        module._made_from.cache_clear()
        return module._made_from(tmp_path / "sources")

    found = [now()]
    assert now() == found[0]
    edit(tmp_path, "constants.py", "2.0", "5.0")
    found.append(now())
    edit(tmp_path, "inner.py", "number\n", "number + 4.0\n")
    found.append(now())
    edit(tmp_path, "kernel.py", "1.0", "0.5")
    found.append(now())
    for library in (np, module.numba, module.llvmlite):
        monkeypatch.setattr(library, "__version__", "9.9")
        found.append(now())
    assert len(set(found)) == 7
    module._made_from.cache_clear()


def _cut(content: bytes) -> bytes:
    return content[: len(content) // 2]


def _flip(content: bytes) -> bytes:
    return content[:-9] + bytes([content[-9] ^ 1]) + content[-8:]


@pytest.mark.usefixtures("load")
@pytest.mark.parametrize(
    "damage", [lambda _: b"", _cut, _flip, lambda _: b"\x80no pickle", lambda c: c + b"\0"]
)
def test_a_damaged_file_holds_nothing(tmp_path: Path, damage: Callable[[bytes], bytes]) -> None:
    file = module._File(tmp_path / "code", b"sources")
    file.save("one", b"code of one")
    file.save("two", b"code of two")
    assert (file.load("one"), file.load("two")) == (b"code of one", b"code of two")
    (tmp_path / "code").write_bytes(damage((tmp_path / "code").read_bytes()))
    assert file.load("one") is file.load("two") is None
    file.save("two", b"code of two")
    assert (file.load("one"), file.load("two")) == (None, b"code of two")


@pytest.mark.usefixtures("load")
def test_a_file_of_other_sources_holds_nothing(tmp_path: Path) -> None:
    old, new = (module._File(tmp_path / "code", sources) for sources in (b"old", b"new"))
    old.save("key", b"old code")
    assert new.load("key") is None
    new.save("other", b"new code")
    assert (old.load("key"), new.load("key"), new.load("other")) == (None, None, b"new code")


def test_damaged_files_are_compiled_anew(load: Callable[[], Any], tmp_path: Path) -> None:
    """Case 117."""
    assert load()(3.0) == 7.0
    for path in files(tmp_path):
        path.write_bytes(_flip(path.read_bytes()))
    mended = load()
    assert mended(3.0) == 7.0 and hits(mended) == 0
    again = load()
    assert again(3.0) == 7.0 and hits(again) == 1


@pytest.mark.parametrize("error", [errno.EFBIG, errno.ENOSPC, errno.EROFS, errno.EACCES])
def test_a_full_or_closed_folder_is_done_without(
    load: Callable[[], Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: int
) -> None:
    from numba.core import caching

    def keep(cache: Any, key: str, data: bytes) -> None:
        cache._cache_file.save(key, data)

    def refuse(*_: object) -> None:
        raise OSError(error, os.strerror(error))

    monkeypatch.setattr(caching.Cache, "save_overload", keep)
    cache = load()._cache
    cache.save_overload("key", b"code")
    assert len(files(tmp_path)) == 1
    monkeypatch.setattr(precomputed, "write_whole", refuse)
    cache.save_overload("key", b"other code")
    assert cache._cache_file.load("key") == b"code"


NO_ROOM = """
import resource
from kernel import outer
resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))
print(outer(3.0))
"""


@pytest.mark.usefixtures("load")
def test_a_file_may_not_grow(tmp_path: Path) -> None:
    """Case 119: `ulimit -f`."""
    paths = [str(tmp_path / "sources"), str(Path(module.__file__).parents[1])]
    done = subprocess.run(
        [sys.executable, "-B", "-c", NO_ROOM],
        env={
            **os.environ,
            "PYTHONPATH": os.pathsep.join(paths),
            "NUMBA_CACHE_DIR": str(tmp_path / "kept"),
        },
        capture_output=True,
        text=True,
        check=True,
    )
    assert (done.stdout, done.stderr) == ("7.0\n", "")
    assert files(tmp_path) == []


# --- a Numba whose cache is made otherwise ---------------------------------------------------


@pytest.mark.usefixtures("load")
@pytest.mark.parametrize("name", ["core.caching.FunctionCache", "core.serialize.dumps"])
def test_without_numba_s_own_names_nothing_is_kept(
    monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    from numba.core import dispatcher

    monkeypatch.delattr(f"numba.{name}")
    specification = importlib.util.spec_from_file_location("another", module.__file__)
    assert specification is not None and specification.loader is not None
    another = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(another)
    function = another.compiled(_flip)
    assert isinstance(function, dispatcher.Dispatcher)
    assert isinstance(function._cache, type(numba.njit(_flip)._cache))


@pytest.mark.usefixtures("load")
@pytest.mark.parametrize("name", ["cache_path", "__init__"])
def test_where_the_cache_is_made_otherwise_nothing_is_kept(
    monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    from numba.core import caching

    monkeypatch.setattr(caching.Cache, name, lambda *_: None)
    function = module.compiled(_cut)
    assert isinstance(function._cache, type(numba.njit(_cut)._cache))


def test_where_the_cache_works_otherwise_nothing_is_kept(
    load: Callable[[], Any], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    from numba.core import caching

    monkeypatch.delattr(caching.Cache, "_load_overload")
    monkeypatch.delattr(caching.Cache, "_save_overload")
    function = load()
    assert function(3.0) == 7.0 and hits(function) == 0
    assert files(tmp_path) == []


def test_without_a_folder_for_the_cache_it_still_compiles(
    load: Callable[[], Any], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Neither the one that is named nor one of Numba's own."""
    from numba.core import caching

    def refuse(_: object) -> None:
        raise OSError(errno.EROFS, "Read-only file system")

    monkeypatch.setattr(caching._CacheLocator, "ensure_cache_path", refuse)
    function = load()
    assert function(3.0) == 7.0 and hits(function) == 0
    assert files(tmp_path) == []


def test_without_sources_nothing_is_kept(
    load: Callable[[], Any], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """There is nothing to compare it with."""
    monkeypatch.setattr(Path, "glob", lambda *_: iter(()))
    assert load()(3.0) == 7.0
    monkeypatch.undo()
    assert files(tmp_path) == []


def test_compiled_functions_use_only_what_their_kept_code_is_compared_with() -> None:
    top = Path(module.__file__).parent
    using = [path for path in top.rglob("*.py") if "\n@compiled\n" in path.read_text()]
    assert len(using) > 3
    for path in using:
        compared = {top, path.parent, *(above for above in path.parents if top in above.parents)}
        waiting, seen = [path], set()
        while waiting:
            source = waiting.pop()
            seen.add(source)
            assert source.parent in compared, (path, source)
            waiting += [found for found in _imports(source, top) if found not in seen]


def _imports(source: Path, top: Path) -> list[Path]:
    """The files of this package from which one takes names when it is loaded."""
    found = []
    for node in ast.parse(source.read_text()).body:
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("physim"):
            assert node.module is not None
            parts = node.module.split(".")[1:]
            for name in node.names:
                inner = top.joinpath(*parts, f"{name.name}.py")
                found.append(inner if inner.exists() else top.joinpath(*parts).with_suffix(".py"))
    return [path for path in found if path.exists()]


@pytest.mark.parametrize("patience_s", [0.05, 60.0])
def test_slow_first_calls_are_told(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], patience_s: float
) -> None:
    monkeypatch.setattr(module, "_PATIENCE_S", patience_s)
    with module.told():
        time.sleep(0.3)
    assert ("compiling the physics" in capsys.readouterr().err) == (patience_s < 0.3)


def test_gravity_is_the_one_of_the_values() -> None:
    assert state.GRAVITY == GRAVITY_M_S2
