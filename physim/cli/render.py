"""`physim render`: pictures and films without a display."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from physim.cli.options import SEED, decimal_number, file_path, setup_options, whole_number
from physim.errors import ConfigError, shown_name
from physim.files import replaced, told
from physim.types import PIG_NAMES

if TYPE_CHECKING:
    from PIL import Image as Pillow

    from physim.render.replay import Theatre

_FORMATS = {".png": "PNG", ".jpg": "JPEG", ".jpeg": "JPEG", ".webp": "WEBP"}
_STILLS = tuple(_FORMATS)
_FILMS = (".gif", ".mp4", ".glb")
_SIZE = whole_number(32, 4096)
_FRAMES_PER_S = {".gif": 20, ".mp4": 30, ".glb": 30}  # a GIF's frames last hundredths of a second
_VIEWS = ("views", "contacts", "pig")
_MOST_ROLLS = 48  # of one sheet
_GIF_FPS = 50  # a frame of two hundredths of a second is the shortest that every viewer shows
_GIF_PIXELS = 3 * 10**8  # of all frames, which are held in memory with 4 bytes a pixel
# What each kind of picture takes beside --out.
_TAKES: dict[str, tuple[str, ...]] = {
    "sheet": (),
    "outcomes": (),
    "rests": ("model",),
    "run": (
        *("index", "count", "views", "contacts", "pig", "no_label"),
        *("fps", "speed", "width", "height"),
    ),
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
@click.option("--index", type=SEED, default=0, show_default=True, help="Index of the roll.")
@click.option(
    "-n",
    "count",
    type=whole_number(1, _MOST_ROLLS),
    default=1,
    show_default=True,
    help="A contact sheet of so many rolls, from --index on.",
)
@click.option(
    "--views", type=click.Choice(["1", "4"]), default="1", show_default=True, help="Of a roll."
)
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
    show_default=True,
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
    suffix = out.suffix.lower()
    if suffix not in (*_STILLS, *_FILMS):
        raise ConfigError(
            f"{shown_name(out)}: the name must end in one of {', '.join((*_STILLS, *_FILMS))}"
        )
    _refuse_what_would_be_ignored(suffix)
    if suffix == ".mp4":
        from physim.render.film import require_encoder

        require_encoder()
    what = f"{shown_name(out)}: cannot be written"
    remedy = "name a file in a folder that is there, may be written to and has room"
    with ExitStack() as stack:
        progress = stack.enter_context(_progress("frames" if suffix in _FILMS else "pictures"))
        with told(ConfigError, what, remedy):  # before anything is drawn
            part = stack.enter_context(replaced(out))
        if suffix in _FILMS:
            write = _film(suffix, given, progress)
        else:
            write = partial(_still(given, progress).save, format=_FORMATS[suffix])
        with told(ConfigError, what, remedy):
            write(part)
            stack.close()
    click.echo(str(out))


def _still(given: dict[str, Any], progress: Callable[[int, int], None]) -> Pillow.Image:
    """The picture that was asked for."""
    from physim.render import gallery, pictures
    from physim.window import overlay

    if given["sheet"] is not None:
        return gallery.pose_sheet(given["sheet"], progress)
    if given["outcomes"] is not None:
        return gallery.outcome_sheet(given["outcomes"], progress)
    if given["rests"]:
        return gallery.rest_sheet(given["model"], progress=progress)
    width, height = given["width"] or 960, given["height"] or 540
    with _theatre(given) as theatre:
        if given["count"] > 1:
            return gallery.rolls_sheet(theatre, given["index"], given["count"], progress)
        replay = theatre.replay(given["index"])
    if given["contacts"]:
        return overlay.reading_picture(replay, width, height)
    label = not given["no_label"]
    if given["views"] == "4":
        return pictures.four_views(replay, width, height, label)
    return pictures.roll_picture(replay, width, height, given["pig"], label)


def _film(
    suffix: str, given: dict[str, Any], progress: Callable[[int, int], None]
) -> Callable[[Path], None]:
    """What writes the film that was asked for into a file."""
    from physim.render import film
    from physim.render.film import FilmPlan, frames
    from physim.render.scene_file import write_glb

    plan = FilmPlan(
        given["width"] or 480,
        given["height"] or 360,
        float(given["fps"] or _FRAMES_PER_S[suffix]),
        given["speed"],
    )
    with _theatre(given) as theatre:
        replay = theatre.replay(given["index"])
    if suffix == ".glb":
        return lambda path: write_glb(path, replay, plan.speed)
    total = len(plan.times_s(replay.ends_s))
    if suffix == ".gif" and total * plan.width * plan.height > _GIF_PIXELS:
        raise ConfigError(
            f"{total:,} frames of {plan.width} x {plan.height} pixels are too many for a .gif; "
            "take a smaller picture, fewer frames a second or more speed, or name an .mp4"
        )

    def shown() -> Iterator[Pillow.Image]:
        for number, frame in enumerate(frames(replay, plan)):
            progress(number, total)
            yield frame
        progress(total, total)

    write = film.write_gif if suffix == ".gif" else film.write_mp4
    return lambda path: write(path, shown(), plan.frames_per_s, plan.held)


@contextmanager
def _theatre(given: dict[str, Any]) -> Iterator[Theatre]:
    from physim.dataset.plan import BatchPlan
    from physim.render.replay import RunTheatre, Theatre

    if given["run"] is not None:
        opened: Theatre = RunTheatre(given["run"])
    else:
        names = ("seed", "model", "black", "pink", "toss", "height_mm", "surface", "time_step_s")
        opened = Theatre(BatchPlan(n=1, **{name: given[name] for name in names}))
    with opened:
        yield opened


@contextmanager
def _progress(things: str) -> Iterator[Callable[[int, int], None]]:
    from physim.dataset.progress import ProgressLine

    line = ProgressLine(sys.stderr, things)
    try:
        yield line
    finally:
        line.close()


def _refuse_what_would_be_ignored(suffix: str) -> None:
    """A picture of a dataset shows what is in it; an option that changes nothing is refused."""
    context = click.get_current_context()
    given = {
        parameter.name or "": parameter.opts[0]
        for parameter in context.command.params
        if context.get_parameter_source(parameter.name or "") is ParameterSource.COMMANDLINE
    }
    kinds = [name for name in _TAKES if name in given]
    for kind in kinds:
        for name, option in given.items():
            if name not in ("out", kind, *_TAKES[kind]):
                raise click.UsageError(
                    f"{option} does not go with --{kind}, which draws what is there already; "
                    "leave out one of them",
                    context,
                )
    sheet = kinds and kinds[0] != "run"
    for name, option in given.items():
        film = name in ("fps", "speed")
        still = name in ("count", "views", "contacts", "pig", "no_label")
        size = name in ("width", "height")
        if (
            (film and suffix not in _FILMS)
            or (still and suffix in _FILMS)
            or ((size or name == "fps") and suffix == ".glb")
        ):
            raise click.UsageError(f"{option} does not go with a {suffix} file", context)
        if name == "fps" and suffix == ".gif" and context.params["fps"] > _GIF_FPS:
            raise click.UsageError(f"a .gif shows at most {_GIF_FPS} frames a second", context)
        if "count" in given and name in (*_VIEWS, "no_label", "width", "height"):
            raise click.UsageError(f"{option} does not go with -n; leave out one of them", context)
    ways = [given[name] for name in (*_VIEWS, "no_label") if name in given]
    if len(ways) > 1 and ("contacts" in given or {"views", "pig"} <= set(given)):
        raise click.UsageError(f"{ways[0]} does not go with {ways[1]}; leave out one", context)
    if sheet and suffix in _FILMS:
        raise click.UsageError(f"--{kinds[0]} makes a picture, not a {suffix} file", context)
