"""`manifest.json`: what a dataset folder holds, and how it came about.

Files that are whole or not there, and a folder with one writer at a time.

Whether a `manifest.json` can be believed: types, ranges, and its own hash.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from physim import __version__, files
from physim.dataset.job import BITS, Sample
from physim.dataset.plan import MAX_ROLLS, BatchPlan, default_chunk_size, differences, sha256
from physim.dataset.rows import COLUMNS, named
from physim.errors import DatasetError, shown
from physim.files import locked, read_plain, real_path, told
from physim.seeding import MAX_SEED

__all__ = ["COUNTS", "ROLLS", "Manifest", "read_manifest"]

NAME = "manifest.json"
FORMAT = 3
_MACHINE = ("machine", "libc", "processor")  # of manifests from before there was `BITS`

Json = dict[str, Any]


@dataclass(frozen=True)
class Manifest:
    """The content of `manifest.json`.

    Attributes:
        format: of the folder; another number is refused.
        kind: `rolls` (Parquet parts) or `counts` (counts only).
        n: rolls asked for; fewer may be there yet.
        seed: of all rolls.
        chunk_size: rolls a part; of counts, the most rolls a task.
        names: what was asked for by name; for readers, not compared.
        configuration: every parameter that the rolls depend on.
        configuration_sha256: its hash; parts carry it too.
        columns: name to type.
        platform: of the machine that made the check roll.
        versions: of physim and of the libraries that could change a roll, there.
        check_roll: roll 0, to the last bit.
        mixed_with: the platform and the versions of every machine of other bits that has added
            rolls, by the user's word.
    """

    format: int
    kind: str
    n: int
    seed: int
    chunk_size: int
    names: Json
    configuration: Json
    configuration_sha256: str
    columns: dict[str, str]
    platform: dict[str, str]
    versions: dict[str, str]
    check_roll: Json
    mixed_with: list[Json] = field(default_factory=list)

    @classmethod
    def of(cls, plan: BatchPlan, configuration: Json, kind: str, sample: Sample) -> Manifest:
        """The manifest of a dataset that begins now, on the machine of the sample."""
        return cls(
            format=FORMAT,
            kind=kind,
            n=plan.n,
            seed=plan.seed,
            chunk_size=plan.chunk_size or default_chunk_size(plan.n, kind == COUNTS),
            names=plan.names(),
            configuration=configuration,
            configuration_sha256=sha256(configuration),
            columns=COLUMNS if kind == ROLLS else {},
            platform=sample.platform,
            versions=sample.versions,
            check_roll=named(sample.row),
        )

    @property
    def same_model(self) -> bool:
        """Whether both pigs are of one model."""
        return bool(self.configuration.get("black") == self.configuration.get("pink"))

    def write(self, folder: Path) -> None:
        """Writes `manifest.json`; it is the old one or the new one at any moment."""
        write_whole(folder / NAME, (json.dumps(asdict(self), indent=1) + "\n").encode())

    def check_configuration(self, configuration: Json, kind: str, folder: Path) -> None:
        """Refuses to add rolls of another configuration.

        Raises:
            DatasetError: names every difference.
        """
        if kind != self.kind:
            raise DatasetError(
                f"{folder}: holds {self.kind}, not {kind} (--counts-only makes the difference); "
                "choose another folder"
            )
        if sha256(configuration) != self.configuration_sha256:
            unlike = "; ".join(differences(self.configuration, configuration))
            raise DatasetError(
                f"{folder}: holds rolls of another configuration ({unlike or 'its hash is wrong'});"
                " choose another folder, or the options that it was made with"
            )

    def joined(self, sample: Sample, folder: Path, *, mixed: bool = False) -> Manifest:
        """The manifest with which the machine of a sample may add rolls.

        Args:
            sample: of that machine.
            folder: of the dataset.
            mixed: whether rolls of other bits may be added.

        Raises:
            DatasetError: rolls may come out otherwise there; names what differs.
        """
        if unlike := differences(self.check_roll, named(sample.row)):
            more = " ..." if len(unlike) > 3 else ""
            why = f"roll 0 comes out with other bits here ({'; '.join(unlike[:3])}{more})"
        elif BITS not in self.platform and self._elsewhere(sample, _MACHINE):
            why = "some rolls may come out with other bits on this machine"
        elif BITS in self.platform and self._elsewhere(sample, (BITS,)):
            why = "sine, power and the like come out with other bits here, and so would some rolls"
        else:  # an older manifest holds its machine's bits from now on
            return replace(self, platform=self.platform | {BITS: sample.platform[BITS]})
        if mixed:
            here = {"platform": sample.platform, "versions": sample.versions}
            return replace(self, mixed_with=[x for x in self.mixed_with if x != here] + [here])
        machines = differences(self.platform, sample.platform)
        machines += differences(self.versions, sample.versions)
        raise DatasetError(
            f"{folder}: {why}, so its rolls cannot be continued; "
            f"{'; '.join(machines) or 'platform and versions are the same'}. Begin another folder "
            "here, go on with the platform and versions of the manifest, or mix the rolls of both "
            "by --mixed-platforms"
        )

    def _elsewhere(self, sample: Sample, names: Sequence[str]) -> bool:
        return any(self.platform.get(name) != sample.platform.get(name) for name in names)


def read_manifest(folder: Path | str) -> Manifest:
    """Reads the manifest of a dataset folder.

    Raises:
        DatasetError: no dataset there, or a damaged manifest.
    """
    path = Path(folder) / NAME
    with told(DatasetError, f"{path}: cannot be read", "see to its permissions"):
        there = path.exists()
    if not there:
        raise DatasetError(
            f"{folder}: no dataset there (no {NAME}); make one with `physim batch N --out {folder}`"
        )
    content = read_plain(path, DatasetError, "see to its permissions")
    try:
        data = json.loads(content)
    except (ValueError, RecursionError) as error:  # of the JSON, or of its encoding
        raise _damaged(path, "it is no JSON text") from error
    if not isinstance(data, dict):
        raise _damaged(path, "it holds no keys and values")
    if "format" in data and data["format"] != FORMAT:
        raise DatasetError(
            f"{path}: of format {shown(data['format'])}, this physim {__version__} reads {FORMAT}; "
            "use the version that made it, or begin another folder"
        )
    if (wrong := problem(data)) is not None:
        raise _damaged(path, wrong)
    return Manifest(**data)


def _damaged(path: Path, why: str) -> DatasetError:
    return DatasetError(
        f"{path}: the manifest is damaged: {why}; restore it from a copy, or begin another folder "
        "(the parts in this one may still be good)"
    )


_LOCK_NAME = ".lock"


def write_whole(path: Path, content: bytes) -> None:
    """Writes a file so that a kill at any moment leaves the old one or the new one.

    Raises:
        DatasetError: a full disk, or a folder that cannot be written to.
    """
    remedy = (
        "finished parts are kept: free some space or choose another folder, and run the same "
        "command again"
    )
    with told(DatasetError, f"{path}: cannot be written", remedy):
        files.write_whole(path, content)


def make_folder(folder: Path) -> None:
    """Makes a folder if need be.

    Raises:
        DatasetError: none can be made there.
    """
    with usable(folder):
        real_path(folder).mkdir(parents=True, exist_ok=True)


def usable(folder: Path) -> AbstractContextManager[None]:
    """Meanwhile a refusal is told as one of this folder for datasets."""
    return told(DatasetError, f"{folder}: cannot be used as a dataset folder", "choose another one")


@contextmanager
def only_writer(folder: Path) -> Iterator[None]:
    """Makes the folder if need be, and keeps other runs out of it.

    Raises:
        DatasetError: no folder can be made there, or another run is writing to it.
    """
    with ExitStack() as held:
        make_folder(folder)
        with usable(folder):
            lock = held.enter_context((folder / _LOCK_NAME).open("a"))
            if not locked(lock.fileno()):
                raise DatasetError(
                    f"{folder}: another run is writing to it; wait for it to end or choose "
                    "another folder"
                )
            for left_over in folder.rglob(f".*{files.UNFINISHED}"):
                left_over.unlink()
        yield


ROLLS, COUNTS = "rolls", "counts"

Check = Callable[[Any], bool]


def _whole(low: int, high: int) -> Check:
    return lambda v: isinstance(v, int) and not isinstance(v, bool) and low <= v <= high


def _texts(value: Any) -> bool:
    return isinstance(value, dict) and all(isinstance(text, str) for text in value.values())


def _names(value: Any) -> bool:
    """`model` and `toss` are texts, `black` and `pink` texts or null."""
    return (
        isinstance(value, dict)
        and all(isinstance(value.get(key), str) for key in ("model", "toss"))
        and all(isinstance(value.get(key), (str, type(None))) for key in ("black", "pink"))
    )


def _row(value: Any) -> bool:
    plain = (int, float, str, bool, type(None))
    return (
        isinstance(value, dict)
        and list(value) == list(COLUMNS)
        and all(isinstance(cell, plain) for cell in value.values())
    )


def _machines(value: Any) -> bool:
    return isinstance(value, list) and all(
        isinstance(machine, dict)
        and set(machine) == {"platform", "versions"}
        and all(map(_texts, machine.values()))
        for machine in value
    )


# What each key must be, and how to say it.
_MUST: dict[str, tuple[Check, str]] = {
    "format": (_whole(0, 10**6), "a whole number"),
    "kind": (lambda v: v in (ROLLS, COUNTS), f"{ROLLS} or {COUNTS}"),
    "n": (_whole(1, MAX_ROLLS), f"a whole number from 1 to {MAX_ROLLS}"),
    "seed": (_whole(0, MAX_SEED), f"a whole number from 0 to {MAX_SEED}"),
    "chunk_size": (_whole(1, MAX_ROLLS), f"a whole number from 1 to {MAX_ROLLS}"),
    "names": (_names, "the names of models and toss"),
    "configuration": (lambda v: isinstance(v, dict), "keys and values"),
    "configuration_sha256": (lambda v: isinstance(v, str), "a text"),
    "columns": (_texts, "names and types"),
    "platform": (_texts, "names and texts"),
    "versions": (_texts, "names and texts"),
    "check_roll": (_row, "one value for each column of a roll"),
    "mixed_with": (_machines, "a list of platforms and versions"),
}
_LATER = ("mixed_with",)  # older manifests are without them


def problem(data: Mapping[str, Any]) -> str | None:
    """What is wrong with the content of a manifest; None if nothing is."""
    for key in data:
        if key not in _MUST:
            return f"unknown key {shown(key)}"
    for key, (holds, must) in _MUST.items():
        if key not in data:
            if key in _LATER:
                continue
            return f"`{key}` is missing"
        if not holds(data[key]):
            return f"`{key}` must be {must}, found {shown(data[key])}"
    if sha256(data["configuration"]) != data["configuration_sha256"]:
        return "`configuration_sha256` is not the hash of `configuration`"
    if data["configuration"].get("seed") != data["seed"]:
        return "`seed` is not that of `configuration`"
    if data["columns"] != (COLUMNS if data["kind"] == ROLLS else {}):
        return f"`columns` are not those of a dataset of {data['kind']}"
    return None
