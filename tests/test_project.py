"""What holds the project together, beside the code."""

from __future__ import annotations

import ast
import re
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path

import pytest

import physim
from physim.errors import EXTRAS, ConfigError, optional

ROOT = Path(__file__).resolve().parent.parent
PYPROJECT = ROOT / "pyproject.toml"
MAX_LINES = 450

# Put together here, so that this file does not contain what it looks for.
_HOSTS = (
    ("pypi", "org"),
    ("pythonhosted", "org"),
    ("npmjs", "org"),
    ("yarnpkg", "com"),
    ("anaconda", "org"),
    ("crates", "io"),
    ("golang", "org"),
    ("debian", "org"),
    ("ubuntu", "com"),
)
_PIP_OPTIONS = (("index", "url"), ("extra", "index", "url"), ("find", "links"), ("trusted", "host"))
REGISTRY = re.compile(
    "|".join(
        [rf"(?<![\w-]){re.escape('.'.join(host))}(?![\w-])" for host in _HOSTS]
        + [re.escape("--" + "-".join(option)) for option in _PIP_OPTIONS]
    )
)
MACHINE_PATH = re.compile(rf"(?<![\w.~}})-])/(?:{'|'.join(['work', 'home', 'root'])})/")


def committed_texts() -> dict[str, str]:
    """Text files that git tracks, by path from the root."""
    if shutil.which("git") is None or not (ROOT / ".git").exists():
        pytest.skip("not a git checkout")
    listing = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=True)
    texts = {}
    for name in filter(None, listing.stdout.decode().split("\0")):
        path = ROOT / name
        data = path.read_bytes() if path.is_file() else b""
        if b"\0" not in data:
            texts[name] = data.decode(errors="replace")
    assert "pyproject.toml" in texts
    return texts


def findings(pattern: re.Pattern[str], texts: dict[str, str]) -> list[str]:
    return [
        f"{name}:{number}: {line.strip()[:100]}"
        for name, text in texts.items()
        for number, line in enumerate(text.splitlines(), start=1)
        if pattern.search(line)
    ]


def test_no_registry_address_is_committed() -> None:
    assert findings(REGISTRY, committed_texts()) == []


def test_no_path_of_one_machine_is_committed() -> None:
    assert findings(MACHINE_PATH, committed_texts()) == []


@pytest.mark.parametrize(
    ("pattern", "line"),
    [
        (REGISTRY, "https://files." + ".".join(_HOSTS[1]) + "/packages/x.whl"),
        (REGISTRY, "--" + "-".join(_PIP_OPTIONS[0]) + " somewhere"),
        (MACHINE_PATH, 'open("' + "/".join(["", "home", "someone", "pigs.yaml"]) + '")'),
        (MACHINE_PATH, "file:" + "/".join(["", "", "", "root", "x"])),
    ],
)
def test_the_searches_find_what_they_should(pattern: re.Pattern[str], line: str) -> None:
    assert findings(pattern, {"sample": line})


@pytest.mark.parametrize(
    "line", ["https://example.com/home/index.html", "out/work/pigs", "~/work/"]
)
def test_the_path_search_leaves_other_paths_alone(line: str) -> None:
    assert not findings(MACHINE_PATH, {"sample": line})


@pytest.mark.parametrize("name", ["README.md", "CHANGELOG.md", "CONTRIBUTING.md", "LICENSE"])
def test_the_expected_documents_are_there(name: str) -> None:
    assert (ROOT / name).stat().st_size > 0


def test_constraints_are_names_and_exact_versions() -> None:
    pin = re.compile(r'[\w.-]+==[\w.!+]+( ; python_version (<|>=) "3\.11")?')
    lines = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    assert [line for line in lines if not line.startswith("#") and not pin.fullmatch(line)] == []


def test_every_direct_dependency_is_pinned() -> None:
    _, _, rest = PYPROJECT.read_text(encoding="utf-8").partition("\ndependencies = [")
    block, _, _ = rest.partition("\n[project.scripts]")
    wanted = re.findall(r'^    "([\w-]+)', block, re.M)
    pinned = re.findall(r"^([\w.-]+)==", (ROOT / "constraints.txt").read_text(), re.M)
    missing = {name.lower() for name in wanted} - {name.lower() for name in pinned}
    assert len(wanted) > 5
    assert missing == set()


