"""`physim validate`: rolls that no fit has seen, beside the real ones and beside each other."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from types import ModuleType
from typing import Any

import numpy as np

from physim import __version__
from physim.calibrate import priors
from physim.errors import ConfigError, hint, shown_name
from physim.physics.fast import bounds
from physim.poses import classify
from physim.simulator import Setup
from physim.statistics.counts import COUNTED, POSE_CELLS, Counts, total
from physim.statistics.report import cell, percent, row, span
from physim.statistics.tests import LEAST_MONTE_CARLO_P, MONTE_CARLO
from physim.types import PIG_NAMES, Outcome, Pose
from physim.validate import GROUPS, REAL_ROLLS, ROLLS, SEEDS, checks, datasets
from physim.validate.checks import HEADS, LEAST_P, P_AT_LEAST, ByHeight, Check, mm, plot_validation
from physim.validate.datasets import (
    HALF_STEP,
    HAND,
    MAIN,
    OTHER_ENGINE,
    SETTLE,
    SOLVER,
    FitReview,
    Request,
    Rolls,
    Source,
)

_RARE = (Outcome.PIGGYBACK, Outcome.OFF_TABLE, Outcome.UNSETTLED, Outcome.AMBIGUOUS)
_SAMPLES = {
    "step": HALF_STEP,
    "solver": SOLVER,
    "settle": SETTLE,
    "engine": OTHER_ENGINE,
    "hand": HAND,
}
_WIDTHS = (18, *[9] * (len(HEADS) + 1))

Json = dict[str, Any]
Said = Callable[[str], None]


@dataclass(frozen=True)
class Validation:
    """The checks of a setup, in the order of `GROUPS`, and the samples that they used, by name."""

    request: Request
    real: ByHeight
    checks: tuple[Check, ...]
    rolls: Mapping[str, Rolls]

    @property
    def passed(self) -> bool | None:
        """Whether every check with a limit passed; None if there is none."""
        answers = [check.ok for check in self.checks if check.ok is not None]
        return all(answers) if answers else None


def run(
    study: FitReview, *, seed: int, rolls: int, fewer_rolls: int, only: Sequence[str], say: Said
) -> tuple[Json, str]:
    """Validates a setup by its names; writes `validation.json` and its picture.

    Returns:
        The result as plain values and as text.

    Raises:
        ConfigError: a seed that the fit used.
    """
    used = study.fit_seed
    if used is not None and seed <= used <= seed + SEEDS:
        raise ConfigError(
            f"the fit used the seed {used}, and --seed {seed} would use it again: take another one"
        )
    setup = priors.setup(Setup.named(**study.names), study.values)
    request = Request(setup, seed, rolls, fewer_rolls)
    result = validate(request, study.real, study.source, only=only, say=say)
    sizes = {"rolls": rolls, "fewer_rolls": fewer_rolls, "only": list(only)}
    plain = {"asked": {**study.request, **sizes}, **to_json(result)}
    by_height = result.rolls[MAIN].by_height()
    study.write("validation", plain, lambda path: plot_validation(by_height, study.real, path))
    return plain, to_text(result)


def validate(
    request: Request,
    real: ByHeight,
    source: Source,
    *,
    only: Sequence[str] = (),
    say: Said = lambda text: None,
) -> Validation:
    """Makes the rolls that the checks need, and checks them.

    Args:
        request: what to validate.
        real: the real rolls, by height of release [m].
        source: makes the rolls.
        only: groups of checks; empty for all `GROUPS`.
        say: told before each sample which one it is.

    Raises:
        ConfigError: an unknown group, or a toss from other heights than the real rolls.
    """
    if unknown := [group for group in only if group not in GROUPS]:
        raise ConfigError(
            f"unknown group of checks `{shown_name(unknown[0])}`{hint(unknown[0], GROUPS)} "
            f"(valid: {', '.join(GROUPS)})"
        )
    datasets.check_heights(request.setup.toss, real)
    groups = [group for group in GROUPS if not only or group in only]
    names = dict.fromkeys([MAIN, *(name for group in groups for name in _samples(group, request))])
    rolls: dict[str, Rolls] = {}
    for number, name in enumerate(names, start=1):
        plan = datasets.plan(name, request)
        say(f"sample {number} of {len(names)}: {name}, {plan.n:,} rolls of seed {plan.seed}")
        rolls[name] = source(plan)
    found = [check for group in groups for check in _checks(group, request, real, rolls)]
    return Validation(request, real, tuple(found), rolls)


def _samples(group: str, request: Request) -> tuple[str, ...]:
    """What a group needs beside the main sample."""
    if group == "surfaces":
        return datasets.surface_samples(request)
    return (_SAMPLES[group],) if group in _SAMPLES else ()


def _checks(
    group: str, request: Request, real: ByHeight, rolls: Mapping[str, Rolls]
) -> list[Check]:
    main, seed = rolls[MAIN], request.seed
    counts, others = main.counts, {name: rolls[name] for name in _samples(group, request)}

    def converges() -> list[Check]:
        (finer,) = others.values()
        return checks.convergence_checks(group, counts, finer.counts, seed)

    def predicts() -> list[Check]:
        named = {name.replace("surface_", "surface."): sample for name, sample in others.items()}
        return [
            check
            for name, sample in named.items()
            for check in checks.prediction_checks(name, sample.counts, counts, seed)
        ]

    of_group: dict[str, Callable[[], list[Check]]] = {
        "poses": lambda: checks.pose_checks(counts, total(real), seed),
        "pairs": lambda: checks.pair_checks(counts, total(real), seed),
        "height": lambda: checks.height_checks(main.by_height(), real, seed),
        "settled": lambda: checks.settled_checks(counts),
        "rare": lambda: checks.rare_checks(group, counts),
        "step": converges,
        "solver": converges,
        "engine": converges,
        "settle": lambda: settle_checks(main, others[SETTLE]),
        "hand": predicts,
        "surfaces": predicts,
    }
    if group not in of_group:
        raise NotImplementedError(f"`{group}` is one of GROUPS, but nothing here checks it")
    return of_group[group]()


def settle_checks(fast: Rolls, full: Rolls) -> list[Check]:
    """Stopping once the outcome is certain against simulating to rest, roll by roll."""
    n = min(fast.n, full.n)
    one, two = ({name: c[:n] for name, c in rolls.columns.items()} for rolls in (fast, full))
    unlike = {name: _unlike(one[name], two[name]) for name in COUNTED}
    differing = np.logical_or.reduce(list(unlike.values()))
    detail = {
        "rolls": n,
        "columns": {name: int(rows.sum()) for name, rows in unlike.items()},
        "first_indices": one["index"][differing][:10].tolist(),
    }
    return [checks.at_most("settle.differing_rolls", int(differing.sum()), 0, detail=detail)]


def _unlike(one: Any, two: Any) -> Any:
    """(n,) where two columns differ; no score or rest (NaN) equals none."""
    both_missing = (one != one) & (two != two)  # noqa: PLR0124 - only NaN differs from itself
    return np.asarray((one != two) & ~both_missing, dtype=bool)


def to_json(validation: Validation) -> Json:
    """Every check, and all counts with their exact 95 % intervals."""
    request, real = validation.request, validation.real
    samples: Json = {}
    for name, rolls in validation.rolls.items():
        samples[name] = {"seed": datasets.plan(name, request).seed, **_counts(rolls.counts)}
        if len(rolls.heights_m) > 1:
            samples[name]["heights"] = _heights(rolls.by_height())
    return {
        "physim": __version__,
        "seed": request.seed,
        "passed": validation.passed,
        "in_force": provenance(request.setup),
        "checks": [asdict(check) for check in validation.checks],
        "real": _counts(total(real)) | {"heights": _heights(real)},
        "samples": samples,
    }


def _heights(by_height: ByHeight) -> Json:
    return {mm(height_m): _counts(counts) for height_m, counts in by_height.items()}


def _counts(counts: Counts) -> Json:
    """Frequencies of poses are of the pigs in a named one, those of the others of all rolls."""
    poses = counts.pose_cells()
    rare = {outcome.value: counts.outcomes[outcome] for outcome in _RARE}
    return {
        "rolls": counts.rolls,
        "pigs": sum(poses.values()),
        "poses": _cells(poses),
        "other": counts.poses[Pose.OTHER],
        "by_pig": {pig: _cells(counts.pose_cells(pig)) for pig in PIG_NAMES},
        "pairs": _cells(counts.pair_cells()),
        "touching": cell(counts.touching, counts.rolls),
        **{name: cell(count, counts.rolls) for name, count in rare.items()},
    }


def _cells(counts: Mapping[str, int]) -> Json:
    size = sum(counts.values())
    return {name: cell(count, size) for name, count in counts.items()}


def provenance(setup: Setup) -> Json:
    """The constants of classifier, tolerances, rest and certainty; all set before any fit."""
    return {
        "classifier": _constants(classify, "LYING_DEG", "CLEAR_SCALE_M"),
        "tolerances": _constants(classify, "TABLE_GAP_M", "TOUCH_GAP_M"),
        "rest_criterion": {"constants": asdict(setup.criterion)},
        "certainty": _constants(bounds, "MARGIN", "REACH_FACTOR", "REACH_LEAST_M"),
    }


def _constants(module: ModuleType, *names: str) -> Json:
    return {"constants": {name.lower(): getattr(module, name) for name in names}}


def to_text(validation: Validation) -> str:
    """The checks, the poses beside the real ones, and what was never fitted."""
    return "\n".join(_lines(validation))


def _lines(validation: Validation) -> Iterator[str]:
    yield from _pose_table(total(validation.real), validation.rolls[MAIN].counts)
    if len(validation.rolls) > 1:
        yield ""
        yield row(_WIDTHS, "sample, %", *HEADS, "off")
        for name, rolls in validation.rolls.items():
            yield _sample_row(name, rolls.counts)
    yield ""
    widths = (40, 10, 17, 9, 5)
    yield row(widths, "check", "value", "limit", "p", "ok")
    for check in validation.checks:
        ok = {True: "yes", False: "NO", None: ""}[check.ok]
        value = "-" if check.value is None else f"{check.value:.4g}"
        yield row(widths, check.name, value, _limit(check), _p(check), ok)
    for check in validation.checks:
        if check.name == "height.log_likelihood_ratio":
            yield ""
            yield f"height: {check.note}"
    failed = [check.name for check in validation.checks if check.ok is False]
    tried = sum(check.ok is not None for check in validation.checks)
    if tried:
        yield ""
        names = f"; failed: {', '.join(failed)}" if failed else ""
        yield f"{tried - len(failed)} of {tried} checks passed{names}"
        ours, real = validation.request.rolls, total(validation.real).rolls
        if ours < ROLLS or real < REAL_ROLLS:
            yield (
                f"the limits suit {ROLLS:,} rolls and {REAL_ROLLS:,} real ones: with {ours:,} and "
                f"{real:,} chance\nalone may fail a check, and a real difference may pass"
            )


def _pose_table(real: Counts, simulated: Counts) -> Iterator[str]:
    theirs, ours = _cells(real.pose_cells()), _cells(simulated.pose_cells())
    sizes = (sum(counts.pose_cells().values()) for counts in (simulated, real))
    yield "{:,} simulated pigs beside {:,} real ones, %".format(*sizes)
    widths = (18, 7, 16, 11, 16, 8)
    yield row(widths, "pose", "real", "95 % interval", "simulated", "95 % interval", "diff")
    for pose in POSE_CELLS:
        one, two = theirs[pose], ours[pose]
        cells = [percent(one["frequency"]), span(one)]
        if two["frequency"] is not None:
            off = two["frequency"] - one["frequency"]
            cells += [percent(two["frequency"]), span(two), percent(off, "+")]
        yield row(widths, pose, *cells)


def _sample_row(name: str, counts: Counts) -> str:
    poses = counts.pose_cells()
    shares = [count / max(sum(poses.values()), 1) for count in poses.values()]
    off = counts.outcomes[Outcome.OFF_TABLE]
    shares += [counts.touching / counts.rolls, off / counts.rolls]
    return row(_WIDTHS, name, *map(percent, shares))


def _p(check: Check) -> str:
    if check.p is None:
        return ""
    drawn = check.detail.get("p_method") == MONTE_CARLO
    return f"{'<=' if drawn and check.p <= LEAST_MONTE_CARLO_P else ''}{check.p:.3g}"


def _limit(check: Check) -> str:
    if check.limit is None:
        return ""
    if isinstance(check.limit, tuple):
        return "{:.4f} to {:.4f}".format(*check.limit)
    return f"p >= {LEAST_P:g}" if check.rule == P_AT_LEAST else f"<= {check.limit:g}"
