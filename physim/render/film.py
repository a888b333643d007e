"""A roll as a film or an animated scene: every frame of it, and the files.

GIF by Pillow, MP4 by the FFmpeg that `imageio-ffmpeg` brings along, and binary glTF 2.0 (GLB) for
Blender and web viewers.

References:
    Khronos Group, "glTF 2.0 Specification", 2021 (ISO/IEC 12113:2022).
"""

from __future__ import annotations

import errno
import json
import math
import os
import shutil
import signal
import struct
import subprocess
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from itertools import chain, pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image as Pillow

from physim.errors import ConfigError, how_to_install, shown_name
from physim.files import scratch, told
from physim.render.camera import CameraPath
from physim.render.pictures import captioned, near, pigs_picture
from physim.render.pig_meshes import linear, pig_look
from physim.render.replay import Replay
from physim.render.scene import picture, table_color
from physim.types import FloatArray

HOLD_S = 1.2  # of the film, on the pigs at rest
_OTHERWISE = "name a .gif, or another FFmpeg by the variable IMAGEIO_FFMPEG_EXE"


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
    size, table = (plan.width, plan.height), replay.table
    path = CameraPath(replay, plan.width / plan.height, plan.speed)
    *moments, end_s = plan.times_s(replay.ends_s)
    for time_s in moments:
        yield Pillow.fromarray(picture(replay.pigs(time_s), *size, path.at(time_s), table))
    pigs = replay.at_rest()
    if near(pigs):
        last = picture(pigs, *size, path.at(end_s), table)
    else:
        last = pigs_picture(pigs, *size, table)
    yield captioned(Pillow.fromarray(last), replay.roll)


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
    others = iter(frames)
    first = next(others)
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
        target = f"file:{path.absolute()}"  # a colon in the name is one
        with told(ConfigError, f"{encoder}: FFmpeg cannot be started", _OTHERWISE):
            process = subprocess.Popen(
                [encoder, *options.split(), target],
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                stderr=said,
                start_new_session=True,  # Ctrl-C is ours to handle
            )
        whole = False
        try:
            assert process.stdin is not None
            with suppress(BrokenPipeError), process.stdin as sink:
                for frame in chain([first], others):
                    content = frame.tobytes()
                    sink.write(content)
                for _ in range(held):
                    sink.write(content)
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
    last = said.strip().split("\n")[-1].strip() or "no word"
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


def _palette(frames: list[Pillow.Image]) -> Pillow.Image:
    """One palette for all frames, so that what does not move does not flicker."""
    picked = [np.asarray(frames[round(k * (len(frames) - 1) / 5)]) for k in range(6)]
    sheet = Pillow.fromarray(np.concatenate(picked))
    return sheet.quantize(colors=256, method=Pillow.Quantize.MEDIANCUT)


KEYS_A_S = 240.0  # states a second of simulated time
_AROUND_M = 0.08  # of table that is shown around the pigs' ways
_VERTICES, _INDICES = 34962, 34963  # targets of buffer views
_Z_UP = [-math.sqrt(0.5), 0.0, 0.0, math.sqrt(0.5)]  # turns z into glTF's up, which is y
Json = dict[str, Any]


def glb(replay: Replay, speed: float = 1.0) -> bytes:
    """A scene of both pigs and the table around them, with their ways as one animation.

    Lengths are metres; one node above all others turns the world.

    Args:
        replay: the roll.
        speed: simulated time over the animation's.
    """
    scene = _GltfDocument()
    times = np.arange(max(1, math.ceil(replay.ends_s * KEYS_A_S))) / KEYS_A_S
    shown = [*map(replay.pigs, times.tolist()), replay.at_rest()]
    clock = scene.accessor(np.append(times, replay.ends_s) / speed, "SCALAR")
    meshes: dict[str, tuple[Json, list[int]]] = {}
    channels: list[Json] = []
    samplers: list[Json] = []
    for number, pig in enumerate(shown[0]):
        look = pig_look(pig.model)
        if pig.model not in meshes:  # both pigs share the vertices of a model
            faces = [look.faces[look.materials == k] for k in range(len(look.names))]
            meshes[pig.model] = scene.mesh(look.vertices_m, look.normals, faces)
        materials = [
            scene.material(f"{pig.name} {name or 'skin'}", color, 0.45)
            for name, color in zip(look.names, look.colors(pig.name), strict=True)
        ]
        node = scene.body(pig.name, *meshes[pig.model], materials)
        states = [pigs[number].state for pigs in shown]
        places = np.array([state.position_m for state in states])
        turns = _continuous(np.array([state.quat_xyzw for state in states]))
        for path, kind, values in (("translation", "VEC3", places), ("rotation", "VEC4", turns)):
            scene.json["nodes"][node][path] = values[0].tolist()
            channels.append({"sampler": len(samplers), "target": {"node": node, "path": path}})
            samplers.append({"input": clock, "output": scene.accessor(values, kind)})
    corners = _table_corners(replay, [pig.state.position_m for pigs in shown for pig in pigs])
    table = scene.mesh(corners, np.tile([0.0, 0.0, 1.0], (4, 1)), [np.array([0, 1, 2, 0, 2, 3])])
    scene.body("table", *table, [scene.material("table", table_color(replay.table), 0.9)])
    scene.add("animations", name="roll", channels=channels, samplers=samplers)
    roll = replay.roll
    scene.json["asset"]["extras"] = {
        "seed": roll.seed,
        "index": roll.index,
        "outcome": roll.outcome.value,
        "score": roll.score,
        "poses": {pig.name: pig.pose.value for pig in roll.pigs},
    }
    return scene.binary()


