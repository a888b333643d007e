"""Films: what the camera holds, and files read back by other programs."""

from __future__ import annotations

import errno
import json
import math
import struct
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from PIL import Image as Pillow

from physim.errors import ConfigError
from physim.geometry import rotate
from physim.render import film
from physim.render.camera import CameraPath
from physim.render.film import FilmPlan, frames, glb
from physim.render.replay import Replay

SMALL = FilmPlan(64, 48, frames_per_s=5.0)


@pytest.fixture(scope="module")
def shown(replay: Replay) -> list[Pillow.Image]:
    return list(frames(replay, SMALL))


def test_times_begin_at_the_release_and_end_at_rest() -> None:
    times = FilmPlan(frames_per_s=10.0, speed=0.5).times_s(0.22)
    assert times == pytest.approx([0.0, 0.05, 0.1, 0.15, 0.2, 0.22])
    assert FilmPlan(frames_per_s=10.0).held == 12


def test_the_same_roll_makes_the_same_film(replay: Replay, shown: list[Pillow.Image]) -> None:
    again = list(frames(replay, SMALL))
    assert [f.tobytes() for f in again] == [f.tobytes() for f in shown]
    assert len({f.tobytes() for f in shown}) == len(shown) == math.ceil(replay.ends_s * 5) + 1


def test_both_pigs_are_in_sight_at_every_moment(replay: Replay) -> None:
    path = CameraPath(replay, 4 / 3)
    for time_s in np.linspace(0.0, replay.ends_s, 40):
        view = path.at(float(time_s))
        places = np.array([pig.state.position_m for pig in replay.pigs(float(time_s))])
        seen = view.project(places, 400, 300)
        assert (seen[:, :2] > 0).all() and (seen[:, :2] < [400, 300]).all()
    assert path.at(replay.ends_s).distance_m < path.at(0.0).distance_m  # it moves in


def test_the_camera_moves_without_jerks(replay: Replay) -> None:
    path = CameraPath(replay, 4 / 3)
    views = [path.at(float(t)) for t in np.arange(0.0, replay.ends_s, 1 / 60)]
    steps = [np.linalg.norm(a.place_m - b.place_m) for a, b in pairwise(views)]
    assert max(steps) < 0.05


def test_a_gif_keeps_its_frames_and_their_times(tmp_path: Path, shown: list[Pillow.Image]) -> None:
    path = tmp_path / "a.gif"
    film.write_gif(path, shown, 5.0, held=6)
    with Pillow.open(path) as gif:
        durations = []
        for number in range(gif.n_frames):
            gif.seek(number)
            durations.append(gif.info["duration"])
        assert gif.size == (64, 48)
    assert durations == [200] * (len(shown) - 1) + [1400]
    again = tmp_path / "b.gif"
    film.write_gif(again, shown, 30.0, held=6)
    with Pillow.open(again) as gif:
        gif.seek(1)
        assert gif.info["duration"] == 40  # 3.33 to 6.67 hundredths, rounded both
    film.write_gif(again, shown, 5.0, held=6)
    assert again.read_bytes() == path.read_bytes()


def test_an_mp4_keeps_its_frames(tmp_path: Path, shown: list[Pillow.Image]) -> None:
    ffmpeg = pytest.importorskip("imageio_ffmpeg")
    path = tmp_path / "a.mp4"
    film.write_mp4(path, iter(shown), 5.0, held=6)
    reader = ffmpeg.read_frames(str(path))
    meta = next(reader)
    pictures = [np.frombuffer(frame, np.uint8) for frame in reader]
    assert meta["size"] == (64, 48) and meta["fps"] == pytest.approx(5.0)
    assert len(pictures) == len(shown) + 6
    first = np.asarray(shown[0]).reshape(-1).astype(float)
    assert np.abs(pictures[0] - first).mean() < 8.0  # compressed, but that picture
    with pytest.raises(ConfigError, match="even width"):
        film.write_mp4(path, [Pillow.new("RGB", (63, 48))], 5.0, held=0)


