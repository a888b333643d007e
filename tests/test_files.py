"""Files are read and replaced with care, and refusals of the system are told as what they are."""

from __future__ import annotations

import errno
import os
import stat
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from physim import files
from physim.cli.main import main
from physim.errors import ConfigError, GameError
from physim.render.film import write_mp4
from physim.terminal.savefile import sole_keeper


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


@pytest.mark.parametrize("links", [1, 3])
def test_what_a_link_leads_to_is_replaced(tmp_path: Path, links: int) -> None:
    real, link = tmp_path / "elsewhere" / "real.json", tmp_path / "real.json"
    real.parent.mkdir()
    for number in range(links):
        link = tmp_path / f"link{number}.json"
        link.symlink_to(real if number == 0 else f"link{number - 1}.json")
    for content in (b"new", b"newer"):  # first through a link that leads to no file yet
        files.write_whole(link, content)
        assert (real.read_bytes(), link.is_symlink()) == (content, True)
    assert names(real.parent) == ["real.json"]


def test_links_in_a_circle_are_told(tmp_path: Path) -> None:
    (tmp_path / "a").symlink_to("b")
    (tmp_path / "b").symlink_to("a")
    with (
        pytest.raises(ConfigError, match=r"^a: cannot be written .*circle: remove them; or else$"),
        files.told(ConfigError, "a: cannot be written", "or else"),
    ):
        files.write_whole(tmp_path / "a", b"")


@pytest.mark.parametrize("kept", [0o600, 0o640, 0o666, 0o755, 0o200])
def test_a_file_keeps_its_mode_and_is_never_open_to_more(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kept: int
) -> None:
    path = tmp_path / "g.json"
    path.write_bytes(b"old")
    path.chmod(kept)
    with files.replaced(path) as unfinished:
        assert mode(unfinished) == kept
        unfinished.write_bytes(b"new")
    assert mode(path) == kept
    path.chmod(0o600)
    assert path.read_bytes() == b"new"


def test_a_new_file_has_the_usual_mode(tmp_path: Path) -> None:
    files.write_whole(tmp_path / "a", b"")
    (tmp_path / "b").write_bytes(b"")
    assert mode(tmp_path / "a") == mode(tmp_path / "b")


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may give files away")
def test_a_file_keeps_its_owner(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_bytes(b"old")
    os.chown(path, 1234, 4321)
    files.write_whole(path, b"new")
    assert (path.stat().st_uid, path.stat().st_gid, path.read_bytes()) == (1234, 4321, b"new")


def test_a_read_only_file_is_refused_to_root_too(tmp_path: Path) -> None:
    path = tmp_path / "p.png"
    path.write_bytes(b"mine")
    path.chmod(0o444)
    with pytest.raises(PermissionError, match="read-only"):
        files.write_whole(path, b"")
    assert [path.read_bytes(), *names(tmp_path)] == [b"mine", "p.png"]


def test_the_picture_of_a_read_only_file_is_refused_before_it_is_drawn(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "p.png"
    path.touch(0o444)
    with pytest.raises(SystemExit) as end:
        main(["render", "--seed", "1", "--out", str(path)])
    assert end.value.code == 2
    assert "cannot be written (it is read-only)" in capsys.readouterr().err
    assert path.stat().st_size == 0


@pytest.mark.parametrize(
    "name", ["x" * 255, "ä" * 127, "12:30", "-a", "new\nline", "%d", "d\udcff"]
)
def test_any_legal_name_is_written(tmp_path: Path, name: str) -> None:
    for content in (b"1", b"2"):
        files.write_whole(tmp_path / name, content)
    with sole_keeper(tmp_path / name):
        assert (tmp_path / name).read_bytes() == b"2"
    assert names(tmp_path) == [name]


@pytest.mark.parametrize("name", ["12:30.mp4", "file:a.mp4", "%03d.mp4", "-y.mp4", "a b's.mp4"])
def test_a_film_of_any_name_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    pytest.importorskip("imageio_ffmpeg")
    monkeypatch.chdir(tmp_path)
    frames = [Image.fromarray(np.full((32, 32, 3), shade, dtype=np.uint8)) for shade in (0, 90)]
    with files.replaced(Path(name)) as unfinished:
        write_mp4(unfinished, frames, 5.0, held=1)
    assert names(Path()) == [name]
    assert Path(name).read_bytes()[4:8] == b"ftyp"


@pytest.mark.parametrize("code", [errno.EINVAL, errno.ENOTSUP, errno.EACCES])
def test_a_folder_that_cannot_be_synced_is_passed_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: int
) -> None:
    real = os.fsync

    def fsync(handle: int) -> None:
        if stat.S_ISDIR(os.fstat(handle).st_mode):
            raise OSError(code, os.strerror(code))
        real(handle)

    monkeypatch.setattr(os, "fsync", fsync)
    files.write_whole(tmp_path / "a", b"1")
    assert (tmp_path / "a").read_bytes() == b"1"


@pytest.mark.parametrize("code", [errno.EIO, errno.ENOSPC])
def test_what_does_not_reach_the_disk_leaves_the_old_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: int
) -> None:
    (tmp_path / "a").write_bytes(b"old")

    def fsync(handle: int) -> None:
        raise OSError(code, os.strerror(code))

    monkeypatch.setattr(os, "fsync", fsync)
    with pytest.raises(OSError, match=os.strerror(code)):
        files.write_whole(tmp_path / "a", b"new")
    assert [(tmp_path / "a").read_bytes(), *names(tmp_path)] == [b"old", "a"]


