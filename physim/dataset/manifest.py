"""What a dataset folder holds, how it came about (`manifest.json`), and who may add rolls."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import get_origin, get_type_hints

from physim import __version__, files
from physim.dataset.plan import (
    LIMITS,
    BatchPlan,
    Json,
    default_chunk_size,
    differences,
    other_bits,
    sha256,
)
from physim.dataset.rows import COLUMNS
from physim.errors import DatasetError, shown
from physim.files import locked, read_plain, real_path, told
from physim.statistics.counts import Counts
from physim.types import Outcome, Pose, Status

NAME = "manifest.json"
FORMAT = 3
ROLLS, COUNTS = "rolls", "counts"
COUNTS_NAME = "counts.json"
_WRITE_S = 1.0  # between two writes: each waits for the disk, thousands of tasks a second do not

Spans = list[tuple[int, int]]


@dataclass(frozen=True)
class Manifest:
    """The content of `manifest.json`.

    Attributes:
        kind: `rolls` (Parquet parts) or `counts` (counts only).
        n: rolls asked for; fewer may be there yet.
        chunk_size: rolls a part; of counts, the most rolls a task.
        names: what was asked for by name; for readers, not compared.
        configuration: every parameter that the rolls depend on. Parts carry its hash too.
        platform, versions: of the machine that made the check roll.
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
    def of(cls, plan: BatchPlan, configuration: Json, kind: str, sample: Json) -> Manifest:
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
            **sample,
        )

    @property
    def same_model(self) -> bool:
        """Whether both pigs are of one model."""
        return bool(self.configuration.get("black") == self.configuration.get("pink"))

    def write(self, folder: Path) -> None:
        """Writes `manifest.json`; it is the old one or the new one at any moment."""
        write_whole(folder / NAME, (json.dumps(asdict(self), indent=1) + "\n").encode())

    def check_configuration(self, configuration: Json, kind: str, folder: Path) -> None:
        """Refuses rolls of another configuration; the DatasetError names every difference."""
        unlike = differences(
            {"counts only": self.kind == COUNTS, **self.configuration},
            {"counts only": kind == COUNTS, **configuration},
        )
        if unlike:
            raise DatasetError(
                f"{folder}: holds rolls of another configuration ({'; '.join(unlike)}); choose "
                "another folder, or the options that it was made with"
            )

    def joined(self, sample: Json, folder: Path, *, mixed: bool) -> Manifest:
        """The manifest with which the machine of a sample adds rolls, of other bits if `mixed`.

        Raises:
            DatasetError: rolls may come out otherwise there; names what differs.
        """
        unlike = other_bits(vars(self), sample)
        if not unlike:
            return self
        here = {name: sample[name] for name in ("platform", "versions")}
        if mixed:
            return replace(self, mixed_with=[x for x in self.mixed_with if x != here] + [here])
        machines = [text for name in here for text in differences(vars(self)[name], here[name])]
        raise DatasetError(
            f"{folder}: rolls come out with other bits here ({'; '.join(unlike[:3])}), so they "
            f"cannot be continued; {'; '.join(machines) or 'platform and versions are the same'}. "
            "Begin another folder here, go on with the platform and versions of the manifest, or "
            "mix the rolls of both by --mixed-platforms"
        )


def read_manifest(folder: Path | str) -> Manifest:
    """Reads the manifest of a dataset folder; a DatasetError says what is wrong with it."""
    path = Path(folder) / NAME
    remedy = f"no dataset there? make one with `physim batch N --out {folder}`"
    content = read_plain(path, DatasetError, remedy)
    try:
        data: Json = {"mixed_with": [], **json.loads(content)}  # older ones are without
        wrong = _wrong_key(data)
    except (ValueError, TypeError, RecursionError):
        wrong = "it is no JSON object"
    if wrong:
        raise DatasetError(
            f"{path}: no manifest of this physim {__version__} ({wrong}); use the version that "
            "made it, restore it from a copy, or begin another folder (the parts in this one may "
            "still be good)"
        )
    return Manifest(**data)


def _wrong_key(data: Json) -> str:
    """What is wrong with the content of a manifest; empty if nothing is."""
    if data.get("format", FORMAT) != FORMAT:
        return f"format {shown(data['format'])}, not {FORMAT}"
    types = get_type_hints(Manifest)
    if unlike := set(types) ^ set(data):
        return f"the key {shown(min(unlike))} is missing or unknown"
    for key, kind in types.items():
        if type(data[key]) is not (get_origin(kind) or kind):
            return f"`{key}` cannot be {shown(data[key])}"
    valid = {key: low <= data[key] <= high for key, (low, high) in LIMITS.items()}
    valid["kind"] = data["kind"] in (ROLLS, COUNTS)
    valid["columns"] = data["columns"] == (COLUMNS if data["kind"] == ROLLS else {})
    valid["configuration_sha256"] = sha256(data["configuration"]) == data["configuration_sha256"]
    valid["seed"] &= data["configuration"].get("seed") == data["seed"]
    wrong = [key for key, good in valid.items() if not good]
    return f"`{wrong[0]}` cannot be {shown(data[wrong[0]])}" if wrong else ""


def write_whole(path: Path, content: bytes) -> None:
    """Writes a file whole, as `files.write_whole`; a DatasetError tells of a full disk."""
    remedy = (
        "finished parts are kept: free some space or choose another folder, and run the same "
        "command again"
    )
    with told(DatasetError, f"{path}: cannot be written", remedy):
        files.write_whole(path, content)