def test_without_the_encoder_one_message_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    import sys

    monkeypatch.setitem(sys.modules, "imageio_ffmpeg", None)
    with pytest.raises(ConfigError, match=r"-m pip install imageio-ffmpeg; or name a \.gif"):
        film.require_encoder()


def test_an_encoder_without_its_program_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    ffmpeg = pytest.importorskip("imageio_ffmpeg")

    def none() -> str:
        raise RuntimeError("No ffmpeg exe could be found")

    monkeypatch.setattr(ffmpeg, "get_ffmpeg_exe", none)
    with pytest.raises(ConfigError, match=r"pip install imageio-ffmpeg; or name a \.gif"):
        film.require_encoder()


@pytest.mark.parametrize(
    ("program", "mode", "says"),
    [
        (None, 0o755, "FFmpeg was not found at .*ffmpeg"),
        ("#!/bin/sh\nexit 0", 0o644, "FFmpeg was not found at .*ffmpeg"),
        ("no program", 0o755, r"FFmpeg cannot be started \(Exec format error\)"),
        ("#!/nowhere/sh", 0o755, r"FFmpeg cannot be started \(No such file or directory\)"),
        ("#!/bin/sh\necho 'no such codec' >&2; exit 1", 0o755, r"exit code 1, no such codec\)"),
        ("#!/bin/sh\nexit 0", 0o755, r"exit code 0, no word\)"),
        ("#!/bin/sh\nhead -c 9000; kill -9 $$", 0o755, r"killed by signal 9, no word\)"),
        ("#!/bin/sh\ncat >/dev/null; exit 3", 0o755, r"exit code 3, no word\)"),
        ("#!/bin/sh\ncat >/dev/null; exit 0", 0o755, r"exit code 0, no word\)"),
    ],
)
def test_an_encoder_that_fails_is_not_the_folders_fault(
    tmp_path: Path,
    shown: list[Pillow.Image],
    monkeypatch: pytest.MonkeyPatch,
    program: str | None,
    mode: int,
    says: str,
) -> None:
    pytest.importorskip("imageio_ffmpeg")
    ffmpeg, path = tmp_path / "ffmpeg", tmp_path / "a.mp4"
    path.touch()
    monkeypatch.setenv("IMAGEIO_FFMPEG_EXE", str(ffmpeg))
    if program is not None:
        ffmpeg.write_text(program)
        ffmpeg.chmod(mode)
    with pytest.raises(ConfigError, match=says + r".* name a \.gif"):
        film.write_mp4(path, iter(shown), 5.0, held=6)


@pytest.mark.parametrize(
    ("program", "number"),
    [
        ("echo 'out.mp4: No space left on device' >&2; exit 228", errno.ENOSPC),
        ("kill -XFSZ $$", errno.EFBIG),
    ],
)
def test_a_full_disk_under_the_encoder_is_told_as_one(
    tmp_path: Path,
    shown: list[Pillow.Image],
    monkeypatch: pytest.MonkeyPatch,
    program: str,
    number: int,
) -> None:
    pytest.importorskip("imageio_ffmpeg")
    ffmpeg = tmp_path / "ffmpeg"
    ffmpeg.write_text(f"#!/bin/sh\n{program}\n")
    ffmpeg.chmod(0o755)
    monkeypatch.setenv("IMAGEIO_FFMPEG_EXE", str(ffmpeg))
    with pytest.raises(OSError) as refused:
        film.write_mp4(tmp_path / "a.mp4", iter(shown), 5.0, held=6)
    assert refused.value.errno == number


# --- glTF, read by a reader of its own and by trimesh ---


