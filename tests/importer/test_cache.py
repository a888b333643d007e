"""What the importer keeps: taken for just what it was made from, and done without."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from pathlib import Path

import pytest

from physim import precomputed
from physim.importer import convex_parts
from physim.importer.convex_parts import cached, folder


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


def refuse() -> int:
    raise AssertionError("computed")


def files() -> list[Path]:
    return sorted(folder().iterdir())


def test_what_was_made_is_taken_for_the_same_inputs_only() -> None:
    assert cached("parts", (1, 2), lambda: 3) == 3
    assert cached("parts", (1, 2), refuse) == 3
    assert cached("parts", (2, 1), lambda: 4) == 4
    assert cached("other", (1, 2), lambda: 5) == 5
    assert cached("parts", (1, 2), refuse) == 3


def test_what_is_not_worth_it_is_not_kept() -> None:
    assert cached("parts", 1, lambda: 3, keep=lambda made: made > 3) == 3
    assert cached("parts", 1, lambda: 4, keep=lambda made: made > 3) == 4
    assert cached("parts", 1, refuse) == 4


@pytest.mark.parametrize("library", ["coacd", "manifold3d", "numpy", "python"])
def test_another_library_makes_it_anew(library: str, monkeypatch: pytest.MonkeyPatch) -> None:
    assert cached("parts", 1, lambda: 2) == 2
    made_from = precomputed.made_from
    monkeypatch.setattr(
        precomputed,
        "made_from",
        lambda folders, found: made_from(folders, {**found, library: "99"}),
    )
    convex_parts._made_from.cache_clear()
    try:
        assert cached("parts", 1, lambda: 3) == 3
        assert len(files()) == 1  # in the place of the old one
    finally:
        convex_parts._made_from.cache_clear()


def test_other_sources_make_it_anew(tmp_path: Path) -> None:
    """Whichever file changes, also where its size and time stay."""
    sources = tmp_path / "sources"
    sources.mkdir()
    first, second = sources / "a.py", sources / "b.py"
    first.write_text("A = 1\n")
    second.write_text("B = 1\n")
    told = [precomputed.made_from([sources], {"numpy": "1"})]
    for change in (
        lambda: first.write_text("A = 2\n"),
        lambda: second.write_text("B = 2\n"),
        lambda: second.rename(sources / "c.py"),
        lambda: (sources / "d.py").write_text(""),
    ):
        change()
        told.append(precomputed.made_from([sources], {"numpy": "1"}))
    told.append(precomputed.made_from([sources], {"numpy": "2"}))
    assert len(set(told)) == 6
    with pytest.raises(OSError, match="no source files"):
        precomputed.made_from([tmp_path / "none"], {})


@pytest.mark.parametrize(
    "damage",
    [
        lambda _: b"",
        lambda content: content[:-1],
        lambda content: content[:-1] + bytes([content[-1] ^ 1]),
        lambda _: pickle.dumps(7),  # somebody else's
        lambda _: b"cos\nsystem\n(S'false'\ntR.",
    ],
)
def test_damaged_and_foreign_files_are_replaced(damage: Callable[[bytes], bytes]) -> None:
    assert cached("parts", 1, lambda: 2) == 2
    (path,) = files()
    path.write_bytes(damage(path.read_bytes()))
    assert cached("parts", 1, lambda: 3) == 3
    assert cached("parts", 1, refuse) == 3


def test_a_file_of_other_inputs_is_not_taken() -> None:
    assert cached("parts", 1, lambda: 2) == 2
    (first,) = files()
    assert cached("parts", 5, lambda: 6) == 6
    (second,) = (path for path in files() if path != first)
    first.replace(second)
    assert cached("parts", 5, lambda: 7) == 7


def test_a_folder_in_its_place_is_done_without() -> None:
    assert cached("parts", 1, lambda: 2) == 2
    (path,) = files()
    path.unlink()
    path.mkdir()
    assert cached("parts", 1, lambda: 3) == 3


def test_a_file_in_place_of_the_folder_is_done_without(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("mine")
    for place in (tmp_path / "file", Path("/proc/nowhere")):
        monkeypatch.setenv("XDG_CACHE_HOME", str(place))
        assert cached("parts", 1, lambda: 2) == 2
        assert cached("parts", 1, lambda: 3) == 3
    assert (tmp_path / "file").read_text() == "mine"


@pytest.mark.parametrize("place", ["", "cache", "../cache"])
def test_a_relative_cache_folder_is_none(
    place: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", place)
    monkeypatch.setattr(Path, "home", lambda: tmp_path / "home")
    assert folder() == tmp_path / "home" / ".cache" / "physim" / "importer"


def test_a_user_without_a_home_has_no_cache(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setattr(Path, "home", homeless)
    assert cached("parts", 1, lambda: 2) == 2


def homeless() -> Path:
    raise RuntimeError


def test_the_oldest_go_where_there_are_many(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(convex_parts, "MOST_KEPT", 3)
    for number in range(6):
        assert cached("parts", number, lambda number=number: number) == number  # type: ignore[misc]
    assert len(files()) == 3
    assert cached("parts", 5, refuse) == 5
    assert cached("parts", 0, lambda: 7) == 7
