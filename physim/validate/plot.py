"""The pictures of a validation and of a sensitivity analysis."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from physim.figures import drawn
from physim.statistics.counts import POSE_CELLS, TOUCHING, Counts, total
from physim.statistics.tests import clopper_pearson
from physim.types import FloatArray
from physim.validate.checks import mm

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_REAL, _SIMULATED = "#c9c9c9", "#c2185b"


def plot_validation(
    simulated: Mapping[float, Counts], real: Mapping[float, Counts], path: Path
) -> None:
    """Each pose's simulated frequency on the real one's 95 % interval, pooled and by height."""
    panels = [("both heights", total(simulated), total(real))]
    for (height_m, one), two in zip(simulated.items(), real.values(), strict=True):
        panels.append((f"{mm(height_m)} mm", one, two))
    with drawn(path, 4.2 * len(panels), 3.8) as figure:
        row = figure.subplots(1, len(panels), squeeze=False)[0]
        for axes, (title, one, two) in zip(row, panels, strict=True):
            _pose_panel(axes, one.pose_cells(), two.pose_cells())
            axes.set_title(title)


def _pose_panel(axes: Axes, simulated: Mapping[str, int], real: Mapping[str, int]) -> None:
    """Differences to the real frequency: at one scale, all poses can be read."""
    size, real_size = sum(simulated.values()), sum(real.values())
    shares = []
    for row, pose in enumerate(POSE_CELLS):
        truth = real[pose] / real_size
        shares.append(f"{pose}\n{100 * truth:.2f} %")
        interval = clopper_pearson(real[pose], real_size)
        low, high = 100 * (interval.low - truth), 100 * (interval.high - truth)
        axes.barh(row, high - low, left=low, height=0.55, color=_REAL)
        if size:
            interval = clopper_pearson(simulated[pose], size)
            ends = [100 * (end - truth) for end in (interval.low, interval.high)]
            axes.plot(ends, [row, row], color=_SIMULATED, linewidth=1.5)
            point = 100 * (simulated[pose] / size - truth)
            axes.plot([point], [row], "o", color=_SIMULATED, markersize=5)
    axes.axvline(0.0, color="black", linewidth=0.8)
    axes.set_yticks(range(len(shares)), shares, fontsize=8)
    axes.invert_yaxis()
    axes.set_xlabel("simulated - real, percentage points\n(grey: real 95 % interval)", fontsize=8)


def plot_sensitivity(
    names: Sequence[str], change: FloatArray, error: FloatArray, path: Path
) -> None:
    """A heat map: percentage points that a pose gains for one scale of a parameter.

    `change` of the frequencies and its standard `error` are of shape (parameters, 7).
    """
    points, columns = 100 * change, (*POSE_CELLS, TOUCHING)
    most = max(float(np.abs(points).max()), 1e-6)
    with drawn(path, 8.5, 1.6 + 0.36 * len(names)) as figure:
        axes = figure.subplots()
        image = axes.imshow(points, cmap="RdBu_r", vmin=-most, vmax=most, aspect="auto")
        for (row, column), value in np.ndenumerate(points):
            noise = 100 * error[row, column]
            axes.text(
                column,
                row,
                f"{value:+.2f}\n±{noise:.2f}",
                ha="center",
                va="center",
                fontsize=6.5,
                color="white" if abs(value) > 0.6 * most else "black",
                alpha=1.0 if abs(value) > 2 * noise else 0.45,
            )
        axes.set_xticks(range(len(columns)), columns, rotation=20, fontsize=8)
        axes.set_yticks(range(len(names)), list(names), fontsize=8)
        title = "percentage points for the change in brackets (pale: less than two standard errors)"
        axes.set_title(title, fontsize=9)
        figure.colorbar(image, ax=axes)
