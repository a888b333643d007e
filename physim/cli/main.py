"""`physim`: the group of commands, and how every failure is told.

A command's function imports what it needs when it runs, so that `physim --help` and
`physim score` need neither physics nor meshes.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

import click

from physim import __version__
from physim.cli.batch import batch
from physim.cli.model import model
from physim.cli.render import render
from physim.cli.roll import roll
from physim.cli.score import score
from physim.cli.stats import stats
from physim.errors import PhysimError

BAD_INPUT, INTERRUPTED = 2, 130


@click.group(
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.version_option(__version__, prog_name="physim")
@click.pass_context
def cli(context: click.Context) -> None:
    """Throw two pigs, with physics."""
    if context.invoked_subcommand is None:
        click.echo(context.get_help())


for _command in (roll, batch, stats, score, render, model):
    cli.add_command(_command)


def main(arguments: Sequence[str] | None = None) -> None:
    """Runs the command line and exits: 0, 2 with one message on stderr, or 130 on Ctrl-C."""
    try:
        sys.exit(_run(arguments))
    except click.exceptions.Exit as done:
        sys.exit(done.exit_code)


def _run(arguments: Sequence[str] | None) -> int:
    try:
        given = sys.argv[1:] if arguments is None else list(arguments)
        with cli.make_context("physim", given) as context:  # `cli.main` would exit 1 after `| head`
            cli.invoke(context)
        sys.stdout.flush()
        return 0
    except click.ClickException as error:
        return _complain(_usage_text(error))
    except PhysimError as error:
        return _complain(str(error))
    except (KeyboardInterrupt, click.Abort):
        click.echo("physim: interrupted", err=True)
        return INTERRUPTED
    except BrokenPipeError:
        _drop_stdout()
        return 0  # `| head` has seen what it wanted
    except OSError as error:
        _drop_stdout()
        place = f"{error.filename}: " if error.filename else ""
        return _complain(f"{place}{error.strerror or error}")


def _complain(text: str) -> int:
    click.echo("physim: " + " ".join(text.split()), err=True)
    return BAD_INPUT


def _usage_text(error: click.ClickException) -> str:
    text = error.format_message()
    if isinstance(error, click.NoSuchOption) and error.option_name[1:2].isdigit():
        text = f"{error.option_name}: a count must be 1 or more"
    if isinstance(error, click.UsageError) and error.ctx is not None:
        text += f" (see `{error.ctx.command_path} --help`)"
    return text


def _drop_stdout() -> None:
    """What is still buffered for a closed or full stdout must not fail again at exit."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    os.close(nowhere)
