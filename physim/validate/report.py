"""A validation as plain JSON values and as a text of 80 columns.

Which classifier, tolerances and criterion of rest a validation used.

They were fixed before any fit. Whoever doubts it compares the hashes.
"""

from __future__ import annotations

import hashlib
import inspect
import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from types import ModuleType
from typing import Any

from physim import __version__
from physim.physics import state
from physim.physics.fast import bounds
from physim.poses import classify
from physim.simulator import Setup
from physim.statistics.compare import LEAST_MONTE_CARLO_P, MONTE_CARLO
from physim.statistics.counts import PAIR_CELLS, POSE_CELLS
from physim.statistics.joint import Joint, total
from physim.statistics.report import cell
from physim.types import PIG_NAMES
from physim.validate import datasets
from physim.validate.checks import LEAST_P, P_AT_LEAST, Check, mm
from physim.validate.datasets import Rolls
from physim.validate.run_checks import Validation

Json = dict[str, Any]
_RARE = ("touching", "piggyback", "off_table", "unsettled", "ambiguous")
_WIDTH = 40


def to_json(validation: Validation) -> Json:
    """Every check, and all counts with their exact 95 % intervals."""
    request = validation.request
    return {
        "physim": __version__,
        "seed": request.seed,
        "passed": validation.passed,
        "in_force": in_force(request.setup),
        "checks": [_plain(check) for check in validation.checks],
        "real": _joint(total(validation.real)) | {"heights": _heights(validation.real)},
        "samples": {
            name: _sample(name, rolls, validation) for name, rolls in validation.rolls.items()
        },
    }


def _plain(check: Check) -> Json:
    plain = asdict(check)
    if isinstance(check.limit, tuple):
        plain["limit"] = list(check.limit)
    return plain


def _sample(name: str, rolls: Rolls, validation: Validation) -> Json:
    seed = datasets.plan(name, validation.request).seed
    by_height = {"heights": _heights(rolls.by_height())} if len(rolls.heights_m) > 1 else {}
    return {"seed": seed, **_joint(rolls.joint), **by_height}


def _heights(joints: Mapping[float, Joint]) -> Json:
    return {mm(height_m): _joint(joint) for height_m, joint in joints.items()}


def _joint(joint: Joint) -> Json:
    """Frequencies of poses are of the pigs in a named one, those of the others of all rolls."""
    pigs = int(joint.pigs.sum())
    return {
        "rolls": joint.rolls,
        "pigs": pigs,
        "poses": _cells(POSE_CELLS, joint.pigs, pigs),
        "other": joint.other,
        "by_pig": {
            pig: _cells(POSE_CELLS, joint.pig(pig), int(joint.pig(pig).sum())) for pig in PIG_NAMES
        },
        "pairs": _cells(PAIR_CELLS, joint.pairs, int(joint.pairs.sum())),
        **{name: cell(getattr(joint, name), joint.rolls) for name in _RARE},
    }


def _cells(names: tuple[str, ...], counts: Any, size: int) -> Json:
    return {name: cell(count, size) for name, count in zip(names, counts.tolist(), strict=True)}


def to_text(validation: Validation) -> str:
    """The checks, the poses beside the real ones, and what was never fitted."""
    return "\n".join(line.rstrip() for line in _lines(validation))


def _lines(validation: Validation) -> Iterator[str]:
    yield from _pose_table(validation)
    if len(validation.rolls) > 1:
        yield ""
        yield from _sample_table(validation.rolls)
    yield ""
    yield f"{'check':{_WIDTH}}{'value':>10}{'limit':>17}{'p':>9}  ok"
    for check in validation.checks:
        yield _row(check)
    for check in validation.checks:
        if check.name == "height.log_likelihood_ratio":
            yield ""
            yield f"height: {check.note}"
    failed = [check.name for check in validation.checks if check.ok is False]
    tried = sum(check.ok is not None for check in validation.checks)
    if tried:
        yield ""
        yield f"{tried - len(failed)} of {tried} checks passed" + (
            f"; failed: {', '.join(failed)}" if failed else ""
        )