def parsed(content: bytes) -> tuple[dict, bytes]:  # type: ignore[type-arg]
    magic, version, length = struct.unpack_from("<4sII", content)
    assert (magic, version, length) == (b"glTF", 2, len(content))
    size, kind = struct.unpack_from("<I4s", content, 12)
    assert kind == b"JSON" and size % 4 == 0
    document = json.loads(content[20 : 20 + size])
    data_size, data_kind = struct.unpack_from("<I4s", content, 20 + size)
    assert data_kind == b"BIN\0" and 28 + size + data_size == length
    return document, content[28 + size :]


def numbers(document: dict, data: bytes, which: int) -> np.ndarray:  # type: ignore[type-arg]
    accessor = document["accessors"][which]
    view = document["bufferViews"][accessor["bufferView"]]
    width = {"SCALAR": 1, "VEC3": 3, "VEC4": 4}[accessor["type"]]
    kind = {5126: "<f4", 5125: "<u4"}[accessor["componentType"]]
    values = np.frombuffer(data, kind, accessor["count"] * width, view["byteOffset"])
    assert values.nbytes == view["byteLength"] and view["byteOffset"] % 4 == 0
    values = values.reshape(-1, width)
    if "max" in accessor:
        assert values.max(axis=0).tolist() == pytest.approx(accessor["max"])
        assert values.min(axis=0).tolist() == pytest.approx(accessor["min"])
    return values


def test_a_glb_moves_both_pigs_from_release_to_rest(replay: Replay) -> None:
    document, data = parsed(glb(replay))
    nodes = {node["name"]: number for number, node in enumerate(document["nodes"])}
    animation = document["animations"][0]
    for name, first, last, result in zip(
        ("black", "pink"), replay.pigs(0.0), replay.at_rest(), replay.roll.pigs, strict=True
    ):
        assert result.name == name
        for channel in animation["channels"]:
            if channel["target"]["node"] != nodes[name]:
                continue
            sampler = animation["samplers"][channel["sampler"]]
            times = numbers(document, data, sampler["input"])[:, 0]
            values = numbers(document, data, sampler["output"])
            assert len(times) == len(values) and (np.diff(times) > 0).all()
            assert times[-1] == pytest.approx(replay.ends_s, rel=1e-6)
            if channel["target"]["path"] == "translation":
                assert values[0] == pytest.approx(first.state.position_m, abs=1e-6)
                assert values[-1] == pytest.approx(last.state.position_m, abs=1e-6)
            else:
                assert np.abs(np.linalg.norm(values, axis=1) - 1).max() < 1e-6
                assert (values[1:] * values[:-1]).sum(axis=1).min() > 0.0  # the short way
                assert abs(float(values[-1] @ last.state.quat_xyzw)) == pytest.approx(1, abs=1e-6)
    for mesh in document["meshes"]:
        for primitive in mesh["primitives"]:
            places = numbers(document, data, primitive["attributes"]["POSITION"])
            corners = numbers(document, data, primitive["indices"])
            assert corners.max() < len(places)
    assert document["asset"]["extras"]["poses"]["black"] == replay.roll.pigs[0].pose.value
    assert glb(replay) == glb(replay)


def test_slow_motion_takes_longer(replay: Replay) -> None:
    document, data = parsed(glb(replay, speed=0.25))
    sampler = document["animations"][0]["samplers"][0]
    times = numbers(document, data, sampler["input"])
    assert times[-1, 0] == pytest.approx(4 * replay.ends_s, rel=1e-6)


def test_trimesh_reads_the_scene_with_y_up(tmp_path: Path, replay: Replay) -> None:
    import trimesh

    path = tmp_path / "a.glb"
    path.write_bytes(glb(replay))
    scene = trimesh.load(path)
    start = replay.pigs(0.0)[0].state
    transform, _ = scene.graph.get("black")
    x, y, z = start.position_m
    assert transform[:3, 3] == pytest.approx([x, z, -y], abs=1e-5)
    up = rotate(start.quat_xyzw, np.array([0.0, 0.0, 1.0]))
    assert transform[:3, 2] == pytest.approx([up[0], up[2], -up[1]], abs=1e-5)
