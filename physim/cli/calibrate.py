"""`physim calibrate`: fits parameters to counts of real rolls."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import click

from physim.cli.options import SEED, file_path, json_option, listed, whole_number
from physim.cli.output import clean_stdout, print_json, say
from physim.errors import PhysimError

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
    help="Of the search: far and rough, or near and sparing.",
)
@click.option(
    "--samples",
    type=file_path,
    multiple=True,
    metavar="DIR",
    help="An earlier fit whose samples the method surface uses too; may be given again.",
)
@click.option(
    "--seed", type=SEED, default=0, show_default=True, metavar="S", help="Fixes the whole fit."
)
@click.option(
    "--generations",
    type=whole_number(0, 100_000),
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
@click.option("--half", type=click.Choice(["1", "2"]), help="Fit this half of the real rolls.")
@click.option("--by-pig", is_flag=True, help="Compare each of the two pigs apart.")
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
    half: str | None,
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
        from physim.calibrate.export import fit_text, list_text, list_values, summary
        from physim.calibrate.fit_plan import FitPlan
        from physim.calibrate.priors import known_parameters
        from physim.dataset.manifest import only_writer
        from physim.dataset.plan import PRELOAD
        from physim.dataset.progress import ProgressLine
        from physim.dataset.workers import begin, cores

        if parameters is not None:
            names["parameters"] = listed(parameters)
        plan = FitPlan(half=None if half is None else int(half), **names)
        if out is None or listing:
            known = known_parameters(plan.base)
            if as_json:
                print_json({"parameters": list_values(known)}, stdout)
            else:
                stdout.write(list_text(known) + "\n")
            return
        count = workers or cores()
        if count > 1:
            begin(PRELOAD)
        plan.problem  # noqa: B018  # what is wrong with it is said before a folder is made
        line = _Lines(ProgressLine)
        try:
            with only_writer(out):
                fit, problem = plan.run(
                    out, count, progress=line.progress, tell=line.tell, steps=line.steps
                )
        except KeyboardInterrupt as stop:
            line.close()
            raise type(stop)(
                f"interrupted; what was finished is kept in {out}: run the same command to go on"
            ) from None
        except PhysimError:
            line.close()
            raise
        line.close()
        if as_json:
            print_json({"out": str(out), **summary(fit, problem)}, stdout)
        else:
            stdout.write(fit_text(fit, problem, out) + "\n")


class _Lines:
    """Progress of one generation after another, each with a line of its own at its end."""

    def __init__(self, kind: Any) -> None:
        self._kind = kind
        self._line = kind(sys.stderr)

    def progress(self, done: int, total: int, things: str = "rolls") -> None:
        if not done:
            self.close()
            self._line = self._kind(sys.stderr, things)
        self._line(done, total)

    def steps(self, done: int, total: int) -> None:
        self.progress(done, total, "steps")

    def tell(self, text: str) -> None:
        self.close()
        self._line = self._kind(sys.stderr)
        say(text)

    def close(self) -> None:
        self._line.close()
