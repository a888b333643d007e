"""How the frequencies move with each parameter: central differences on common random numbers.

All setups roll the same seeds and indices: the same tosses, as far as a parameter leaves them
alone. The two sides are compared roll by roll, so the standard error needs no assumption about how
alike they are.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from physim import __version__
from physim.calibrate import priors
from physim.calibrate.priors import Parameter
from physim.config import COMPILED
from physim.errors import ConfigError
from physim.simulator import Setup
from physim.statistics.counts import NAMED_POSES, POSE_CELLS, TOUCHING, codes_of, counted_rolls
from physim.statistics.report import percent, row
from physim.types import PIG_NAMES, ExactValue, FloatArray, Outcome, Pose, Status
from physim.validate import datasets
from physim.validate.checks import HEADS, mm, plot_sensitivity
from physim.validate.datasets import FitReview, Rolls, SetupPlan, Source

RESPONSES = (*POSE_CELLS, TOUCHING)  # six frequencies of pigs, and one of rolls
_WIDTHS = (32, *[9] * len(RESPONSES))

Change = Callable[[Setup, Mapping[str, float]], Setup]
Said = Callable[[str], None]
Json = dict[str, Any]


@dataclass(frozen=True)
class Varied:
    """One parameter: where its derivative is taken, and the values `low` and `high` on its sides.

    Effects are shown for one `scale`, the prior standard deviation.
    """

    name: str
    unit: str
    value: float
    low: float
    high: float
    scale: float

    @classmethod
    def of(cls, parameter: Parameter, value: float, step: float) -> Varied:
        """Moves a parameter by `step` prior standard deviations each way, within its bounds.

        Raises:
            ConfigError: a value outside the bounds.
        """
        if not parameter.low <= value <= parameter.high:
            raise ConfigError(
                f"{parameter.name} is {value:g} {parameter.unit}, outside its bounds "
                f"{parameter.low:g} to {parameter.high:g}"
            )
        by = step * parameter.prior_sd
        low, high = max(parameter.low, value - by), min(parameter.high, value + by)
        return cls(parameter.name, parameter.unit, value, low, high, parameter.prior_sd)

    @property
    def label(self) -> str:
        """The parameter with the change that its slopes are for: `friction (+0.1)`."""
        return f"{self.name} (+{self.scale:.3g} {self.unit}".rstrip() + ")"


@dataclass(frozen=True, eq=False)
class Slopes(ExactValue):
    """Derivatives at one height of release, or at all of them, each for one `scale`.

    Attributes:
        frequency: (7,) at the unchanged setup, in the order of `RESPONSES`.
        slope: (parameters, 7) change of the frequency.
        noise: (parameters, parameters, 7) covariance of the slopes' errors: of two parameters,
            one response.
        curvature: (parameters, 7) mean of both sides less the unchanged setup: how far from
            linear; zero where nothing was rolled between them.
    """

    frequency: FloatArray
    slope: FloatArray
    noise: FloatArray
    curvature: FloatArray

    @property
    def error(self) -> FloatArray:
        """(parameters, 7) standard error of `slope`."""
        return np.sqrt(np.diagonal(self.noise).T)


@dataclass(frozen=True)
class Sensitivity:
    """The slopes of parameters, over all heights and by height of release [m], the lowest first."""

    parameters: tuple[Varied, ...]
    rolls: int
    seed: int
    pooled: Slopes
    heights: Mapping[float, Slopes]


def run(
    study: FitReview,
    *,
    seed: int,
    rolls: int,
    parameters: Sequence[str] | None,
    step: float,
    say: Said,
) -> tuple[Json, str]:
    """Analyses a setup by its names; writes `sensitivity.json` and its picture.

    Returns:
        The result as plain values and as text.
    """
    found = of_study(study, seed=seed, rolls=rolls, parameters=parameters, step=step, say=say)
    plain = {"asked": {**study.request, "step": step}, **to_json(found)}
    labels, slopes = [parameter.label for parameter in found.parameters], found.pooled

    def plot(path: Path) -> None:
        plot_sensitivity(labels, slopes.slope, slopes.error, path)

    study.write("sensitivity", plain, plot)
    return plain, to_text(found)


def of_study(
    study: FitReview,
    *,
    seed: int,
    rolls: int,
    parameters: Sequence[str] | None,
    step: float,
    say: Said,
) -> Sensitivity:
    """The slopes of a setup by its names; None of parameters are those that a fit moves."""
    base = Setup.named(**{**study.names, "engine": COMPILED})
    datasets.check_heights(base.toss, study.real)
    space = priors.Space.of(parameters, priors.known_parameters(base))
    values = {**priors.values_of(base, space.names), **study.values}
    varied = [Varied.of(one, values[one.name], step) for one in space.parameters]
    return sensitivity(
        base, varied, study.source, fitted=study.values, seed=seed, rolls=rolls, say=say
    )


def sensitivity(
    base: Setup,
    parameters: Sequence[Varied],
    source: Source,
    change: Change = priors.setup,
    *,
    fitted: Mapping[str, float] | None = None,
    seed: int,
    rolls: int,
    say: Said = lambda text: None,
) -> Sensitivity:
    """Rolls the base and two setups a parameter, and compares them.

    Args:
        base: what `change` sets out from.
        parameters: what is moved, one at a time.
        source: makes the rolls.
        change: makes the setup with these values of parameters, without any the unchanged one.
        fitted: values that every setup has. They go into the same `change` as what is moved, since
            a fitted pig does not know its own parameters.
        seed: of all samples.
        rolls: of each sample.
        say: told before each sample which one it is.
    """
    fitted, count = fitted or {}, 2 * len(parameters) + 1

    def sample(label: str, moved: Mapping[str, float]) -> Rolls:
        setup = change(base, {**fitted, **moved})
        return source(SetupPlan.make(label, setup, seed=seed, rolls=rolls))

    say(f"sample 1 of {count}: base, {rolls:,} rolls of seed {seed}")
    middle = sample("base", {})
    groups = (None, *range(len(middle.heights_m)))
    moves: list[list[_Move]] = [[] for _ in groups]
    for number, parameter in enumerate(parameters):
        sides = []
        for offset, side, value in ((2, "low", parameter.low), (3, "high", parameter.high)):
            label = f"{parameter.name}.{side}"
            which = f"sample {2 * number + offset} of {count}: {label}"
            say(f"{which}, {value:g} {parameter.unit}".rstrip())
            sides.append(sample(label, {parameter.name: value}))
        for group, found in zip(groups, moves, strict=True):
            found.append(_move(parameter, *(responses(side, group) for side in sides)))
    slopes = [
        _slopes(responses(middle, group)[0], found)
        for group, found in zip(groups, moves, strict=True)
    ]
    heights = dict(sorted(zip(middle.heights_m, slopes[1:], strict=True)))
    return Sensitivity(tuple(parameters), rolls, seed, slopes[0], heights)


_Response = tuple[FloatArray, FloatArray]
_Move = tuple[FloatArray, FloatArray, FloatArray]


def responses(rolls: Rolls, height: int | None) -> _Response:
    """Frequencies of all rolls or those from `heights_m[height]`, and what each does to them.

    Returns:
        (7,) frequencies in the order of `RESPONSES`: of the pigs in a named pose, and touching of
        the rolls; (n, 7) each roll's influence, whose mean is 0: the frequency of a few rolls more
        or less differs by the mean of theirs. The two pigs of a roll count as one.
    """
    rows = slice(None) if height is None else rolls.from_height(height)
    columns = {name: column[rows] for name, column in rolls.columns.items()}
    outcomes = codes_of(columns["outcome"], Outcome)
    counted = counted_rolls(
        codes_of(columns["status"], Status), outcomes, np.asarray(columns["touching"], dtype=bool)
    )
    pigs = np.zeros((len(outcomes), len(NAMED_POSES)))  # 0, 1 or 2 of a roll's pigs
    for pig in PIG_NAMES:
        poses = codes_of(columns[f"{pig}_pose"], Pose)
        pigs += (poses[:, None] == np.arange(len(NAMED_POSES))) & counted[:, None]
    touch = [tuple(Outcome).index(one) for one in (Outcome.OINKER, Outcome.PIGGYBACK)]
    touching = np.isin(outcomes, touch) * 1.0
    if not pigs.sum():
        raise ConfigError("no pig lies in a pose of the rules; ask for more rolls")
    frequency = pigs.sum(axis=0) / pigs.sum()
    influence = (pigs - frequency * pigs.sum(axis=1, keepdims=True)) * (len(pigs) / pigs.sum())
    return (
        np.append(frequency, touching.mean()),
        np.column_stack([influence, touching - touching.mean()]),
    )


def _move(parameter: Varied, low: _Response, high: _Response) -> _Move:
    """The slope, the mean of both sides, and (n, 7) the slope's share of each roll, of mean 0."""
    per_scale = parameter.scale / (parameter.high - parameter.low)
    (below, below_each), (above, above_each) = low, high
    return per_scale * (above - below), 0.5 * (above + below), per_scale * (above_each - below_each)


