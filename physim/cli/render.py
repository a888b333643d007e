"""`physim render`: pictures without a display."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from physim.cli.options import SEED, setup_options
from physim.errors import ConfigError

_SUFFIXES = (".png", ".jpg", ".jpeg", ".webp")
_SIZE = click.IntRange(32, 4096)


@click.command()
@click.option(
    "--out",
    required=True,
    metavar="FILE",
    type=click.Path(dir_okay=False, path_type=Path),
    help="The picture to write: .png, .jpg or .webp.",
)
@click.option(
    "--sheet",
    metavar="DIR",
    type=click.Path(path_type=Path),
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
        raise ConfigError(f"{out}: the name must end in one of {', '.join(_SUFFIXES)}")
    if not out.parent.is_dir():
        raise ConfigError(f"{out.parent}: no such folder; make it first")
    if sheet is not None:
        from physim.view.poses import pose_sheet

        picture = pose_sheet(sheet)
    else:
        from physim.batch.plan import BatchPlan
        from physim.view.roll import roll_picture

        picture = roll_picture(BatchPlan(n=1, **names), index, width, height)
    part = out.with_name(f".{out.name}.part{out.suffix}")
    try:  # a full disk leaves no half of a picture
        picture.save(part)
        part.replace(out)
    finally:
        part.unlink(missing_ok=True)
    click.echo(str(out))
