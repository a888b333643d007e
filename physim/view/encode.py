"""Films as files: GIF by Pillow, MP4 by the FFmpeg that `imageio-ffmpeg` brings along."""

from __future__ import annotations

import errno
from collections.abc import Iterable, Iterator
from itertools import chain, pairwise
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image as Pillow

from physim.errors import ConfigError
from physim.extras import optional

_QUALITY = [
    "-crf",
    "20",
    "-preset",
    "veryfast",
    "-threads",
    "1",
]  # one thread: always the same file


def write_gif(path: Path, frames: Iterable[Pillow.Image], frames_per_s: float, held: int) -> None:
    """An endless GIF; the last frame stays for `held` frames more.

    A GIF counts in hundredths of a second: at 20 and 25 frames a second all last equally long, at
    30 some a hundredth longer than others.
    """
    shown = list(frames)
    palette = _palette(shown)
    flat = [frame.quantize(palette=palette, dither=Pillow.Dither.NONE) for frame in shown]
    starts = [round(100.0 * k / frames_per_s) for k in (*range(len(flat)), len(flat) + held)]
    durations = [10 * (end - start) for start, end in pairwise(starts)]
    flat[0].save(
        path,
        format="GIF",
        save_all=True,
        append_images=flat[1:],
        duration=durations,
        loop=0,
        optimize=False,
    )


def write_mp4(path: Path, frames: Iterable[Pillow.Image], frames_per_s: float, held: int) -> None:
    """An MP4 (H.264) that every player and browser shows.

    Raises:
        ConfigError: the encoder is not installed, or a picture of odd width or height.
        OSError: the encoder could not write.
    """
    encoder = require_encoder()
    pending = iter(frames)
    first = next(pending)
    width, height = first.size
    if width % 2 or height % 2:
        raise ConfigError(f"an MP4 needs an even width and height, found {width} x {height}")
    sink = encoder.write_frames(
        f"file:{path.absolute()}",  # "12:30.mp4" would be a protocol of FFmpeg's
        (width, height),
        fps=frames_per_s,
        codec="libx264",
        quality=None,
        macro_block_size=2,
        output_params=[*_QUALITY, "-movflags", "+faststart", "-f", "mp4"],
    )
    sink.send(None)
    try:
        for frame in _with_pause(chain([first], pending), held):
            sink.send(np.ascontiguousarray(frame))
    except OSError as error:  # its text is FFmpeg's whole log
        raise OSError(errno.EIO, "FFmpeg ended before the film did") from error
    finally:
        sink.close()


def require_encoder() -> Any:
    """The module `imageio_ffmpeg`.

    Raises:
        ConfigError: it is not installed.
    """
    return optional("imageio_ffmpeg", "film", "an MP4", "; or name a .gif")


def _with_pause(frames: Iterable[Pillow.Image], held: int) -> Iterator[Pillow.Image]:
    frame = None
    for frame in frames:
        yield frame
    if frame is not None:
        for _ in range(held):
            yield frame


def _palette(frames: list[Pillow.Image]) -> Pillow.Image:
    """One palette for all frames, so that what does not move does not flicker."""
    picked = [frames[round(k * (len(frames) - 1) / 5)] for k in range(6)]
    width, height = picked[0].size
    sheet = Pillow.new("RGB", (width, height * len(picked)))
    for number, frame in enumerate(picked):
        sheet.paste(frame, (0, number * height))
    return sheet.quantize(colors=256, method=Pillow.Quantize.MEDIANCUT)