def test_devices_and_pipes_are_written_to_and_stay(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    files.write_whole(Path("/dev/null"), b"gone")
    assert stat.S_ISCHR(Path("/dev/null").stat().st_mode)
    files.write_whole(Path("/dev/stdout"), b"printed\n")
    assert capfd.readouterr().out == "printed\n"
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with pytest.raises(OSError, match="No such device"):  # nobody reads
        files.write_whole(pipe, b"")
    read: list[bytes] = []
    reader = threading.Thread(target=lambda: read.append(pipe.read_bytes()))
    reader.start()
    while reader.is_alive() and not read:
        try:
            files.write_whole(pipe, b"through")
            break
        except OSError:  # it has not opened the pipe yet
            pass
    reader.join(10)
    assert (read, stat.S_ISFIFO(pipe.stat().st_mode)) == ([b"through"], True)


def test_a_game_is_locked_by_whatever_name(tmp_path: Path) -> None:
    (tmp_path / "real.json").write_text("{}")
    (tmp_path / "link.json").symlink_to("real.json")
    with sole_keeper(tmp_path / "real.json"):
        other = sole_keeper(tmp_path / "link.json")
        with pytest.raises(GameError, match="another process has this game open"):
            other.__enter__()
    with sole_keeper(tmp_path / "link.json"):
        pass


@pytest.mark.parametrize(
    ("code", "says"),
    [
        (errno.EMFILE, "`ulimit -n`"),
        (errno.EFBIG, "`ulimit -f`"),
        (errno.EAGAIN, "`ulimit -u`"),
        (errno.ENOMEM, "`ulimit -v`"),
        (errno.ENOSPC, "free some space"),
    ],
)
def test_a_limit_is_told_with_its_remedy(code: int, says: str) -> None:
    text = files.refusal(OSError(code, os.strerror(code)), "d: cannot be written", "or elsewhere")
    assert text.startswith(f"d: cannot be written ({os.strerror(code)}); ")
    assert says in text and text.endswith("; or elsewhere")


def test_a_temporary_file_that_is_gone_names_tmpdir(monkeypatch: pytest.MonkeyPatch) -> None:
    with files.scratch() as folder:
        gone = OSError(errno.ENOENT, os.strerror(errno.ENOENT), str(folder / "part.obj"))
    assert "TMPDIR" in files.refusal(gone, "the roll cannot be made")


@pytest.mark.skipif(not os.access("/dev/shm", os.W_OK), reason="no memory for files")
def test_memory_for_files_is_a_folder_as_any_other() -> None:
    path = Path(f"/dev/shm/physim-test-{os.getpid()}")
    try:
        for content in (b"old,", b"new"):
            files.write_whole(path, content)
            assert path.read_bytes() == content
    finally:
        path.unlink(missing_ok=True)


def test_two_that_write_one_file_do_not_mix(tmp_path: Path) -> None:
    contents = [bytes([65 + k]) * 100_000 for k in range(3)]

    def write(content: bytes) -> set[int]:
        seen = set()
        for _ in range(30):
            files.write_whole(tmp_path / "a", content)
            seen.add(len(set((tmp_path / "a").read_bytes())))
        return seen

    with ThreadPoolExecutor(3) as threads:
        assert set().union(*threads.map(write, contents)) == {1}
    assert names(tmp_path) == ["a"]


def test_a_file_of_the_user_s_own_is_no_temporary_one() -> None:
    own = OSError(errno.EACCES, "it is read-only", "/tmp/physim-games/p.png")
    assert "TMPDIR" not in files.refusal(own, "p.png: cannot be written", "name another")


@pytest.mark.parametrize("kind", ["pipe", "folder", "large", "missing"])
def test_only_plain_files_of_some_size_are_read(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "a"
    {"pipe": os.mkfifo, "folder": os.mkdir, "large": lambda p: p.write_bytes(b"12345")}.get(
        kind, lambda p: None
    )(path)
    with pytest.raises(ConfigError, match=f"{path}: .*; do so"):
        files.read_plain(path, ConfigError, "do so", 4)


def test_two_writers_at_once_do_not_mix_theirs(tmp_path: Path) -> None:
    path = tmp_path / "a"
    with files.replaced(path) as one:
        one.write_bytes(b"1" * 100)
        files.write_whole(path, b"2")
        assert path.read_bytes() == b"2"
    assert (path.read_bytes(), names(tmp_path)) == (b"1" * 100, ["a"])


def test_a_link_to_what_a_shell_has_open_is_written_to(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "a").symlink_to("/dev/fd/1")
    files.write_whole(tmp_path / "a", b"printed\n")
    assert capfd.readouterr().out == "printed\n"
    assert names(tmp_path) == ["a"]


def test_a_file_keeps_its_attributes(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_bytes(b"old")
    try:
        os.setxattr(path, "user.origin", b"mine")
    except (OSError, AttributeError):
        pytest.skip("a file system without attributes")
    files.write_whole(path, b"new")
    assert (os.getxattr(path, "user.origin"), path.read_bytes()) == (b"mine", b"new")


@pytest.mark.parametrize("refused", ["chown", "chmod", "setxattr"])
def test_what_cannot_be_kept_is_no_failure_and_opens_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, refused: str
) -> None:
    path = tmp_path / "a"
    path.write_bytes(b"old")
    path.chmod(0o600)

    def refuse(*given: object, **more: object) -> None:
        raise PermissionError(errno.EPERM, os.strerror(errno.EPERM))

    monkeypatch.setattr(os, refused, refuse, raising=False)
    files.write_whole(path, b"new")
    assert (mode(path), path.read_bytes()) == (0o600, b"new")


def test_a_folder_whose_name_is_no_utf8_holds_no_temporary_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "t\udcff"
    folder.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(folder))
    with pytest.raises(ConfigError, match=r"t\udcff: .*set TMPDIR.*UTF-8"), files.scratch():
        pass
    assert names(folder) == []
