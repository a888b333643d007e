"""`physim watch`: the window."""

from __future__ import annotations

import sys
from contextlib import closing
from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource

from physim.cli.options import SEED, file_path, setup_options, whole_number

_SIZE = whole_number(200, 4096)


@click.command()
@click.option("--run", metavar="DIR", type=file_path, help="The rolls of this dataset.")
@click.option("--index", type=SEED, default=0, show_default=True, help="Index of the first roll.")
@click.option("--width", type=_SIZE, default=1200, show_default=True, help="Pixels.")
@click.option("--height", type=_SIZE, default=800, show_default=True, help="Pixels.")
@setup_options
def watch(run: Path | None, index: int, width: int, height: int, **names: Any) -> None:
    """Watch rolls in a window.

    The rolls are those of --seed from --index on, as `physim roll` makes them, or of a dataset
    with --run. Keys are listed in the window; what it shows never changes a roll.
    """
    context = click.get_current_context()
    if run is not None:
        for parameter in context.command.params:
            source = context.get_parameter_source(parameter.name or "")
            if parameter.name in names and source is ParameterSource.COMMANDLINE:
                raise click.UsageError(
                    f"{parameter.opts[0]} does not go with --run, which shows the rolls of a "
                    "dataset; leave out one of them",
                    context,
                )
    from physim.batch.progress import ProgressLine
    from physim.view.watch import watch as open_window

    with closing(ProgressLine(sys.stderr)) as line:
        line.begin("opening the window; without a graphics card its first roll takes a while ...")
    open_window(names, index, run, width, height)
