"""`physim calibrate`: fits parameters to counts of real rolls."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

import click

from physim.cli.options import SEED, file_path, json_option, listed, whole_number
from physim.cli.output import clean_stdout, print_json, say

if TYPE_CHECKING:
    from physim.calibrate.fit import Fit
    from physim.calibrate.problem import FitProblem

MAX_ROLLS, MAX_WORKERS = 10**8, 1024


@click.command()
@click.option("--out", type=file_path, metavar="DIR", help="Folder of checkpoint and result.")
@click.option(
    "--parameters",
    metavar="A,B,C",
    help="Those to fit, separated by commas. Without it, mass distribution, contact and release.",
)
@click.option("--list", "listing", is_flag=True, help="List the parameters with their bounds.")
@click.option(
    "--start",
    default="model",
    show_default=True,
    metavar="WHERE",
    help="model, prior, random, quasi-static, or the result of an earlier fit.",
)
@click.option(
    "--method",
    type=click.Choice(["cma", "surface"]),
    default="cma",
    show_default=True,
    help="Search method: cma explores globally; surface needs fewer rolls near the optimum.",
)
@click.option(
    "--seed", type=SEED, default=0, show_default=True, metavar="S", help="Fixes the whole fit."
)
@click.option(
    "--generations",
    type=whole_number(1, 100_000),
    metavar="G",
    help="Of the search, at most (30 with cma, 5 with surface). More of them go on with a fit.",
)
@click.option(
    "--rolls",
    type=whole_number(2, MAX_ROLLS),
    default=400,
    show_default=True,
    metavar="N",
    help="A candidate, in the first generation; 15 % more in each that follows.",
)
@click.option(
    "--population", type=whole_number(4, 10_000), metavar="P", help="Candidates a generation."
)
@click.option(
    "--final-rolls",
    type=whole_number(2, MAX_ROLLS),
    default=20_000,
    show_default=True,
    metavar="N",
    help="Of the estimate, after the search, and of each refinement.",
)
@click.option(
    "--refine",
    "refinements",
    type=whole_number(0, 1000),
    metavar="N",
    help="Times that the estimate of surfaces moves to where all samples say (1 with surface).",
)
@click.option(
    "--widen",
    "waves",
    type=whole_number(0, 1000),
    metavar="N",
    help="Waves of candidates drawn from the posterior, to tell it better (1 with surface).",
)
@click.option(
    "--table",
    default="kern2006_pairs",
    show_default=True,
    metavar="NAME|CSV",
    help="Counts of real two-pig rolls by height.",
)
@click.option(
    "--model",
    default="standard_before_fit",
    show_default=True,
    metavar="NAME|FOLDER",
    help="To set out from; priors of its shape stand around it.",
)
@click.option(
    "--toss",
    default="trapdoor_before_fit",
    show_default=True,
    metavar="NAME",
    help="To set out from.",
)
@click.option(
    "--workers",
    type=whole_number(1, MAX_WORKERS),
    metavar="W",
    help="Worker processes. Without it, one a core. The fit does not depend on it.",
)
@json_option
def calibrate(
    *,
    out: Path | None,
    parameters: str | None,
    listing: bool,
    workers: int | None,
    as_json: bool,
    **names: Any,
) -> None:
    """Fit parameters to the frequencies of real rolls, and write the fitted pig and toss.

    The same command again goes on where it was stopped. Needs the extra `calibrate`.
    """
    if out is None and not listing:
        raise click.UsageError("give a folder with --out DIR (or --list)")
    with clean_stdout() as stdout:
        from physim.calibrate import export
        from physim.calibrate.priors import known_parameters
        from physim.calibrate.problem import FitProblem
        from physim.dataset.plan import PRELOAD
        from physim.dataset.workers import begin, cores
        from physim.simulator import Setup

        if out is None or listing:
            known = known_parameters(Setup.named(names["model"], toss=names["toss"]))
            if as_json:
                print_json({"parameters": export.list_values(known)}, stdout)
            else:
                stdout.write(export.list_text(known) + "\n")
            return
        if parameters is not None:
            names["parameters"] = listed(parameters)
        count = workers or cores()
        if count > 1:
            begin(PRELOAD)
        problem = FitProblem.named(**names)  # what is wrong with it is said before a folder is made
        make_fit(problem, out, count, stdout, as_json=as_json)


def make_fit(
    problem: FitProblem, out: Path, workers: int, stdout: TextIO, *, as_json: bool, **how: Any
) -> Fit:
    """Makes the fit into its folder, or goes on with it, and prints the result."""
    from physim.calibrate import export, fit
    from physim.calibrate.evaluate import Evaluator
    from physim.calibrate.problem import SURFACE
    from physim.dataset.manifest import only_writer

    with (
        only_writer(out),
        _Lines(out) as line,
        Evaluator(problem.base, workers, **how) as evaluator,
    ):
        found = fit.run(problem, evaluator, out, progress=line.progress, tell=line.tell)
        if problem.method == SURFACE:
            found = found.with_posterior(problem, line.progress, line.tell)
        export.write_result(out, found, problem)
    if as_json:
        print_json({"out": str(out), **export.summary(found, problem)}, stdout)
    else:
        stdout.write(export.fit_text(found, problem, out) + "\n")
    return found


class _Lines:
    """Progress of one generation after another, each with a line of its own at its end."""

    def __init__(self, out: Path) -> None:
        from physim.dataset.progress import ProgressLine

        self._out, self._kind = out, ProgressLine
        self._line = ProgressLine(sys.stderr)

    def __enter__(self) -> _Lines:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: object, trace: object) -> None:
        self._line.close()
        if kind is not None and issubclass(kind, KeyboardInterrupt):
            raise kind(
                f"interrupted; what was finished is kept in {self._out}: run the same command to "
                "go on"
            ) from None

    def progress(self, done: int, total: int, things: str) -> None:
        if not done:
            self._line.close()
            self._line = self._kind(sys.stderr, things)
        self._line(done, total)

    def tell(self, text: str) -> None:
        self._line.close()
        self._line = self._kind(sys.stderr)
        say(text)
