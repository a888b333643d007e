"""A sensitivity analysis as plain JSON values and as a text."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

from physim import __version__
from physim.validate.checks import mm
from physim.validate.sensitivity import (
    RESPONSES,
    Combination,
    Information,
    Sensitivity,
    Slopes,
    Varied,
)

Json = dict[str, Any]
_WIDTH = 32
_HEADS = ("dot_up", "dot_down", "trotter", "razorb.", "snouter", "jowler", "touch")
_LEAST_WEIGHT = 0.2  # smaller ones are not printed


def to_json(found: Sensitivity, known: Information) -> Json:
    """Slopes for one `scale` of each parameter, pooled and by height, and the information."""
    names = [parameter.name for parameter in found.parameters]
    return {
        "physim": __version__,
        "seed": found.seed,
        "rolls": found.rolls,
        "parameters": [asdict(parameter) for parameter in found.parameters],
        "pooled": _slopes(found.pooled, names),
        "heights": {mm(height): _slopes(one, names) for height, one in found.heights.items()},
        "information": {
            "matrix": known.matrix.tolist(),
            "noise": known.noise.tolist(),
            "combinations": [
                {
                    "eigenvalue": one.eigenvalue,
                    "noise": one.noise,
                    "verdict": one.verdict,
                    "weights": dict(zip(names, one.weights.tolist(), strict=True)),
                }
                for one in known.combinations
            ],
            "posterior_sd": dict(zip(names, known.posterior_sd.tolist(), strict=True)),
            "correlation": known.correlation.tolist(),
        },
    }


def _slopes(slopes: Slopes, names: list[str]) -> Json:
    return {
        "frequency": dict(zip(RESPONSES, slopes.frequency.tolist(), strict=True)),
        "slopes": {
            name: {
                response: {
                    "value": float(slopes.slope[row, column]),
                    "error": float(slopes.error[row, column]),
                    "curvature": float(slopes.curvature[row, column]),
                }
                for column, response in enumerate(RESPONSES)
            }
            for row, name in enumerate(names)
        },
    }


def to_text(found: Sensitivity, known: Information) -> str:
    """The pooled slopes, and what the real table knows."""
    return "\n".join(line.rstrip() for line in _lines(found, known))


def labels(found: Sensitivity) -> list[str]:
    """Each parameter with the change that its slopes are for: `friction (+0.1)`."""
    return [_label(parameter) for parameter in found.parameters]


def _label(parameter: Varied) -> str:
    return f"{parameter.name} (+{parameter.scale:.3g} {parameter.unit}".rstrip() + ")"


def _lines(found: Sensitivity, known: Information) -> Iterator[str]:
    pooled = found.pooled
    yield f"percentage points for the change in brackets, {found.rolls:,} rolls a side"
    yield f"{'':{_WIDTH}}" + "".join(f"{head:>9}" for head in _HEADS)
    yield f"{'frequency, %':{_WIDTH}}" + "".join(f"{100 * f:>9.2f}" for f in pooled.frequency)
    for label, slope, error in zip(labels(found), pooled.slope, pooled.error, strict=True):
        yield f"{label:{_WIDTH}}" + "".join(f"{100 * value:>+9.2f}" for value in slope)
        yield f"{'':{_WIDTH}}" + "".join(f"{f'±{100 * value:.2f}':>9}" for value in error)
    yield ""
    yield "what the real rolls know, the clearest first (1: as much as the prior)"
    names = [parameter.name for parameter in found.parameters]
    for one in known.combinations:
        error = f"± {one.error:.3g}"
        yield f"{one.eigenvalue:>10.3g} {error:10} {one.verdict:11} {_sum(one, names)}"
    yield ""
    yield f"{'parameter':{_WIDTH}}{'standard deviation with the table, in prior ones'}"
    for name, sd in zip(names, known.posterior_sd.tolist(), strict=True):
        yield f"{name:{_WIDTH}}{sd:.2f}"


def _sum(one: Combination, names: list[str]) -> str:
    order = sorted(range(len(names)), key=lambda i: -abs(float(one.weights[i])))
    shown = [i for i in order if abs(float(one.weights[i])) >= _LEAST_WEIGHT]
    return " ".join(f"{float(one.weights[i]):+.2f} {names[i]}" for i in shown or order[:1])