def test_imports_run_one_way() -> None:
    pytest.importorskip("importlinter")
    program = "from importlinter.cli import lint_imports_command as main; main()"
    run = subprocess.run(
        [sys.executable, "-c", program, "--no-cache"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stdout + run.stderr


def test_no_module_is_too_long() -> None:
    lengths = {
        str(path.relative_to(ROOT)): len(path.read_text(encoding="utf-8").splitlines())
        for path in (ROOT / "physim").rglob("*.py")
    }
    assert {name: n for name, n in lengths.items() if n > MAX_LINES} == {}


def test_the_version_is_stated_once_and_the_same() -> None:
    stated = re.findall(r'^version = "([^"]+)"', PYPROJECT.read_text(encoding="utf-8"), re.M)
    assert stated == [physim.__version__]


def test_nobody_is_sent_to_another_project_of_that_name() -> None:
    """`pip install physim[...]` would install it; `pip install '.[...]'` in a checkout is ours."""
    advice = re.compile("physim" + r"(-pigs)?\[(calibrate|dask|dev|fast|film|mesh|mujoco|pdf|plot)")
    assert advice.search("'physim" + "[film]'")
    assert findings(advice, committed_texts()) == []


def test_the_libraries_of_each_extra_are_those_of_the_project() -> None:
    _, _, rest = PYPROJECT.read_text(encoding="utf-8").partition("[project.optional-dependencies]")
    block, _, _ = rest.partition("\n[")
    listed = {
        name: tuple(re.findall(r'"([\w-]+)', libraries))
        for name, libraries in re.findall(r"^(\w+) = \[(.*?)\]", block, re.M | re.S)
    }
    assert {name: libraries for name, libraries in listed.items() if name != "dev"} == EXTRAS


def test_a_missing_library_is_told_with_the_command_of_this_python(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(sys, "executable", "/opt/my pigs/bin/python")
    monkeypatch.setitem(sys.modules, "fpdf", None)
    with pytest.raises(ConfigError) as told:
        optional("fpdf", "pdf", "the sheet", "; or write by hand")
    assert str(told.value) == (
        "the sheet needs `fpdf`, which is not installed; get it with: "
        "'/opt/my pigs/bin/python' -m pip install fpdf2 matplotlib; or write by hand"
    )
    (tmp_path / "broken_pigs.py").write_text("import a_library_that_nobody_has")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(ConfigError, match=r"cannot be loaded .*a_library_that_nobody_has"):
        optional("broken_pigs", "pdf", "the sheet")


def test_the_installed_version_is_this_one() -> None:
    assert metadata.version("physim-pigs") == physim.__version__


# What these stood for has the field's own word now (or is gone); none comes back by accident.
RETIRED = frozenset(
    re.findall(
        r"\w+",
        """
        Solo Together Watch Near met look_ticks steps_a_call call_s room_m way_m closing_m_s
        enough_m SPEED_UP farthest into_body out_of_body Held _sail lifted Certificate parked
        highest_m Stillness lean_m LEAN_GROUPS sag_m Track Recording preferring Prepared Kit Crew
        renew plausible Found REFUSED fate in_force Theatre RunTheatre Stage Knobs Screening
        seen_sky Joint Contestant Lane BarePyBullet certificates solos Tally judge
        """,
    )
)


def _identifiers(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            yield node.name
        elif isinstance(node, ast.Name):
            yield node.id
        elif isinstance(node, ast.Attribute):
            yield node.attr
        elif isinstance(node, ast.arg) or (isinstance(node, ast.keyword) and node.arg):
            yield node.arg or ""


def test_no_retired_identifier_is_left() -> None:
    found = {}
    for path in sorted((ROOT / "physim").rglob("*.py")):
        names = {path.stem, *_identifiers(ast.parse(path.read_text(encoding="utf-8")))}
        if left := names & RETIRED:
            found[str(path.relative_to(ROOT))] = left
    assert found == {}


def test_no_file_name_and_no_class_name_is_used_twice() -> None:
    paths = [path for path in (ROOT / "physim").rglob("*.py") if path.stem != "__init__"]
    files = Counter(path.stem for path in paths)
    trees = [ast.parse(path.read_text(encoding="utf-8")) for path in paths]
    nodes = [node for tree in trees for node in ast.walk(tree)]
    classes = Counter(node.name for node in nodes if isinstance(node, ast.ClassDef))
    assert {name for name, times in (files + classes).items() if times > 1} <= {"report", "types"}