def _pose_table(validation: Validation) -> Iterator[str]:
    real, simulated = total(validation.real).pigs, validation.rolls[datasets.MAIN].joint.pigs
    size, real_size = int(simulated.sum()), int(real.sum())
    yield f"{size:,} simulated pigs beside {real_size:,} real ones, %"
    head = f"{'pose':18}{'real':>7}{'95 % interval':>16}{'simulated':>11}"
    yield f"{head}{'95 % interval':>16}{'diff':>8}"
    for pose, theirs, ours in zip(POSE_CELLS, real.tolist(), simulated.tolist(), strict=True):
        one, two = cell(theirs, real_size), cell(ours, size)
        line = f"{pose:18}{100 * one['frequency']:>7.2f}{_span(one):>16}"
        if size:
            line += f"{100 * two['frequency']:>11.2f}{_span(two):>16}"
            line += f"{100 * (two['frequency'] - one['frequency']):>+8.2f}"
        yield line


def _sample_table(rolls: Mapping[str, Rolls]) -> Iterator[str]:
    heads = ("dot_up", "dot_down", "trotter", "razorb.", "snouter", "jowler", "touch", "off")
    yield f"{'sample, %':18}" + "".join(f"{head:>9}" for head in heads)
    for name, sample in rolls.items():
        joint = sample.joint
        pigs = int(joint.pigs.sum())
        shares = [count / max(pigs, 1) for count in joint.pigs.tolist()]
        shares += [joint.touching / joint.rolls, joint.off_table / joint.rolls]
        yield f"{name:18}" + "".join(f"{100 * share:>9.2f}" for share in shares)


def _row(check: Check) -> str:
    value = "-" if check.value is None else f"{check.value:.4g}"
    limit, p = _limit(check), ""
    if check.p is not None:
        drawn = check.detail.get("p_method") == MONTE_CARLO
        least = drawn and check.p <= LEAST_MONTE_CARLO_P
        p = f"{'<=' if least else ''}{check.p:.3g}"
    ok = {True: "yes", False: "NO", None: ""}[check.ok]
    return f"{check.name:{_WIDTH}}{value:>10}{limit:>17}{p:>9}  {ok}"


def _limit(check: Check) -> str:
    if check.limit is None:
        return ""
    if isinstance(check.limit, tuple):
        return f"{check.limit[0]:.4f} to {check.limit[1]:.4f}"
    if check.rule == P_AT_LEAST:
        return f"p >= {LEAST_P:g}"
    return f"<= {check.limit:g}"


def _span(shown: Json) -> str:
    return f"{100 * shown['low']:.2f} - {100 * shown['high']:.2f}"


def in_force(setup: Setup) -> Json:
    """The constants by name and a hash of them, and one of the source that uses them."""
    return {
        "classifier": _entry(
            {"lying_deg": classify.LYING_DEG, "clear_scale_m": classify.CLEAR_SCALE_M}, classify
        ),
        "tolerances": _entry(
            {"table_gap_m": classify.TABLE_GAP_M, "touch_gap_m": classify.TOUCH_GAP_M}, classify
        ),
        "rest_criterion": _entry(asdict(setup.criterion), state),
        "certainty": _entry(
            {
                "margin": bounds.MARGIN,
                "reach_factor": bounds.REACH_FACTOR,
                "reach_least_m": bounds.REACH_LEAST_M,
            },
            bounds,
        ),
    }


def _entry(constants: Json, module: ModuleType) -> Json:
    text = json.dumps(constants, sort_keys=True)
    return {
        "constants": constants,
        "constants_sha256": hashlib.sha256(text.encode()).hexdigest(),
        "source": module.__name__,
        "source_sha256": hashlib.sha256(inspect.getsource(module).encode()).hexdigest(),
    }
