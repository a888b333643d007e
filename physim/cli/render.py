"""`physim render`: pictures and films without a display."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from physim.cli.options import (
    decimal_number,
    file_path,
    given_options,
    index_option,
    setup_options,
    whole_number,
)
from physim.errors import ConfigError, shown_name
from physim.files import replaced, told
from physim.types import PIG_NAMES

if TYPE_CHECKING:
    from PIL import Image as Pillow

    from physim.render.replay import ReplaySource

_STILLS = {".png": "PNG", ".jpg": "JPEG", ".jpeg": "JPEG", ".webp": "WEBP"}
_FILMS = {".gif": 20, ".mp4": 30, ".glb": 30}  # frames a second; a GIF's last hundredths of one
_SIZE = whole_number(32, 4096)
_MOST_ROLLS = 48  # of one sheet
_GIF_FPS = 50  # a frame of two hundredths of a second is the shortest that every viewer shows
_GIF_PIXELS = 3 * 10**8  # of all frames, which are held in memory with 4 bytes a pixel
_STILL = ("sheet", "outcomes", "rests", "count", "views", "contacts", "pig", "no_label")
_FILM, _PIXELS = ("fps", "speed"), ("width", "height")
# What makes a picture of what is there already goes with nothing but --out and these.
_TAKES: dict[str, tuple[str, ...]] = {
    "sheet": (),
    "outcomes": (),
    "rests": ("model",),
    "run": ("index", *_STILL[3:], *_FILM, *_PIXELS),
}
_CLASHES = {
    "count": ("views", "contacts", "pig", "no_label", *_PIXELS),
    "contacts": ("views", "pig", "no_label"),
    "pig": ("views",),
}


@click.command()
@click.option(
    "--out",
    required=True,
    metavar="FILE",
    type=file_path,
    help="What to write: a picture (.png, .jpg, .webp), a film (.gif, .mp4) or a scene (.glb).",
)
@click.option("--run", metavar="DIR", type=file_path, help="A roll of this dataset, by --index.")
@click.option(
    "--sheet",
    metavar="DIR",
    type=file_path,
    help="A contact sheet of the six poses in this dataset, in place of one roll.",
)
@click.option(
    "--outcomes",
    metavar="DIR",
    type=file_path,
    help="A contact sheet of the outcomes in this dataset.",
)
@click.option("--rests", is_flag=True, help="A contact sheet of how --model can lie.")
@index_option
@click.option(
    "-n",
    "count",
    type=whole_number(1, _MOST_ROLLS),
    default=1,
    help="A contact sheet of so many rolls, from --index on.",
)
@click.option("--views", type=click.Choice(["1", "4"]), default="1", help="Of a roll.")
@click.option("--contacts", is_flag=True, help="Mark what the poses were read from.")
@click.option("--pig", type=click.Choice(PIG_NAMES), help="Only this one of a roll.")
@click.option("--no-label", is_flag=True, help="Leave away what the roll came to.")
@click.option(
    "--fps", type=whole_number(1, 120), metavar="N", help="Frames a second; GIF 20, MP4 30."
)
@click.option(
    "--speed",
    type=decimal_number(0.01, 100.0),
    default=1.0,
    metavar="X",
    help="Of a film: 0.25 is slow motion.",
)
@click.option("--width", type=_SIZE, metavar="PIXELS", help="960; of a film, 480.")
@click.option("--height", type=_SIZE, metavar="PIXELS", help="540; of a film, 360.")
@setup_options
def render(out: Path, **given: Any) -> None:
    """Draw a roll: how it ended, a film of it, or a scene for Blender and web viewers.

    The roll is that of --seed and --index, as `physim roll` makes it, or of a dataset with
    --run. --sheet, --outcomes, --rests and -n make contact sheets.
    """
    from physim.dataset.progress import ProgressLine

    suffix = out.suffix.lower()
    if suffix not in _STILLS and suffix not in _FILMS:
        endings = ", ".join((*_STILLS, *_FILMS))
        raise ConfigError(f"{shown_name(out)}: the name must end in one of {endings}")
    _refuse_what_would_be_ignored(suffix)
    if suffix == ".mp4":
        from physim.render.film import require_encoder

        require_encoder()
    what = f"{shown_name(out)}: cannot be written"
    remedy = "name a file in a folder that is there, may be written to and has room"
    with (
        closing(ProgressLine(sys.stderr, "frames" if suffix in _FILMS else "pictures")) as progress,
        told(ConfigError, what, remedy),
        replaced(out) as part,  # refused before anything is drawn
    ):
        if suffix in _FILMS:
            _write_film(part, suffix, given, progress)
        else:
            _still(given, progress).save(part, format=_STILLS[suffix])
    click.echo(str(out))


def _still(given: dict[str, Any], progress: Callable[[int, int], None]) -> Pillow.Image:
    """The picture that was asked for."""
    from physim.render import gallery, pictures
    from physim.render.pictures import pose_overlay

    if given["sheet"] is not None:
        return gallery.pose_sheet(given["sheet"], progress)
    if given["outcomes"] is not None:
        return gallery.outcome_sheet(given["outcomes"], progress)
    if given["rests"]:
        return gallery.rest_sheet(given["model"], progress=progress)
    size, label = (given["width"] or 960, given["height"] or 540), not given["no_label"]
    with _source(given) as source:
        if given["count"] > 1:
            return gallery.rolls_sheet(source, given["index"], given["count"], progress)
        replay = source.replay(given["index"])
    if given["contacts"]:
        return pose_overlay(replay, *size)
    if given["views"] == "4":
        return pictures.four_views(replay, *size, label)
    return pictures.roll_picture(replay, *size, given["pig"], label)


def _write_film(
    path: Path, suffix: str, given: dict[str, Any], progress: Callable[[int, int], None]
) -> None:
    """Writes the film that was asked for."""
    from physim.render import film

    with _source(given) as source:
        replay = source.replay(given["index"])
    if suffix == ".glb":
        path.write_bytes(film.glb(replay, given["speed"]))
        return
    fps = float(given["fps"] or _FILMS[suffix])
    plan = film.FilmPlan(given["width"] or 480, given["height"] or 360, fps, given["speed"])
    total = len(plan.times_s(replay.ends_s))
    if suffix == ".gif" and total * plan.width * plan.height > _GIF_PIXELS:
        raise ConfigError(
            f"{total:,} frames of {plan.width} x {plan.height} pixels are too many for a .gif; "
            "take a smaller picture, fewer frames a second or more speed, or name an .mp4"
        )

    def shown() -> Iterator[Pillow.Image]:
        for number, frame in enumerate(film.frames(replay, plan)):
            progress(number, total)
            yield frame
        progress(total, total)

    write = film.write_gif if suffix == ".gif" else film.write_mp4
    write(path, shown(), plan.frames_per_s, plan.held)


def _source(given: dict[str, Any]) -> ReplaySource:
    from physim.dataset.plan import BatchPlan
    from physim.render.replay import DatasetReplaySource, ReplaySource

    if given["run"] is not None:
        return DatasetReplaySource(given["run"])
    names = ("seed", "model", "black", "pink", "toss", "height_mm", "surface", "time_step_s")
    return ReplaySource(BatchPlan(n=1, **{name: given[name] for name in names}))


def _refuse_what_would_be_ignored(suffix: str) -> None:
    """A picture of a dataset shows what is in it; an option that changes nothing is refused."""
    context, given = click.get_current_context(), given_options()
    refused: tuple[str, ...] = _FILM if suffix in _STILLS else _STILL
    if suffix == ".glb":
        refused += ("fps", *_PIXELS)
    for name, option in given.items():
        if name in refused:
            raise click.UsageError(f"{option} does not go with a {suffix} file", context)
        takes = ("out", name, *_TAKES.get(name, given))
        for other, its_option in given.items():
            if other in _CLASHES.get(name, ()) or other not in takes:
                raise click.UsageError(
                    f"{its_option} does not go with {option}; leave out one of them", context
                )
    if suffix == ".gif" and (context.params["fps"] or 0) > _GIF_FPS:
        raise click.UsageError(f"a .gif shows at most {_GIF_FPS} frames a second", context)
