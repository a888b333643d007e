"""`physim render`: what it writes, and what it refuses."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

import physim
from physim.cli.main import main

Run = Callable[..., tuple[object, str, str]]


@pytest.fixture
def run(capfd: pytest.CaptureFixture[str]) -> Run:
    """Runs a command in this process; returns its exit code, stdout and stderr."""

    def run(*arguments: str | Path) -> tuple[object, str, str]:
        with pytest.raises(SystemExit) as ended:
            main(list(map(str, arguments)))
        return ended.value.code, *capfd.readouterr()

    return run


def test_a_picture_a_film_and_a_scene_of_one_roll(tmp_path: Path, run: Run) -> None:
    for name, options in (
        ("a.png", ["--width", "200", "--height", "120"]),
        ("b.png", ["--views", "4", "--width", "200", "--height", "160"]),
        ("c.png", ["--contacts", "--width", "400", "--height", "300"]),
        ("f.png", ["--pig", "pink", "--width", "200", "--height", "120"]),
        ("g.png", ["--no-label", "--width", "200", "--height", "120"]),
        ("d.gif", ["--width", "64", "--height", "48", "--fps", "4"]),
        ("e.glb", ["--speed", "0.5"]),
    ):
        roll = ("--seed", "3", "--index", "1")
        code, said, told = run("render", *roll, "--out", tmp_path / name, *options)
        assert code == 0, told
        assert said == f"{tmp_path / name}\n"
        if name == "d.gif":
            assert "frames" in told  # progress
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


def test_a_roll_of_a_dataset_is_that_roll(tmp_path: Path, run: Run) -> None:
    physim.batch(4, tmp_path / "d", seed=8, toss="hand", workers=1)
    size = ("--width", "160", "--height", "100")
    for name, options in (
        ("run.png", ("--run", tmp_path / "d")),
        ("seed.png", ("--seed", "8", "--toss", "hand")),
    ):
        code, _, told = run("render", "--out", tmp_path / name, "--index", "2", *options, *size)
        assert code == 0, told
    assert (tmp_path / "run.png").read_bytes() == (tmp_path / "seed.png").read_bytes()
    missing = ("--run", tmp_path / "d", "--index", "4")
    code, _, told = run("render", "--out", tmp_path / "x.png", *missing)
    assert code == 2 and "holds no roll 4" in told
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
def test_what_would_be_ignored_is_refused(
    options: list[str], says: str, tmp_path: Path, run: Run
) -> None:
    code, _, told = run("render", options[0], tmp_path / options[1], *options[2:])
    assert code == 2
    assert says in told and told.count("\n") == 1
    assert not list(tmp_path.iterdir())


def test_a_full_place_is_told_and_leaves_nothing(tmp_path: Path) -> None:
    """A limit of the size of files stands for a full disk."""
    program = (
        "import resource, sys; resource.setrlimit(resource.RLIMIT_FSIZE, (50000, 50000))\n"
        "from physim.cli.main import main\n"
        "for options in sys.argv[1:]:\n"
        "    try: main(['render', '--out', *options.split(' ')])\n"
        "    except SystemExit as end: assert end.code == 2"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, "a.png", "b.gif --fps 4", "c.glb"],
        capture_output=True,
        text=True,
        check=True,
        cwd=tmp_path,
    )
    for name in ("a.png", "b.gif", "c.glb"):
        assert f"physim: {name}: cannot be written (File too large)" in done.stderr
    assert not list(tmp_path.iterdir())


def test_an_mp4_without_the_encoder_says_what_to_install(
    tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "imageio_ffmpeg", None)
    code, _, told = run("render", "--out", tmp_path / "a.mp4")
    assert code == 2 and "pip install imageio-ffmpeg;" in told
    assert not list(tmp_path.iterdir())


def test_watch_refuses_what_a_dataset_fixes(run: Run) -> None:
    code, _, told = run("watch", "--run", "d", "--surface", "felt")
    assert code == 2 and "--surface does not go with --run" in told
