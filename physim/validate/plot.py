"""The two pictures of this package, and the only door to the plotting library."""

from __future__ import annotations

import io
import logging
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from physim.errors import ConfigError, how_to_install
from physim.files import told, write_whole
from physim.statistics.counts import POSE_CELLS, TOUCHING
from physim.statistics.joint import Joint, total
from physim.statistics.tests import clopper_pearson
from physim.types import FloatArray
from physim.validate.checks import mm

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_REAL, _SIMULATED = "#c9c9c9", "#c2185b"
_DPI = 150
_COLUMNS = (*POSE_CELLS, TOUCHING)


def need_plots(otherwise: str = "leave the picture out with --no-plot") -> None:
    """Refuses to begin what could not be drawn in the end.

    Args:
        otherwise: how to do without a picture.

    Raises:
        ConfigError: the plotting library is not installed.
    """
    if find_spec("matplotlib") is None:
        raise ConfigError(
            "a picture needs `matplotlib`, which is not installed; get it with: "
            f"{how_to_install('plot')}; or {otherwise}"
        )


@contextmanager
def drawn(path: Path, width_in: float, height_in: float) -> Iterator[Figure]:
    """A figure that is saved in the end; the user's settings of the library do not hold for it.

    It needs no display, and leaves no state of the library behind.

    Raises:
        ConfigError: the file cannot be written.
    """
    with _own_settings():
        from matplotlib.figure import Figure

        figure = Figure(figsize=(width_in, height_in), layout="constrained")
        yield figure
        content = io.BytesIO()
        figure.savefig(content, format=path.suffix[1:].lower(), dpi=_DPI)
    with told(ConfigError, f"{path}: cannot be written", "choose another place for the picture"):
        write_whole(path, content.getvalue())


@contextmanager
def _own_settings() -> Iterator[None]:
    """Meanwhile the library has the settings that it comes with, and complains of no others.

    To import it reads a `matplotlibrc`, also of the working folder, and does not survive an
    MPLBACKEND that it does not know.
    """
    log = logging.getLogger("matplotlib")
    level, backend = log.level, os.environ.pop("MPLBACKEND", None)
    log.setLevel(logging.CRITICAL)
    try:
        import matplotlib

        if backend is not None:
            with suppress(ValueError):
                matplotlib.rcParams["backend"] = backend
        with matplotlib.rc_context():
            matplotlib.rcdefaults()
            yield
    finally:
        log.setLevel(level)
        if backend is not None:
            os.environ["MPLBACKEND"] = backend


def plot_validation(
    simulated: Mapping[float, Joint], real: Mapping[float, Joint], path: Path
) -> None:
    """Each pose's simulated frequency on the real one's 95 % interval, pooled and by height.

    Args:
        simulated: by height of release [m].
        real: likewise, in the same order.
        path: of the picture.
    """
    panels = [("both heights", total(simulated), total(real))]
    for (height_m, one), two in zip(simulated.items(), real.values(), strict=True):
        panels.append((f"{mm(height_m)} mm", one, two))
    with drawn(path, 4.2 * len(panels), 3.8) as figure:
        for axes, (title, one, two) in zip(_row(figure, len(panels)), panels, strict=True):
            _pose_panel(axes, one, two)
            axes.set_title(title)


def plot_sensitivity(
    names: Sequence[str], change: FloatArray, error: FloatArray, path: Path
) -> None:
    """A heat map: percentage points that a pose gains for one scale of a parameter.

    Args:
        names: of the parameters, with their scales.
        change: (parameters, 7) of the frequencies, 0 to 1; the last is touching.
        error: (parameters, 7) standard error of `change`.
        path: of the picture.
    """
    with drawn(path, 8.5, 1.6 + 0.36 * len(names)) as figure:
        _heat_map(figure, names, change, error)


def _heat_map(figure: Figure, names: Sequence[str], change: FloatArray, error: FloatArray) -> None:
    axes = _row(figure, 1)[0]
    points = 100 * change
    most = max(float(np.abs(points).max()), 1e-6)
    image = axes.imshow(points, cmap="RdBu_r", vmin=-most, vmax=most, aspect="auto")
    for row, column in np.ndindex(points.shape):
        clear = abs(change[row, column]) > 2 * error[row, column]
        dark = abs(points[row, column]) > 0.6 * most
        axes.text(
            column,
            row,
            f"{points[row, column]:+.2f}\n±{100 * error[row, column]:.2f}",
            ha="center",
            va="center",
            fontsize=6.5,
            color="white" if dark else "black",
            alpha=1.0 if clear else 0.45,
        )
    axes.set_xticks(range(len(_COLUMNS)), _COLUMNS, rotation=20, fontsize=8)
    axes.set_yticks(range(len(names)), list(names), fontsize=8)
    axes.set_title(
        "percentage points for the change in brackets (pale: less than two standard errors)",
        fontsize=9,
    )
    figure.colorbar(image, ax=axes)


def _pose_panel(axes: Axes, simulated: Joint, real: Joint) -> None:
    """Differences to the real frequency: at one scale, all poses can be read."""
    size, real_size = int(simulated.pigs.sum()), int(real.pigs.sum())
    for row, (ours, theirs) in enumerate(
        zip(simulated.pigs.tolist(), real.pigs.tolist(), strict=True)
    ):
        truth = theirs / real_size
        low, high = _points(theirs, real_size, truth)
        axes.barh(row, high - low, left=low, height=0.55, color=_REAL)
        if size:
            low, high = _points(ours, size, truth)
            axes.plot([low, high], [row, row], color=_SIMULATED, linewidth=1.5)
            axes.plot([100 * (ours / size - truth)], [row], "o", color=_SIMULATED, markersize=5)
    axes.axvline(0.0, color="black", linewidth=0.8)
    shares = [f"{name}\n{100 * n / real_size:.2f} %" for name, n in _rows(real)]
    axes.set_yticks(range(len(POSE_CELLS)), shares, fontsize=8)
    axes.invert_yaxis()
    axes.set_xlabel("simulated - real, percentage points\n(grey: real 95 % interval)", fontsize=8)


def _rows(joint: Joint) -> list[tuple[str, int]]:
    return list(zip(POSE_CELLS, joint.pigs.tolist(), strict=True))


def _points(count: int, size: int, truth: float) -> tuple[float, float]:
    """The ends of a frequency's interval, in percentage points from the truth."""
    interval = clopper_pearson(count, size)
    return 100 * (interval.low - truth), 100 * (interval.high - truth)


def _row(figure: Figure, count: int) -> list[Axes]:
    axes: list[Axes] = figure.subplots(1, count, squeeze=False)[0].tolist()
    return axes
