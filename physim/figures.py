"""Figures that are saved whole, and the only door to the plotting library."""

from __future__ import annotations

import io
import logging
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from physim.errors import ConfigError, how_to_install
from physim.files import told, write_whole

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_DPI = 150


def need_plots(otherwise: str = "leave the picture out with --no-plot") -> None:
    """Refuses to begin what could not be drawn in the end, and tells how else it can be done."""
    if find_spec("matplotlib") is None:
        raise ConfigError(
            "a picture needs `matplotlib`, which is not installed; get it with: "
            f"{how_to_install('plot')}; or {otherwise}"
        )


@contextmanager
def drawn(path: Path, width_in: float, height_in: float) -> Iterator[Figure]:
    """A figure that is saved in the end; it needs no display.

    Meanwhile the library has the settings that it comes with, and complains of no others: to import
    it reads a `matplotlibrc`, also of the working folder, and does not survive an MPLBACKEND that
    it does not know. The user's own settings are as before in the end.

    Raises:
        ConfigError: the file cannot be written.
    """
    log, content = logging.getLogger("matplotlib"), io.BytesIO()
    level, backend = log.level, os.environ.pop("MPLBACKEND", None)
    log.setLevel(logging.CRITICAL)
    try:
        import matplotlib
        from matplotlib.figure import Figure

        if backend is not None:
            with suppress(ValueError):
                matplotlib.rcParams["backend"] = backend
        with matplotlib.rc_context():
            matplotlib.rcdefaults()
            figure = Figure(figsize=(width_in, height_in), layout="constrained")
            yield figure
            figure.savefig(content, format=path.suffix[1:].lower(), dpi=_DPI)
    finally:
        log.setLevel(level)
        if backend is not None:
            os.environ["MPLBACKEND"] = backend
    with told(ConfigError, f"{path}: cannot be written", "choose another place for the picture"):
        write_whole(path, content.getvalue())