def _slopes(frequency: FloatArray, moves: Sequence[_Move]) -> Slopes:
    slopes, means, each = map(np.array, zip(*moves, strict=True))
    rolls = each.shape[1]
    products = [each[:, :, k] @ each[:, :, k].T for k in range(len(RESPONSES))]
    noise = np.stack(products, axis=2) / (rolls * max(rolls - 1, 1))
    return Slopes(frequency, slopes, noise, means - frequency)


def to_json(found: Sensitivity) -> Json:
    """Slopes for one `scale` of each parameter, pooled and by height."""
    names = [parameter.name for parameter in found.parameters]
    return {
        "physim": __version__,
        "seed": found.seed,
        "rolls": found.rolls,
        "parameters": [asdict(parameter) for parameter in found.parameters],
        "pooled": _slopes_to_json(found.pooled, names),
        "heights": {mm(h): _slopes_to_json(one, names) for h, one in found.heights.items()},
    }


def _slopes_to_json(slopes: Slopes, names: Sequence[str]) -> Json:
    cells = np.stack([slopes.slope, slopes.error, slopes.curvature], axis=2).tolist()
    return {
        "frequency": dict(zip(RESPONSES, slopes.frequency.tolist(), strict=True)),
        "slopes": {
            name: {
                response: dict(zip(("value", "error", "curvature"), cell, strict=True))
                for response, cell in zip(RESPONSES, of_parameter, strict=True)
            }
            for name, of_parameter in zip(names, cells, strict=True)
        },
    }


def to_text(found: Sensitivity) -> str:
    """The pooled slopes."""
    pooled = found.pooled
    lines = [
        f"percentage points for the change in brackets, {found.rolls:,} rolls a side",
        row(_WIDTHS, "", *HEADS),
        row(_WIDTHS, "frequency, %", *map(percent, pooled.frequency)),
    ]
    for parameter, slope, error in zip(found.parameters, pooled.slope, pooled.error, strict=True):
        lines.append(row(_WIDTHS, parameter.label, *(percent(value, "+") for value in slope)))
        lines.append(row(_WIDTHS, "", *(f"±{percent(value)}" for value in error)))
    return "\n".join(lines)
