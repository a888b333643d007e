"""`physim render`: pictures without a display."""

from __future__ import annotations

import errno
import os
from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource

from physim.arguments import shown_name
from physim.cli.options import SEED, file_path, setup_options, whole_number
from physim.errors import ConfigError

_SUFFIXES = (".png", ".jpg", ".jpeg", ".webp")
_SIZE = whole_number(32, 4096)


@click.command()
@click.option(
    "--out",
    required=True,
    metavar="FILE",
    type=file_path,
    help="The picture to write: .png, .jpg or .webp.",
)
@click.option(
    "--sheet",
    metavar="DIR",
    type=file_path,
    help="A contact sheet of the six poses in this dataset, in place of one roll.",
)
@click.option("--index", type=SEED, default=0, show_default=True, help="Index of the roll.")
@click.option("--width", type=_SIZE, default=960, show_default=True, help="Pixels.")
@click.option("--height", type=_SIZE, default=540, show_default=True, help="Pixels.")
@setup_options
def render(
    out: Path, sheet: Path | None, index: int, width: int, height: int, **names: Any
) -> None:
    """Draw how a roll ended, or the six poses of a dataset.

    The roll is that of --seed and --index, as `physim roll` makes it.
    """
    if out.suffix.lower() not in _SUFFIXES:
        raise ConfigError(f"{shown_name(out)}: the name must end in one of {', '.join(_SUFFIXES)}")
    if sheet is not None:
        _refuse_options_of_a_roll()
    part = _claim(out)
    try:  # a full disk leaves no half of a picture
        if sheet is not None:
            from physim.view.poses import pose_sheet

            picture = pose_sheet(sheet)
        else:
            from physim.batch.plan import BatchPlan
            from physim.view.roll import roll_picture

            picture = roll_picture(BatchPlan(n=1, **names), index, width, height)
        try:
            picture.save(part)
            part.replace(out)
        except OSError as error:
            raise _unwritable(out, error) from error
    finally:
        part.unlink(missing_ok=True)
    click.echo(str(out))


def _refuse_options_of_a_roll() -> None:
    """A contact sheet shows what is in its dataset; other options would be ignored."""
    context = click.get_current_context()
    for parameter in context.command.params:
        given = context.get_parameter_source(parameter.name or "")
        if parameter.name not in ("out", "sheet") and given is ParameterSource.COMMANDLINE:
            raise click.UsageError(
                f"{parameter.opts[0]} does not go with --sheet, which draws the rolls of its "
                "dataset; leave out one of them",
                context,
            )


def _claim(out: Path) -> Path:
    """An empty file beside the picture-to-be: what cannot be written is told before drawing."""
    part = out.with_name(f".{out.name}.part{out.suffix}")
    try:
        if out.is_dir():
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
        part.touch()
    except OSError as error:
        raise _unwritable(out, error) from error
    return part


def _unwritable(out: Path, error: OSError) -> ConfigError:
    return ConfigError(
        f"{shown_name(out)}: cannot be written ({error.strerror or error}); name a file in a "
        "folder that is there, may be written to and has room"
    )
