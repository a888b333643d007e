"""A roll as a film: what the camera does, and every frame of it.

Films as files: GIF by Pillow, MP4 by the FFmpeg that `imageio-ffmpeg` brings along.
"""

from __future__ import annotations

import errno
import math
import os
import shutil
import signal
import subprocess
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import chain, pairwise
from pathlib import Path

import numpy as np
from PIL import Image as Pillow

from physim.errors import ConfigError, how_to_install, shown_name
from physim.files import scratch, told
from physim.render.camera import View, best_azimuth_deg, fitted
from physim.render.pictures import captioned, near, pigs_picture
from physim.render.replay import Replay
from physim.render.scene import picture
from physim.types import FloatArray

HOLD_S = 1.2  # of the film, on the pigs at rest
_LOOK_S = 1 / 60  # between two moments that the camera considers
_CALM_S = 0.35  # over which its way is smoothed


@dataclass(frozen=True)
class FilmPlan:
    """What a film is like.

    Attributes:
        width, height: of the picture [pixels].
        frames_per_s: of the film.
        speed: simulated time over the film's: 0.25 is slow motion.
    """

    width: int = 480
    height: int = 360
    frames_per_s: float = 20.0
    speed: float = 1.0

    def times_s(self, ends_s: float) -> list[float]:
        """Simulated time of each frame up to the rest; the pause after it repeats the last."""
        step = self.speed / self.frames_per_s
        return [k * step for k in range(math.ceil(ends_s / step))] + [ends_s]

    @property
    def held(self) -> int:
        """Frames of the pause."""
        return max(1, round(HOLD_S * self.frames_per_s))


def frames(replay: Replay, plan: FilmPlan) -> Iterator[Pillow.Image]:
    """Every frame up to the rest; the film is to hold the last one, which says what it came to.

    Pigs that lie far apart are shown in a view each there.
    """
    path = CameraPath(replay, plan.width / plan.height, plan.speed)
    times = plan.times_s(replay.ends_s)
    for time_s in times[:-1]:
        pigs, view = replay.pigs(time_s), path.at(time_s)
        yield Pillow.fromarray(picture(pigs, plan.width, plan.height, view, replay.table))
    pigs = replay.at_rest()
    if near(pigs):
        last = picture(pigs, plan.width, plan.height, path.at(times[-1]), replay.table)
    else:
        last = pigs_picture(pigs, plan.width, plan.height, replay.table)
    yield captioned(Pillow.fromarray(last), replay.roll)


class CameraPath:
    """A camera that always holds all that is still to come, and so moves in on the rest."""

    def __init__(self, replay: Replay, aspect: float, speed: float = 1.0) -> None:
        ends_s = replay.ends_s
        times = np.append(np.arange(0.0, ends_s, _LOOK_S), ends_s)
        corners = [_reach_m(replay, float(time_s)) for time_s in times]
        start = _start(replay, 30.0)
        views = [
            fitted(start, np.concatenate(corners[k:]), aspect, fill=0.92) for k in range(len(times))
        ]
        self._times = times
        self._start = start
        way = np.array([[*view.target_m, math.log(view.distance_m)] for view in views])
        half = max(1, round(_CALM_S * min(1.0, speed) / _LOOK_S))
        self._way = _calmed(way, half)
        # A smooth way may have lost a pig: from farther away it is in sight again.
        for number, seen in enumerate(corners):
            self._way[number, 3] += self._missing(number, seen, aspect)
        around = np.pad(self._way[:, 3], half, mode="edge")
        farthest = np.lib.stride_tricks.sliding_window_view(around, 2 * half + 1).max(axis=1)
        self._way[:, 3] = _calmed(farthest[:, None], half)[:, 0]

    def at(self, time_s: float) -> View:
        """From where the pigs are seen at that simulated time."""
        x, y, z, distance = (np.interp(time_s, self._times, column) for column in self._way.T)
        return replace(
            self._start, target_m=np.array([x, y, z]), distance_m=math.exp(float(distance))
        )

    def _missing(self, number: int, seen: FloatArray, aspect: float) -> float:
        """By how much (logarithm) the camera is too near to hold these points."""
        way = self._way[number]
        view = replace(self._start, target_m=way[:3], distance_m=math.exp(way[3]))
        missing = 0.0
        while missing < 2.0:
            places = view.project(seen, aspect, 1.0)
            aside = np.abs(places[:, :2] - [0.5 * aspect, 0.5]) / [aspect, 1.0]
            if aside.max() < 0.47 and places[:, 2].min() > 0.0:
                break
            missing += 0.03
            view = replace(view, distance_m=math.exp(way[3] + missing))
        return missing


def toss_view(replay: Replay, aspect: float, field_deg: float) -> View:
    """One view of all that happens from release to rest."""
    times = np.append(np.arange(0.0, replay.ends_s, _LOOK_S), replay.ends_s)
    points = np.concatenate([_reach_m(replay, float(time_s)) for time_s in times])
    return fitted(_start(replay, field_deg), points, aspect)


def _start(replay: Replay, field_deg: float) -> View:
    azimuth = best_azimuth_deg(replay.at_rest())
    return View(np.zeros(3), 1.0, azimuth, 30.0, field_deg)


def _reach_m(replay: Replay, time_s: float) -> FloatArray:
    """(12, 3) how far both pigs' spheres reach."""
    reach = np.concatenate([np.eye(3), -np.eye(3)])
    points = np.concatenate(
        [p.state.position_m + 0.85 * p.radius_m * reach for p in replay.pigs(time_s)]
    )
    # What falls past the edge is not followed for ever.
    return np.asarray(np.maximum(points, [-np.inf, -np.inf, -0.25]))


def _calmed(way: FloatArray, half: int) -> FloatArray:
    """A way smoothed by a running mean, and that again, its ends kept."""
    for _ in range(2):
        padded = np.pad(way, ((half, half), (0, 0)), mode="edge")
        sums = np.cumsum(np.concatenate([np.zeros((1, way.shape[1])), padded]), axis=0)
        size = 2 * half + 1
        way = (sums[size:] - sums[:-size]) / size
    return way


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
