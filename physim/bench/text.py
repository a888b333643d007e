"""The race as JSON values, with public names, and as a table."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from physim.bench.race import Row
from physim.statistics.summary import summarize
from physim.values import Pose, Status


def to_json(rows: Sequence[Row]) -> list[dict[str, Any]]:
    """The rows, with `poses` as `physim stats --json` has them."""
    return [_row(row) for row in rows]


def _row(row: Row) -> dict[str, Any]:
    summary = summarize(row.counts)
    ratio = row.ratio or (None, None, None)
    return {
        "name": row.name,
        "rolls_per_second": row.rolls_per_second,
        "time_step_s": row.time_step_s,
        "simulated_s": row.simulated_s,
        **dict(zip(("ratio", "ratio_low", "ratio_high"), ratio, strict=True)),
        "rolls": row.counts.rolls,
        "poses": summary["poses"],
        "statuses": summary["statuses"],
        "touching": row.counts.touching,
        "to_physim_full": None if row.to_full is None else asdict(row.to_full),
    }


def to_text(rows: Sequence[Row]) -> str:
    """Two tables: speeds and distances, and frequencies."""
    lines = [
        f"{'':15}{'rolls/s':>9}{'x plain':>9}{'(rounds)':>15}{'s a roll':>10}"
        f"{'TV to full':>12}{'by chance':>11}{'p':>9}"
    ]
    for row in rows:
        ratio = spread = tv = chance = p = ""
        if row.ratio is not None:
            ratio, spread = f"{row.ratio[0]:.2f}", f"{row.ratio[1]:.2f} to {row.ratio[2]:.2f}"
        if row.to_full is not None:
            tv, chance = f"{row.to_full.tv:.4f}", f"{row.to_full.expected_tv:.4f}"
            p = f"{row.to_full.p:.2g}"
        lines.append(
            f"{row.name:15}{row.rolls_per_second:>9.1f}{ratio:>9}{spread:>15}"
            f"{row.simulated_s:>10.3f}{tv:>12}{chance:>11}{p:>9}"
        )
    lines += ["", "pigs by pose, % with standard error:"]
    lines.append(f"{'':15}" + "".join(f"{pose.value:>16}" for pose in Pose))
    lines += [_frequencies(row) for row in rows]
    odd = [
        f"{row.name} {row.counts.statuses[status]} {status.value}"
        for row in rows
        for status in (Status.UNSETTLED, Status.OFF_TABLE)
        if row.counts.statuses[status]
    ]
    if odd:
        lines += ["", "rolls not counted: " + ", ".join(odd)]
    return "\n".join(lines)


def _frequencies(row: Row) -> str:
    cells = []
    pigs = max(row.counts.pigs, 1)
    for pose in Pose:
        share = row.counts.poses[pose] / pigs
        error = math.sqrt(share * (1.0 - share) / pigs)
        cells.append(f"{100 * share:.2f} ±{100 * error:.2f}".rjust(16))
    return f"{row.name:15}" + "".join(cells)
