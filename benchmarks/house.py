"""Measures the house: how much there is to read, and how much of it a roll passes through.

    python benchmarks/house.py [ROOT]

prints a table of the checkout at ROOT (this one by default). It only reads the source, but for the
files that a roll passes, which are counted while one runs.
"""

from __future__ import annotations

import ast
import json
import subprocess
import sys
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
MAY_REPEAT = {"__init__", "report", "types"}
Function = ast.FunctionDef | ast.AsyncFunctionDef

# Run in a process of its own: prints how many files of physim had a function called.
TRACER = """
import sys
root, mode = sys.argv[1], sys.argv[2]
sys.path.insert(0, root)
called = set()
def note(frame, event, argument):
    code = frame.f_code  # bit 0: a function, neither a module nor a class body
    if event == "call" and code.co_flags & 1 and code.co_filename.startswith(root + "/physim/"):
        called.add(code.co_filename)
if mode == "command":
    import io
    sys.argv = ["physim", "roll", "-n", "1", "--seed", "1"]
    sys.setprofile(note)
    try:
        from physim.__main__ import main
        main()
    except SystemExit:
        pass
    sys.setprofile(None)
    print(len(called), file=sys.stderr)
else:
    import physim
    most = 0
    for toss in ("trapdoor", "hand", "drop"):
        with physim.Simulator(physim.Setup.named(toss=toss)) as simulator:
            for index in range(12):  # warm
                simulator.roll(2, index)
            for index in range(1, 31):
                called.clear()
                sys.setprofile(note)
                simulator.roll(1, index)
                sys.setprofile(None)
                most = max(most, len(called))
    print(most, file=sys.stderr)
"""


def modules(root: Path) -> dict[str, Path]:
    """Every module of the package by its dotted name."""
    found = {}
    for path in sorted((root / "physim").rglob("*.py")):
        name = ".".join(path.relative_to(root).with_suffix("").parts)
        found[name.removesuffix(".__init__")] = path
    return found


def imported(tree: ast.Module, known: set[str]) -> set[str]:
    """The package's own modules that a module imports, wherever the import stands."""
    names = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module and not node.level:
            for alias in node.names:
                whole = f"{node.module}.{alias.name}"
                names.add(whole if whole in known else node.module)
        elif isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
    return names & known


def stands_on(start: str, graph: dict[str, set[str]]) -> int:
    """How many modules a module imports, directly or through others; itself not counted."""
    seen, waiting = {start}, [start]
    while waiting:
        for name in graph[waiting.pop()] - seen:
            seen.add(name)
            waiting.append(name)
    return len(seen) - 1


def files_passed(root: Path, mode: str) -> int:
    """How many files had a function called: "command" by `physim roll`, "warm" by one more roll."""
    run = subprocess.run(
        [sys.executable, "-c", TRACER, str(root), mode], capture_output=True, text=True, check=True
    )
    return int(run.stderr.split()[-1])


def measure(root: Path) -> dict[str, object]:
    """All measures by name."""
    paths = modules(root)
    texts = {name: path.read_text(encoding="utf-8") for name, path in paths.items()}
    trees = {name: ast.parse(text) for name, text in texts.items()}
    lengths = {name: len(text.splitlines()) for name, text in texts.items()}
    nodes = [node for tree in trees.values() for node in ast.walk(tree)]
    functions = [node for node in nodes if isinstance(node, Function)]
    spans = [((node.end_lineno or 0) - node.lineno + 1, node.name) for node in functions]
    documented = [
        node.body[0]
        for node in nodes
        if isinstance(node, Function | ast.ClassDef | ast.Module) and ast.get_docstring(node)
    ]
    docs = sum((node.end_lineno or 0) - node.lineno + 1 for node in documented)
    classes = Counter(node.name for node in nodes if isinstance(node, ast.ClassDef))
    files = Counter(path.stem for path in paths.values())
    graph = {name: imported(tree, set(paths)) for name, tree in trees.items()}
    fitting = next(n for n in ("calibrate.fit", "calibrate.plan") if f"physim.{n}" in graph)
    if "physim.calibrate.plan" in graph:  # where the fit was before it had this name
        fitting = "calibrate.plan"
    return {
        "files": len(paths),
        "lines": sum(lengths.values()),
        "longest file": max(lengths.values()),
        "longest function": "{} ({})".format(*max(spans)),
        "mean function": round(sum(length for length, _ in spans) / len(spans), 2),
        "docstring share": f"{100 * docs / sum(lengths.values()):.1f} %",
        "file names used twice": sorted(
            n for n, k in files.items() if k > 1 and n not in MAY_REPEAT
        ),
        "class names used twice": sorted(name for name, k in classes.items() if k > 1),
        f"modules that {fitting} stands on": stands_on(f"physim.{fitting}", graph),
        "files that `physim roll` passes": files_passed(root, "command"),
        "files that a warm roll passes, at most": files_passed(root, "warm"),
    }


if __name__ == "__main__":
    for name, value in measure(Path(sys.argv[1]).resolve() if sys.argv[1:] else ROOT).items():
        print(f"{name:40} {value if isinstance(value, str) else json.dumps(value)}")
