"""Whether a `manifest.json` can be believed: types, ranges, and its own hash."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from physim.arguments import shown
from physim.batch.configuration import sha256
from physim.batch.plan import MAX_ROLLS
from physim.batch.rows import COLUMNS
from physim.seeding import MAX_SEED

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
