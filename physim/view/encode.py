"""Films as files: GIF by Pillow, MP4 by the FFmpeg that `imageio-ffmpeg` brings along."""

from __future__ import annotations

import errno
import os
import shutil
import signal
import subprocess
from collections.abc import Iterable, Iterator
from contextlib import suppress
from fractions import Fraction
from itertools import chain, pairwise
from pathlib import Path

from PIL import Image as Pillow

from physim.arguments import shown_name
from physim.errors import ConfigError
from physim.extras import how_to_install
from physim.files import scratch, told

_OTHERWISE = "name a .gif, or another FFmpeg by the variable IMAGEIO_FFMPEG_EXE"


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
        ConfigError: the encoder is not installed or fails, or a picture of odd width or height.
        OSError: the system did not let it write.
    """
    encoder = require_encoder()
    pending = iter(frames)
    first = next(pending)
    width, height = first.size
    if width % 2 or height % 2:
        raise ConfigError(f"an MP4 needs an even width and height, found {width} x {height}")
    rate = Fraction(frames_per_s).limit_denominator()
    options = (  # one thread: always the same file
        f"-y -f rawvideo -vcodec rawvideo -s {width}x{height} -pix_fmt rgb24 -r {rate} -i - -an "
        "-vcodec libx264 -pix_fmt yuv420p -v warning -crf 20 -preset veryfast -threads 1 "
        "-movflags +faststart -f mp4"
    )
    with scratch() as folder, (folder / "said").open("w+b") as said:
        with told(ConfigError, f"{encoder}: FFmpeg cannot be started", _OTHERWISE):
            process = subprocess.Popen(
                [
                    encoder,
                    *options.split(),
                    f"file:{path.absolute()}",
                ],  # a colon in the name is one
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                stderr=said,
                start_new_session=True,  # Ctrl-C is ours to handle
            )
        whole = False
        try:
            assert process.stdin is not None
            with suppress(BrokenPipeError), process.stdin as sink:
                for frame in _with_pause(chain([first], pending), held):
                    sink.write(frame.tobytes())
                whole = True
            code = process.wait()
        finally:
            process.kill()
            process.wait()
        said.seek(0)
        text = said.read().decode(errors="replace")
    if code or not whole or not path.stat().st_size:
        raise _failure(code, text, encoder, path)


def _failure(code: int, said: str, encoder: str, path: Path) -> Exception:
    """Why FFmpeg has not made a film: by its exit code and what it said."""
    if code == -signal.SIGXFSZ:
        return OSError(errno.EFBIG, os.strerror(errno.EFBIG), str(path))
    for number in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
        if os.strerror(number) in said:
            return OSError(number, os.strerror(number), str(path))
    lines = said.split("\n")
    last = next((line.strip() for line in reversed(lines) if line.strip()), "no word")
    ending = f"killed by signal {-code}" if code < 0 else f"exit code {code}"
    return ConfigError(
        f"{encoder}: FFmpeg ended before the film did ({ending}, {shown_name(last)}); {_OTHERWISE}"
    )


def require_encoder() -> str:
    """Where the FFmpeg is.

    Raises:
        ConfigError: it is not installed.
    """
    try:
        from imageio_ffmpeg import get_ffmpeg_exe

        encoder: str = get_ffmpeg_exe()
    except (ImportError, RuntimeError):  # a package without its binary, as some systems have it
        raise ConfigError(
            f"an MP4 needs imageio-ffmpeg; get it with: {how_to_install('film')}; or name a .gif"
        ) from None
    if shutil.which(encoder) is None:
        raise ConfigError(f"FFmpeg was not found at {encoder}, or may not be run; {_OTHERWISE}")
    return encoder


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
