"""The hold values as a picture."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from physim.errors import ConfigError
from physim.play.study import Study
from physim.validation.plot import drawn


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
    holds, values = study.solution.hold_values(), study.solution.values
    most = float(np.quantile(holds, 0.98))  # a few scores far behind would take all the colours
    with drawn(path, 11, 4.8) as figure:
        left, right = figure.subplots(1, 2)
        for axes, numbers, title, limits in (
            (left, holds, "optimal play holds at", (0.0, most)),
            (right, values, "probability to win before the first throw", (0.0, 1.0)),
        ):
            low, high = limits
            image = axes.imshow(numbers, origin="lower", cmap="viridis", vmin=low, vmax=high)
            axes.set_xlabel("the other player's points")
            axes.set_ylabel("own points")
            axes.set_title(title)
            figure.colorbar(image, ax=axes)
        figure.suptitle(
            f"to {study.rules.target}, rules {study.rules.name}, {study.distribution.name}"
        )
