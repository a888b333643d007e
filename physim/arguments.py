"""Checks of values that a user gave: one rule for whole numbers, numbers and texts.

What other libraries use for the same thing is taken too (NumPy's numbers, paths) and comes back
as Python's own type, so that it can be written down and compared.
"""

from __future__ import annotations

import contextlib
import difflib
import math
import operator
import os
import re
import reprlib
from collections.abc import Iterable
from numbers import Real
from pathlib import Path

from physim.errors import ConfigError

MAX_TEXT = 4096  # characters: more than any path that a system takes
_NEAR = 0.6  # likeness of a name worth suggesting; a slip of some letters is above it
_SHORT = reprlib.Repr()
_SHORT.maxstring = _SHORT.maxother = _SHORT.maxlong = 60


def shown(value: object) -> str:
    """The value as a message repeats it: never long, never failing."""
    try:
        return _SHORT.repr(value)
    except ValueError:  # Python writes no integer of thousands of digits
        return f"a {type(value).__name__} too long to show"


def shown_name(name: object) -> str:
    """A name without quotes, cut where it gets long."""
    text = str(name)
    return text if len(text) <= _SHORT.maxstring else f"{text[:40]} ... ({len(text)} characters)"


def hint(name: object, valid: Iterable[str]) -> str:
    """`; did you mean ...?` with the most alike of the valid names; empty where none is alike."""
    near = difflib.get_close_matches(str(name)[:200].lower(), list(valid), n=1, cutoff=_NEAR)
    return f"; did you mean `{near[0]}`?" if near else ""


def _plainly(value: object) -> str:
    """What to do about a text in place of a number."""
    if not isinstance(value, str) or not any(map(str.isdigit, value)):
        return ""
    decimal = re.fullmatch(r"[-+]?[0-9]*\.?[0-9]+([eE][-+]?[0-9]+)?", value)
    return "; write it without quotes" if decimal else "; write it as a decimal number, such as 100"


def whole(name: str, value: object, low: int, high: int) -> int:
    """A whole number in [low, high]: an int, or what stands for one (NumPy's), but no bool.

    Raises:
        ConfigError: anything else.
    """
    if not isinstance(value, bool):
        with contextlib.suppress(TypeError):
            number = operator.index(value)  # type: ignore[arg-type]
            if low <= number <= high:
                return number
    raise ConfigError(
        f"{name} must be a whole number from {low} to {high}, found {shown(value)}{_plainly(value)}"
    )


def real(name: str, value: object) -> float:
    """A number as a float, NaN too: an int, a float or NumPy's, but no bool and no text.

    Raises:
        ConfigError: anything else.
    """
    try:
        if not isinstance(value, bool) and isinstance(value, Real):
            return float(value)
    except OverflowError:  # an integer of hundreds of digits
        pass
    raise ConfigError(f"{name} must be a finite number, found {shown(value)}{_plainly(value)}")


def number(name: str, value: object) -> float:
    """As `real`, but neither NaN nor infinite."""
    plain = real(name, value)
    if not math.isfinite(plain):
        raise ConfigError(f"{name} must be a finite number, found {shown(value)}")
    return plain


def text(name: str, value: object) -> str:
    """A name or a path as a text that is not empty.

    Raises:
        ConfigError: another type, empty, too long, or with a null character.
    """
    plain = os.fspath(value) if isinstance(value, os.PathLike) else value
    if not isinstance(plain, str):
        raise ConfigError(f"{name} must be a text, found {shown(value)}")
    if not plain.strip():
        raise ConfigError(f"{name} must not be empty; leave it out or name something")
    if len(plain) > MAX_TEXT or "\0" in plain:
        raise ConfigError(f"{name} is no usable name: {shown(plain)}")
    return plain


def optional_text(name: str, value: object) -> str | None:
    """None, or as `text`."""
    return None if value is None else text(name, value)


def path(name: str, value: object) -> Path:
    """A path; raises as `text`."""
    return Path(text(name, value))
