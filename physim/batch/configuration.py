"""The resolved configuration of a batch: every parameter that its rolls depend on.

Names and paths are left out, since what counts is what they stood for: a model by its mass, its
friction and a hash of its parts, a toss by its numbers. Equal configurations give equal rolls.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict, fields
from typing import TYPE_CHECKING, Any

import numpy as np

from physim.values import PigModel

if TYPE_CHECKING:
    from physim.roll import Setup

Json = dict[str, Any]
_NOT_THERE = "(not there)"


def resolve(seed: int, settle: str, setup: Setup) -> Json:
    """The configuration as plain JSON values, SI units."""
    resolved = {
        "seed": seed,
        "settle": settle,
        "black": _model(setup.black),
        "pink": _model(setup.pink),
        "toss": {"kind": type(setup.toss).__name__.lower(), **_fields(setup.toss)},
        "table": asdict(setup.table),
        "engine": asdict(setup.settings),
        "rest": asdict(setup.criterion),
    }
    plain: Json = json.loads(json.dumps(resolved))
    return plain


def sha256(configuration: Mapping[str, Any]) -> str:
    """A hash that is equal for equal configurations; floats count to the last bit."""
    text = json.dumps(configuration, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def differences(there: Mapping[str, Any], here: Mapping[str, Any]) -> list[str]:
    """One text a differing entry, those that both have first.

    Such as `toss.heights_m: [0.127] there, [0.203] here`.
    """
    one, two = dict(_flat(there)), dict(_flat(here))
    keys = sorted({*one, *two}, key=lambda key: (key not in one or key not in two, key))
    return [
        f"{key}: {one.get(key, _NOT_THERE)} there, {two.get(key, _NOT_THERE)} here"
        for key in keys
        if json.dumps(one.get(key, _NOT_THERE)) != json.dumps(two.get(key, _NOT_THERE))
    ]


def _flat(data: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    for key, value in data.items():
        if isinstance(value, Mapping):
            yield from _flat(value, f"{prefix}{key}.")
        else:
            yield f"{prefix}{key}", value


def _model(model: PigModel) -> Json:
    digest = hashlib.sha256()
    for part in model.parts:
        digest.update(f"{part.label} {part.vertices_m.shape}\n".encode())
        digest.update(np.ascontiguousarray(part.vertices_m, dtype="<f8").tobytes())
    values = _fields(model)
    del values["name"], values["parts"], values["kept"]
    # Rigid pigs keep the hashes that they had before there were soft ones.
    if not model.contact_stiffness_n_m:
        del values["contact_stiffness_n_m"]
    values["inertia_kg_m2"] = model.inertia_kg_m2.tolist()
    return {**values, "parts": len(model.parts), "parts_sha256": digest.hexdigest()}


def _fields(value: Any) -> Json:
    return {field.name: getattr(value, field.name) for field in fields(value)}
