"""What the commands that look at a fit have in common: `validate` and `sensitivity`."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from physim.statistics.joint import Joint


def fitted_values(fit: Path | None) -> dict[str, float]:
    """The parameters of a fit; none without one.

    Raises:
        ConfigError: no such file, or no result of a fit.
    """
    if fit is None:
        return {}
    from physim.calibrate.result import read_fit

    return read_fit(fit)


def with_origin(names: dict[str, Any], fit: Path | None) -> dict[str, Any]:
    """The names of a setup; model and toss that are not given are those that the fit set out from.

    Raises:
        ConfigError: no such file.
    """
    from physim.calibrate.result import read_origin

    origin = {"model": "standard", "toss": "trapdoor"}
    if fit is not None:
        origin.update(read_origin(fit)[0])
    return {**names, **{key: names.get(key) or name for key, name in origin.items()}}


def check_seed(fit: Path | None, seed: int, seeds: int) -> None:
    """Refuses seeds whose rolls the fit was made with.

    Raises:
        ConfigError: says to take another one.
    """
    from physim.calibrate.result import read_origin
    from physim.errors import ConfigError

    used = None if fit is None else read_origin(fit)[1]
    if used is not None and seed <= used <= seed + seeds:
        raise ConfigError(
            f"the fit used the seed {used}, and --seed {seed} would use it again: take another one"
        )


def real_joints(table: str, half: str | None) -> dict[float, Joint]:
    """The real rolls by height of release [m].

    Raises:
        ConfigError: no such table or file, or a table without heights.
    """
    from physim.calibrate.target import real_rows
    from physim.statistics.joint import real_by_height

    return real_by_height(real_rows(table, None if half is None else int(half)))


@contextmanager
def kept_rolls(out: Path) -> Iterator[None]:
    """Meanwhile an interrupt says that what was rolled is kept."""
    try:
        yield
    except KeyboardInterrupt as stop:
        raise type(stop)(
            f"interrupted; what was finished is kept in {out}: run the same command to go on"
        ) from None


def write_json(path: Path, plain: dict[str, Any]) -> None:
    """Writes a result so that it is the old one or the new one at any moment.

    Raises:
        ConfigError: it cannot be written.
    """
    from physim.errors import ConfigError
    from physim.files import told, write_whole

    with told(ConfigError, f"{path}: cannot be written", "choose another --out"):
        write_whole(path, (json.dumps(plain, indent=1, allow_nan=False) + "\n").encode())
