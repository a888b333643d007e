"""The hold values as a picture: this package's door to the plotting library."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from physim.errors import ConfigError
from physim.extras import optional
from physim.files import replaced, told
from physim.play.study import Study

_DPI = 150


def need_plots() -> None:
    """Refuses to begin what could not be drawn in the end.

    Raises:
        ConfigError: the plotting library is not installed.
    """
    optional("matplotlib", "plot", "the heat map", "; or leave out --heat-map")


def check_picture(path: Path) -> None:
    """Refuses a file that no picture can be written to.

    Raises:
        ConfigError: another ending than .png, .pdf or .svg, or no such folder.
    """
    if path.suffix.lower() not in (".png", ".pdf", ".svg"):
        raise ConfigError(f"--heat-map {path}: the name must end in .png, .pdf or .svg")
    if not path.parent.is_dir() or path.is_dir():
        raise ConfigError(f"--heat-map {path}: cannot be written there; name a file in a folder")


def plot_heat_map(study: Study, path: Path) -> None:
    """Where optimal play holds, and the probability to win, by both scores.

    Args:
        study: with the solution.
        path: of the picture.
    """
    from matplotlib.figure import Figure

    figure = Figure(figsize=(11, 4.8), layout="constrained")
    left, right = figure.subplots(1, 2)
    holds, values = study.solution.hold_values(), study.solution.values
    most = float(np.quantile(holds, 0.98))  # a few scores far behind would take all the colours
    for axes, numbers, title, limits in (
        (left, holds, "optimal play holds at", (0.0, most)),
        (right, values, "probability to win before the first throw", (0.0, 1.0)),
    ):
        image = axes.imshow(numbers, origin="lower", cmap="viridis", vmin=limits[0], vmax=limits[1])
        axes.set_xlabel("the other player's points")
        axes.set_ylabel("own points")
        axes.set_title(title)
        figure.colorbar(image, ax=axes)
    figure.suptitle(f"to {study.rules.target}, rules {study.rules.name}, {study.distribution.name}")
    what = f"--heat-map {path}: cannot be written"
    with told(ConfigError, what, "name another file"), replaced(path) as unfinished:
        figure.savefig(unfinished, dpi=_DPI, format=path.suffix[1:].lower())
