"""Values that hold arrays, compared to the last bit."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np


class ExactValue:
    """A frozen dataclass (with `eq=False`) whose fields may be arrays.

    Two are equal where all their fields have the same bits; NaN equals NaN. Equal values have the
    same hash; one that holds a mapping has none.
    """

    def __eq__(self, other: object) -> bool:
        return _exactly(self) == _exactly(other) if type(other) is type(self) else NotImplemented

    def __hash__(self) -> int:
        return hash(_exactly(self))


def _exactly(value: Any) -> Any:
    """What equals that of another value where that has the same bits."""
    if isinstance(value, np.ndarray):
        if value.dtype == object:
            return value.shape, _exactly(value.ravel().tolist())
        if value.dtype.kind == "f":
            value = np.where(np.isnan(value), np.nan, value)  # there are many
        return value.shape, value.dtype.str, value.tobytes()
    if isinstance(value, float):  # a text where `==` does not go by the bits
        return "nan" if math.isnan(value) else value or str(value)
    if isinstance(value, (tuple, list)):
        return type(value), *map(_exactly, value)
    if isinstance(value, Mapping):
        return {key: _exactly(content) for key, content in value.items()}
    if is_dataclass(value) and not isinstance(value, type):
        compared = (field.name for field in fields(value) if field.compare)
        return type(value), *(_exactly(getattr(value, name)) for name in compared)
    return value
