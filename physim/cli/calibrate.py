"""`physim calibrate`: fits parameters to counts of real rolls."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from physim.cli.options import (
    file_path,
    listed,
    printed,
    seed_option,
    stacked,
    whole_number,
    workers_option,
)
from physim.cli.output import resumable, say

if TYPE_CHECKING:
    from physim.calibrate.fit import Fit
    from physim.calibrate.problem import FitProblem

_COUNT = whole_number(2, 10**8)
_SEARCH = stacked(
    click.option(
        "--start",
        default="model",
        metavar="WHERE",
        help="model, prior, random, quasi-static, or the result of an earlier fit.",
    ),
    click.option(
        "--method",
        type=click.Choice(["cma", "surface"]),
        default="cma",
        help="Search method: cma explores globally; surface needs fewer rolls near the optimum. "
        "Only surface reports posterior intervals.",
    ),
    seed_option,
    click.option(
        "--generations",
        type=whole_number(1, 100_000),
        metavar="G",
        help="The most that the search runs (30 with cma, 5 with surface). A larger G "
        "continues a fit.",
    ),
    click.option(
        "--rolls",
        type=_COUNT,
        default=400,
        metavar="N",
        help="Of each candidate in the first generation; 15 % more in each that follows.",
    ),
    click.option(
        "--population", type=whole_number(4, 10_000), metavar="P", help="Candidates per generation."
    ),
    click.option(
        "--final-rolls",
        type=_COUNT,
        default=20_000,
        metavar="N",
        help="Of the estimate, after the search, and of each refinement.",
    ),
    click.option(
        "--refine",
        "refinements",
        type=whole_number(0, 1000),
        metavar="N",
        help="Refinements: the estimate moves to the optimum of all samples and is rolled again "
        "(surface only, once by default).",
    ),
    click.option(
        "--widen",
        "waves",
        type=whole_number(0, 1000),
        metavar="N",
        help="Waves: candidates drawn from the posterior are rolled, which makes it more accurate "
        "(surface only, once by default).",
    ),
)


@click.command()
@click.option("--out", type=file_path, metavar="DIR", help="Folder of checkpoint and result.")
@click.option(
    "--parameters",
    metavar="A,B,C",
    help="Those to fit, separated by commas. Without it, mass distribution, contact and release.",
)
@click.option("--list", "listing", is_flag=True, help="List the parameters with their bounds.")
@_SEARCH
@click.option(
    "--table",
    default="kern2006_pairs",
    metavar="NAME|CSV",
    help="Counts of real two-pig rolls by height: a table, or a CSV of your own.",
)
@click.option(
    "--model",
    default="standard_before_fit",
    metavar="NAME|FOLDER",
    help="Pig to start from; the priors of its shape are centred on it.",
)
@click.option(
    "--toss",
    default="trapdoor_before_fit",
    metavar="NAME|FILE",
    help="Toss to start from, or its YAML file; its heights must be those of the real rolls.",
)
@workers_option
@printed
def calibrate(
    *, out: Path | None, parameters: str | None, listing: bool, workers: int | None, **names: Any
) -> tuple[Any, str]:
    """Fit parameters to the frequencies of real rolls, and write the fitted pig and toss.

    The same command again continues where it was stopped. Needs the extra `calibrate`.
    """
    if out is None and not listing:
        raise click.UsageError("give a folder with --out DIR (or --list)")
    from physim.calibrate import export
    from physim.calibrate.priors import known_parameters
    from physim.calibrate.problem import FitProblem
    from physim.dataset.plan import PRELOAD
    from physim.dataset.workers import begin, cores
    from physim.simulator import Setup

    if out is None or listing:
        known = known_parameters(Setup.named(names["model"], toss=names["toss"]))
        return {"parameters": export.list_values(known)}, export.list_text(known)
    if parameters is not None:
        names["parameters"] = listed(parameters)
    count = workers or cores()
    if count > 1:
        begin(PRELOAD)
    problem = FitProblem.named(**names)  # what is wrong with it is said before a folder is made
    found = make_fit(problem, out, count)
    plain = {"out": str(out), **export.summary(found, problem)}
    return plain, export.fit_text(found, problem, out)


def make_fit(problem: FitProblem, out: Path, workers: int, **how: Any) -> Fit:
    """Makes the fit into its folder, or goes on with it."""
    from physim.calibrate import export, fit
    from physim.calibrate.evaluate import Evaluator
    from physim.calibrate.problem import SURFACE
    from physim.dataset.manifest import only_writer
    from physim.dataset.progress import ProgressLine

    line = ProgressLine(sys.stderr)

    def progress(done: int, total: int, things: str) -> None:
        if not done:
            line.restart(things)
        line(done, total)

    def tell(text: str) -> None:
        line.restart()
        say(text)

    with resumable(out), only_writer(out), Evaluator(problem.base, workers, **how) as evaluator:
        try:
            found = fit.run(problem, evaluator, out, progress=progress, tell=tell)
            if problem.method == SURFACE:
                found = found.with_posterior(problem, progress, tell)
        finally:
            line.close()
        export.write_result(out, found, problem)
    return found
