"""`--counts-only`: no rolls are kept, only what they add up to, and which were counted.

`counts.json` is written anew every second, so memory and disk stay small.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from pathlib import Path

from physim.dataset.manifest import write_whole
from physim.dataset.plan import Json
from physim.errors import DatasetError
from physim.files import read_plain
from physim.statistics.counts import Counts
from physim.types import Outcome, Pose, Status

NAME = "counts.json"
_SHA_KEY = "configuration_sha256"
_WRITE_S = 1.0  # between two writes: each waits for the disk, thousands of tasks a second do not
Spans = list[tuple[int, int]]


class CountStore:
    """Counts of one batch, in memory or, with a folder, in a file too.

    Tasks are handed out in order, so what was counted is one span up to the first task under way,
    and at most one more for each task under way: the file stays small however many rolls it counts.

    Raises:
        DatasetError: the folder's file is damaged, or of another configuration.
    """

    def __init__(
        self, n: int, chunk_size: int, folder: Path | None = None, sha256: str = ""
    ) -> None:
        self._n, self._step = n, chunk_size
        self._path = None if folder is None else folder / NAME
        self._sha256 = sha256
        self._state: tuple[Counts, Spans] = Counts(), Spans()
        if self._path is not None and self._path.exists():
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

    def add(self, task: range, chunk: range, counts: Counts) -> None:
        """Adds the counts of one task; the file follows within a second or so."""
        del chunk
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
        content = {_SHA_KEY: self._sha256, "done": state[1], "counts": counts_to_json(state[0])}
        write_whole(self._path, (json.dumps(content, indent=1) + "\n").encode())
        self._written, self._written_s = state, time.monotonic()


def _load(path: Path, sha256: str) -> tuple[Counts, Spans]:
    remedy = "delete that file and run the same `physim batch` command again"
    content = read_plain(path, DatasetError, remedy)
    try:
        data = json.loads(content, parse_int=_natural, parse_float=_natural)
        counts = counts_from_json(data["counts"])
        done = [(low, high) for low, high in data["done"]]
        whole = data[_SHA_KEY] == sha256 and counts.rolls == sum(b - a for a, b in done)
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        whole = False
    if not whole:
        raise DatasetError(f"{path}: damaged, or not the counts of this dataset; {remedy}")
    return counts, done


def _natural(text: str) -> int:
    """A number of a file of counts, which are whole and none of them negative."""
    if not text.isdecimal():
        raise ValueError(text)
    return int(text)


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