def make_folder(folder: Path) -> None:
    """Makes a folder if need be; raises a DatasetError where none can be made."""
    with _usable(folder):
        real_path(folder).mkdir(parents=True, exist_ok=True)


def _usable(folder: Path) -> AbstractContextManager[None]:
    return told(DatasetError, f"{folder}: cannot be used as a dataset folder", "choose another one")


def refuse_foreign(folder: Path) -> None:
    """Refuses a folder that holds something, but no dataset; leaves it untouched."""
    with _usable(folder):
        if (folder / NAME).exists() or not folder.is_dir():
            return
        found = sorted(path.name for path in folder.iterdir() if not path.name.startswith("."))
    if found:
        raise DatasetError(
            f"{folder}: not empty, and no dataset (no {NAME}, but {found[0]}); choose another "
            "folder"
        )


@contextmanager
def only_writer(folder: Path) -> Iterator[None]:
    """Makes the folder if need be, and keeps other runs out of it by a DatasetError."""
    with ExitStack() as held:
        make_folder(folder)
        with _usable(folder):
            lock = held.enter_context((folder / ".lock").open("a"))
            if not locked(lock.fileno()):
                raise DatasetError(
                    f"{folder}: another run is writing to it; wait for it to end or choose "
                    "another folder"
                )
            for left_over in folder.rglob(f".*{files.UNFINISHED}"):
                left_over.unlink()
        yield


class CountStore:
    """Counts of one batch (`--counts-only`), in memory or, with a folder, in `counts.json` too.

    The file, which is written anew every second, also tells which rolls were counted. Tasks are
    handed out in order, so that is one span up to the first task under way, and at most one more
    for each task under way: the file stays small however many rolls it counts.

    Raises:
        DatasetError: the folder's file is damaged, or of another configuration.
    """

    def __init__(self, n: int, step: int, folder: Path | None = None, sha256: str = "") -> None:
        self._n, self._step, self._sha256 = n, step, sha256
        self._path = folder / COUNTS_NAME if folder else None
        self._state: tuple[Counts, Spans] = Counts(), Spans()
        if self._path and self._path.exists():
            self._state = _load(self._path, sha256)
        self._written = self._state
        self._written_s = -_WRITE_S

    @property
    def counts(self) -> Counts:
        """What was counted so far."""
        return self._state[0]

    @property
    def done(self) -> int:
        """Rolls that need not be made."""
        return self.counts.rolls

    def missing(self) -> Iterator[range]:
        """The rolls that were not counted yet, at most a chunk at a time."""
        start = 0
        for low, high in [*self._state[1], (self._n, self._n)]:
            for first in range(start, min(low, self._n), self._step):
                yield range(first, min(first + self._step, low, self._n))
            start = high

    def add(self, task: range, _: range, counts: Counts) -> None:
        """Adds the counts of one task; the file follows within a second or so."""
        before, done = self._state
        # At once, so that an interrupt leaves both or neither.
        self._state = before + counts, _merged([*done, (task.start, task.stop)])
        if time.monotonic() - self._written_s >= _WRITE_S:
            self.close()

    def close(self) -> None:
        """Brings the file up to date."""
        state = self._state
        if self._path is None or state is self._written:
            return
        content = {
            "configuration_sha256": self._sha256,
            "done": state[1],
            "counts": counts_to_json(state[0]),
        }
        write_whole(self._path, (json.dumps(content, indent=1) + "\n").encode())
        self._written, self._written_s = state, time.monotonic()


def _load(path: Path, sha256: str) -> tuple[Counts, Spans]:
    remedy = "delete that file and run the same `physim batch` command again"
    content = read_plain(path, DatasetError, remedy)
    try:
        data = json.loads(content, parse_float=int)  # which takes no text such as 1.5
        counts = counts_from_json(data["counts"])
        done = [(low, high) for low, high in data["done"]]
        rolls = sum(high - low for low, high in done)
        if data["configuration_sha256"] != sha256 or counts.rolls != rolls or b"-" in content:
            raise ValueError("of other rolls, or a negative number")
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        told = f"{path}: damaged, or not the counts of this dataset; {remedy}"
        raise DatasetError(told) from error
    return counts, done


def _merged(spans: Spans) -> Spans:
    merged: Spans = []
    for low, high in sorted(spans):
        touches = merged and merged[-1][1] == low
        merged.append((merged.pop()[0] if touches else low, high))
    return merged


def counts_to_json(counts: Counts) -> Json:
    """Counts as plain JSON values."""
    return {
        "rolls": counts.rolls,
        "poses": {pose.value: count for pose, count in counts.poses.items()},
        "rests": [[pig, rest, count] for (pig, rest), count in sorted(counts.rests.items())],
        "outcomes": {outcome.value: count for outcome, count in counts.outcomes.items()},
        "scores": sorted(counts.scores.items(), key=lambda item: (item[0] is not None, item[0])),
        "statuses": {status.value: count for status, count in counts.statuses.items()},
        "pairs": sorted([a.value, b.value, count] for (a, b), count in counts.joint.items()),
    }


def counts_from_json(data: Json) -> Counts:
    """What `counts_to_json` made."""
    counts = Counts(
        rolls=data["rolls"],
        rests={(pig, rest): count for pig, rest, count in data["rests"]},
        outcomes={Outcome(name): count for name, count in data["outcomes"].items()},
        scores=dict(data["scores"]),
        statuses={Status(name): count for name, count in data["statuses"].items()},
        joint={(Pose(a), Pose(b)): count for a, b, count in data["pairs"] if count},
    )
    if {pose.value: count for pose, count in counts.poses.items()} != data["poses"]:
        raise ValueError("the poses are not those of the pairs")
    return counts
