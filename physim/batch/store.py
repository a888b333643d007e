"""Opens the dataset folder of a plan: begun anew, resumed or extended."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, Protocol

from physim.batch import manifest as manifests
from physim.batch.files import usable
from physim.batch.kit import Sample
from physim.batch.manifest import Json, Manifest, read_manifest
from physim.batch.plan import BatchPlan
from physim.batch.tally import Tally
from physim.errors import DatasetError


class Store(Protocol):
    """Where finished chunks go."""

    @property
    def done(self) -> int:
        """Rolls that need not be made."""
        ...

    def missing(self) -> Iterator[range]:
        """The chunks still to do."""
        ...

    def add(self, chunk: range, content: Any) -> None:
        """Keeps one chunk: a table of its rows, or its counts."""
        ...

    def close(self) -> None:
        """Writes what is not written yet."""
        ...


def open_store(
    plan: BatchPlan,
    configuration: Json,
    folder: Path,
    counts_only: bool,
    sample: Callable[[], Sample],
    *,
    mixed: bool = False,
) -> Store:
    """The store of a plan; the folder must be locked.

    Args:
        plan: what to roll. Its `chunk_size` gives way to that of the folder.
        configuration: the plan's.
        folder: empty, or with a dataset of the same configuration and no more rolls.
        counts_only: keep counts in place of rolls.
        sample: makes roll 0, to compare its bits before rolls are added.
        mixed: whether rolls of other bits may be added.

    Raises:
        DatasetError: the folder holds something else, or a damaged part.
    """
    kind = manifests.COUNTS if counts_only else manifests.ROLLS
    if not (folder / manifests.NAME).exists():
        refuse_foreign(folder)
        manifest = Manifest.of(plan, configuration, kind, sample())
        manifest.write(folder)
        return _open(manifest, folder)
    there = read_manifest(folder)
    there.check_configuration(configuration, kind, folder)
    if plan.n < there.n:
        raise DatasetError(
            f"{folder}: holds a dataset of {there.n} rolls; ask for {there.n} or more, or choose "
            "another folder"
        )
    manifest = replace(there, n=plan.n)
    store = _open(manifest, folder)
    if store.done < plan.n:
        manifest = manifest.joined(sample(), folder, mixed=mixed)
    if manifest != there:
        manifest.write(folder)
    return store


def _open(manifest: Manifest, folder: Path) -> Store:
    if manifest.kind == manifests.COUNTS:
        return Tally(manifest.n, manifest.chunk_size, folder, manifest.configuration_sha256)
    from physim.batch.parts import PartStore

    return PartStore(folder, manifest)


def refuse_foreign(folder: Path) -> None:
    """Refuses a folder that holds something, but no dataset; leaves it untouched.

    Raises:
        DatasetError: names something that is there.
    """
    with usable(folder):
        if (folder / manifests.NAME).exists() or not folder.is_dir():
            return
        found = sorted(path.name for path in folder.iterdir() if not path.name.startswith("."))
    if found:
        raise DatasetError(
            f"{folder}: not empty, and no dataset (no {manifests.NAME}, but {found[0]}); choose "
            "another folder"
        )