class _GltfDocument:
    """A glTF document that grows."""

    def __init__(self) -> None:
        self._data = bytearray()
        self.json: Json = {
            "asset": {"version": "2.0", "generator": "physim"},
            "scene": 0,
            "scenes": [{"name": "roll", "nodes": [0]}],
            "nodes": [{"name": "world", "rotation": _Z_UP, "children": []}],
        }

    def add(self, kind: str, **item: Any) -> int:
        """Index of a new item in a list such as `nodes`."""
        items: list[Json] = self.json.setdefault(kind, [])
        items.append(item)
        return len(items) - 1

    def accessor(self, values: NDArray[Any], kind: str, **target: int) -> int:
        """Index of new numbers, rows of a kind such as `VEC3`; whole numbers are indices."""
        values = values.astype(np.uint32 if values.dtype.kind == "i" else np.float32)
        start, rows = len(self._data), values.reshape(len(values), -1)
        self._data += values.tobytes()  # 4-byte numbers: every view begins at a multiple of 4
        view = self.add(
            "bufferViews", buffer=0, byteOffset=start, byteLength=values.nbytes, **target
        )
        return self.add(
            "accessors",
            bufferView=view,
            componentType=5125 if values.dtype == np.uint32 else 5126,
            count=len(values),
            type=kind,
            min=rows.min(axis=0).tolist(),
            max=rows.max(axis=0).tolist(),
        )

    def mesh(
        self, vertices: FloatArray, normals: FloatArray, faces: list[NDArray[np.int64]]
    ) -> tuple[Json, list[int]]:
        """Accessors of vertices with their normals, and of each material's faces."""
        lengths = np.linalg.norm(normals, axis=1, keepdims=True)
        upright = np.where(lengths > 0.5, normals / np.maximum(lengths, 1e-9), [0.0, 0.0, 1.0])
        attributes = {
            "POSITION": self.accessor(vertices, "VEC3", target=_VERTICES),
            "NORMAL": self.accessor(upright, "VEC3", target=_VERTICES),
        }
        return attributes, [self.accessor(f.reshape(-1), "SCALAR", target=_INDICES) for f in faces]

    def material(self, name: str, color: Any, roughness: float) -> int:
        """Index of a new material of an sRGB colour."""
        light = [*np.round(linear(np.array(color)), 5).tolist(), 1.0]
        look = {"baseColorFactor": light, "metallicFactor": 0.0, "roughnessFactor": roughness}
        return self.add("materials", name=name, pbrMetallicRoughness=look)

    def body(self, name: str, attributes: Json, indices: list[int], materials: list[int]) -> int:
        """Index of the node of a new body."""
        primitives = [
            {"attributes": attributes, "indices": faces, "material": material}
            for faces, material in zip(indices, materials, strict=True)
        ]
        node = self.add(
            "nodes", name=name, mesh=self.add("meshes", name=name, primitives=primitives)
        )
        self.json["nodes"][0]["children"].append(node)
        return node

    def binary(self) -> bytes:
        """The file: a header, the JSON chunk and the binary chunk."""
        self.add("buffers", byteLength=len(self._data))
        text = json.dumps(self.json, separators=(",", ":")).encode()
        text += b" " * (-len(text) % 4)
        chunks = struct.pack("<I4s", len(text), b"JSON") + text
        chunks += struct.pack("<I4s", len(self._data), b"BIN\0") + self._data
        return struct.pack("<4sII", b"glTF", 2, 12 + len(chunks)) + chunks


def _table_corners(replay: Replay, places: list[FloatArray]) -> FloatArray:
    """(4, 3) of the table around the pigs' ways: viewers fit their camera to all there is."""
    half = 0.5 * np.array([replay.table.length_m, replay.table.width_m])
    x0, y0 = np.clip(np.min(places, axis=0)[:2] - _AROUND_M, -half, half)
    x1, y1 = np.clip(np.max(places, axis=0)[:2] + _AROUND_M, -half, half)
    return np.array([[x0, y0, 0.0], [x1, y0, 0.0], [x1, y1, 0.0], [x0, y1, 0.0]])


def _continuous(turns: FloatArray) -> FloatArray:
    """Quaternions of which each lies on the same side as the one before: q and -q turn alike."""
    same = np.where((turns[1:] * turns[:-1]).sum(axis=1) < 0.0, -1.0, 1.0)
    return np.asarray(turns * np.cumprod(np.append(1.0, same))[:, None])
