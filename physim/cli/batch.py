"""`physim batch`: many rolls into a dataset folder."""

from __future__ import annotations

import sys
from contextlib import closing
from pathlib import Path
from typing import Any

import click

from physim.cli.options import file_path, printed, setup_options, whole_number, workers_option
from physim.cli.output import resumable, say
from physim.config import MAX_ROLLS, PYBULLET

_MANY = 100_000  # rolls for which another engine is worth a word


@click.command()
@click.argument("n", metavar="N", type=whole_number(1, MAX_ROLLS))
@click.option("--out", type=file_path, metavar="DIR", help="The dataset folder.")
@workers_option
@click.option(
    "--dask",
    metavar="ADDRESS",
    help="Roll on the workers of the Dask scheduler there (tcp://host:8786).",
)
@click.option(
    "--chunk-size",
    type=whole_number(1, MAX_ROLLS),
    metavar="C",
    help="Rolls a file; without it 200, more for millions. A folder keeps what it began with.",
)
@click.option("--counts-only", is_flag=True, help="Keep no rolls, only what they add up to.")
@click.option(
    "--mixed-platforms",
    is_flag=True,
    help="Go on although rolls come out with other bits here than in the folder.",
)
@setup_options
@printed
def batch(
    *,
    n: int,
    out: Path | None,
    workers: int | None,
    dask: str | None,
    chunk_size: int | None,
    counts_only: bool,
    mixed_platforms: bool,
    **names: Any,
) -> tuple[Any, str]:
    """Make the rolls 0 to N - 1 of a seed and keep them in a dataset folder.

    Parquet files and a manifest. The same command again continues where it was stopped; a larger N
    extends the dataset. `physim stats DIR` counts it.
    """
    if out is None and not counts_only:
        raise click.UsageError("give a dataset folder with --out DIR, or --counts-only")
    from physim.dataset.progress import ProgressLine

    with closing(ProgressLine(sys.stderr)) as line:
        line.begin("loading models and workers ...")
        from physim.dataset.plan import PRELOAD, BatchPlan
        from physim.dataset.workers import begin, cores

        # What takes longest, first: elsewhere if there are to be worker processes, else here.
        if dask is None and min(n, workers or cores()) > 1:
            begin(PRELOAD)
        elif dask is None:
            from physim.dataset import preload  # noqa: F401
        from physim.dataset.run import run_batch

        plan = BatchPlan(n=n, chunk_size=chunk_size, **names)
        if plan.engine == PYBULLET and n >= _MANY:
            line.close()
            say(f"physim: {n:,} rolls; `--engine compiled` makes them in some third of the time")
        with resumable(out):
            result = run_batch(
                plan,
                out,
                workers=workers,
                dask=dask,
                counts_only=counts_only,
                mixed_platforms=mixed_platforms,
                progress=line,
            )
    plain: dict[str, Any] = {
        "out": str(out) if out else None,
        "rolls": n,
        "new_rolls": result.new_rolls,
    }
    if not counts_only:
        return plain, f"{out}: {n:,} rolls, {result.new_rolls:,} of them new"
    from physim.statistics.report import to_json, to_text

    same = (plan.black or plan.model) == (plan.pink or plan.model)
    plain["counts"] = to_json(result.counts, same_model=same)
    return plain, to_text(result.counts, same_model=same)
