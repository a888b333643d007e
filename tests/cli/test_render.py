"""`physim render`: what it writes, and what it refuses."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

import physim


def render(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "physim", "render", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_a_picture_a_film_and_a_scene_of_one_roll(tmp_path: Path) -> None:
    for name, options in (
        ("a.png", ["--width", "200", "--height", "120"]),
        ("b.png", ["--views", "4", "--width", "200", "--height", "160"]),
        ("c.png", ["--contacts", "--width", "400", "--height", "300"]),
        ("f.png", ["--pig", "pink", "--width", "200", "--height", "120"]),
        ("g.png", ["--no-label", "--width", "200", "--height", "120"]),
        ("d.gif", ["--width", "64", "--height", "48", "--fps", "4"]),
        ("e.glb", ["--speed", "0.5"]),
    ):
        done = render("--seed", "3", "--index", "1", "--out", tmp_path / name, *options)
        assert done.returncode == 0, done.stderr
        assert done.stdout == f"{tmp_path / name}\n"
        if name == "d.gif":
            assert "frames" in done.stderr  # progress
    sizes = [Image.open(tmp_path / name).size for name in ("a.png", "b.png", "c.png", "d.gif")]
    assert sizes == [(200, 120), (200, 160), (400, 300), (64, 48)]
    bottoms = [Image.open(tmp_path / name).crop((0, 92, 200, 120)) for name in ("a.png", "g.png")]
    paper = [
        sum(pixel == [250, 248, 244] for pixel in np.asarray(b).reshape(-1, 3).tolist())
        for b in bottoms
    ]
    assert paper[0] > 2000 and paper[1] < 200  # with the caption and without
    pictures = [(tmp_path / name).read_bytes() for name in ("a.png", "f.png", "g.png")]
    assert len(set(pictures)) == 3
    assert (tmp_path / "e.glb").read_bytes()[:4] == b"glTF"
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        *("a.png", "b.png", "c.png", "d.gif", "e.glb", "f.png", "g.png")
    ]


def test_a_roll_of_a_dataset_is_that_roll(tmp_path: Path) -> None:
    physim.batch(4, tmp_path / "d", seed=8, toss="hand", workers=1)
    size = ("--width", "160", "--height", "100")
    for name, options in (
        ("run.png", ("--run", tmp_path / "d")),
        ("seed.png", ("--seed", "8", "--toss", "hand")),
    ):
        done = render("--out", tmp_path / name, "--index", "2", *options, *size)
        assert done.returncode == 0, done.stderr
    assert (tmp_path / "run.png").read_bytes() == (tmp_path / "seed.png").read_bytes()
    done = render("--out", tmp_path / "x.png", "--run", tmp_path / "d", "--index", "4")
    assert done.returncode == 2 and "holds no roll 4" in done.stderr
    assert not (tmp_path / "x.png").exists()


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (["--out", "x.bmp"], "must end in one of"),
        (["--out", "x.png", "--fps", "9"], "--fps does not go with a .png file"),
        (["--out", "x.gif", "--views", "4"], "--views does not go with a .gif file"),
        (["--out", "x.glb", "--width", "99"], "--width does not go with a .glb file"),
        (["--out", "x.gif", "--sheet", "d"], "--sheet does not go with a .gif file"),
        (["--out", "x.png", "--run", "d", "--toss", "hand"], "--toss does not go with --run"),
        (["--out", "x.png", "--rests", "--seed", "3"], "--seed does not go with --rests"),
        (["--out", "x.png", "--sheet", "d", "--outcomes", "d"], "does not go with --sheet"),
        (["--out", "x.png", "-n", "3", "--views", "4"], "--views does not go with -n"),
        (["--out", "x.png", "--contacts", "--views", "4"], "--views does not go with --contacts"),
        (["--out", "x.png", "--pig", "pink", "--views", "4"], "--views does not go with --pig"),
        (["--out", "x.png", "--no-label", "--contacts"], "does not go with"),
        (["--out", "x.png", "--no-label", "-n", "2"], "--no-label does not go with -n"),
        (["--out", "x.gif", "--no-label"], "--no-label does not go with a .gif file"),
        (["--out", "x.png", "-n", "49"], "from 1 to 48"),
        (["--out", "x.gif", "--speed", "nan"], "from 0.01 to 100"),
        (["--out", "x.gif", "--fps", "51"], "at most 50 frames a second"),
        (["--out", "x.gif", "--width", "4096", "--height", "4096"], "too many for a .gif"),
    ],
)
def test_what_would_be_ignored_is_refused(options: list[str], says: str, tmp_path: Path) -> None:
    place = str(tmp_path / options[1])
    done = render(*options[:1], place, *options[2:])
    assert done.returncode == 2
    assert says in done.stderr and done.stderr.count("\n") == 1
    assert not list(tmp_path.iterdir())


def test_a_full_place_is_told_and_leaves_nothing(tmp_path: Path) -> None:
    """A limit of the size of files stands for a full disk."""
    program = (
        "import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (50000, 50000))\n"
        "from physim.cli.main import main; main()"
    )
    for name, options in (("a.png", ()), ("b.gif", ("--fps", "4")), ("c.glb", ())):
        done = subprocess.run(
            [sys.executable, "-c", program, "render", "--out", str(tmp_path / name), *options],
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 2
        last = done.stderr.strip().splitlines()[-1]
        assert "cannot be written (File too large)" in last
    assert not list(tmp_path.iterdir())


def test_an_mp4_without_the_encoder_says_what_to_install(tmp_path: Path) -> None:
    program = (
        "import sys; sys.modules['imageio_ffmpeg'] = None\nfrom physim.cli.main import main; main()"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, "render", "--out", str(tmp_path / "a.mp4")],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2 and "pip install imageio-ffmpeg;" in done.stderr
    assert not list(tmp_path.iterdir())


def test_watch_refuses_what_a_dataset_fixes() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "physim", "watch", "--run", "d", "--surface", "felt"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2 and "--surface does not go with --run" in done.stderr
