"""Every example of docs/datasets.md runs, and all programs come to the same counts."""

from __future__ import annotations

import csv
import importlib.util
import re
from collections import Counter
from pathlib import Path

import pytest
from fake_rolls import FakePlan

from physim.dataset.parquet import read_counts
from physim.dataset.rows import COLUMNS
from physim.dataset.run import run_batch
from physim.types import PIG_NAMES

GUIDE = (Path(__file__).parents[2] / "docs" / "datasets.md").read_text(encoding="utf-8")
EXAMPLES = re.findall(r"^```python\n(.*?)^```", GUIDE, re.M | re.S)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the guide's `out/demo` is."""
    folder = tmp_path_factory.mktemp("guide")
    run_batch(FakePlan(n=700, chunk_size=100), folder / "out" / "demo", workers=1)
    return folder


def library_of(example: str) -> str:
    found = re.search(r"^(?:import|from) (\w+)", example)
    assert found
    return found[1]


def test_the_guide_has_an_example_for_each_program() -> None:
    libraries = [library_of(example) for example in EXAMPLES]
    assert libraries == ["pyarrow", "pandas", "polars", "duckdb", "pyarrow", "physim"]


@pytest.mark.parametrize("example", EXAMPLES, ids=library_of)
def test_example(folder: Path, monkeypatch: pytest.MonkeyPatch, example: str) -> None:
    if importlib.util.find_spec(library_of(example)) is None:
        pytest.skip(f"{library_of(example)} is not installed")
    monkeypatch.chdir(folder)
    names: dict[str, object] = {}
    exec(example, names)
    counts = read_counts(folder / "out" / "demo").outcomes
    if "write_csv" in example:
        with (folder / "rolls.csv").open(encoding="utf-8", newline="") as file:
            names["outcomes"] = Counter(row["outcome"] for row in csv.DictReader(file))
    assert names["outcomes"] == {outcome.value: n for outcome, n in counts.items() if n}


def test_other_programs_read_rows_in_the_order_of_the_index(folder: Path) -> None:
    files = folder / "out" / "demo" / "rolls"
    pandas, duckdb = pytest.importorskip("pandas"), pytest.importorskip("duckdb")
    assert pandas.read_parquet(files)["index"].to_list() == list(range(700))
    query = f"SELECT index FROM '{files}/*.parquet'"
    assert [index for (index,) in duckdb.sql(query).fetchall()] == list(range(700))


def test_the_guide_tells_every_column_with_its_type() -> None:
    roll, pig = (columns_told(text) for text in GUIDE.split("and for each pig", 1))
    expected = roll | {
        f"{name}_{column}": kind for name in PIG_NAMES for column, kind in pig.items()
    }
    assert expected == COLUMNS


def columns_told(text: str) -> dict[str, str]:
    """Name and type of the columns in a table of the guide."""
    told: dict[str, str] = {}
    for line in re.findall(r"^\| (`.*?) \| (\w+)", text, re.M):
        told |= dict.fromkeys(re.findall(r"`(\w+)`", line[0]), line[1])
    return told
