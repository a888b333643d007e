"""Where the throws of a game of people come from: physics, a table, a dataset, or a script."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from itertools import count, islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from physim.arguments import hint, shown_name, text
from physim.cli.game import PHYSICS, distribution_of
from physim.errors import ConfigError
from physim.files import read_plain, told

if TYPE_CHECKING:
    from physim.game.distribution import Distribution
    from physim.game.outcomes import Outcomes
    from physim.view.game_window import GameWindow

SETUP = ("model", "black", "pink", "toss", "height_mm", "surface", "time_step_s", "settle")
MAX_SCRIPT_BYTES = 1_000_000
_SCRIPT = "a script is a text with a throw a line"


def script_of(source: str) -> list[str] | None:
    """The throws of a file, one a line; None where the source is none.

    Raises:
        ConfigError: no such source, or a line that is no throw.
    """
    from physim.play.sources import table_names
    from physim.rules.throws import read_throw

    path = Path(text("--source", source))
    if source in (*table_names(), PHYSICS):
        return None
    with told(ConfigError, f"--source {shown_name(source)}: cannot be read", "name another"):
        there, folder = path.exists(), path.is_dir()
    if folder:
        return None
    if not there:
        valid = [*table_names(), PHYSICS]
        raise ConfigError(
            f"unknown source `{shown_name(source)}`{hint(source, valid)} (valid: "
            f"{', '.join(valid)}, the folder of a dataset, or a file with a throw a line)"
        )
    try:
        content = read_plain(path, ConfigError, _SCRIPT, MAX_SCRIPT_BYTES)
        lines = content.decode("utf-8-sig").splitlines()
    except ValueError as error:
        raise ConfigError(f"{path}: is no text; a script has a throw a line") from error
    throws = []
    for number, line in enumerate(lines, start=1):
        if line.strip() and not line.startswith("#"):
            try:
                read_throw(line)
            except ConfigError as error:
                raise ConfigError(f"{path}: line {number}: {error}") from error
            throws.append(line.strip())
    return throws


def expected(options: Mapping[str, Any]) -> Distribution:
    """The throws by which risk and advice are told: `--odds`, or the source's own.

    Physics and scripts have none of their own, so that the real rolls stand in.
    """
    source, odds = options["source"], options["odds"]
    if odds is None:
        own = source != PHYSICS and script_of(source) is None
        odds = source if own else "kern2006"
    if odds == PHYSICS:
        raise ConfigError(
            "--odds takes what was counted: kern2006, or a dataset that `physim batch` made"
        )
    return distribution_of(odds, 0, 0)


@contextmanager
def open_throws(options: Mapping[str, Any], thrown: int) -> Iterator[Outcomes]:
    """The throws of a game's options, those that it had already left out.

    A seed fixes them, so that a game that was killed goes on as it would have.
    """
    from physim.game.outcomes import Drawn, Rolled, Script
    from physim.seeding import stream

    source, seed = options["source"], options["seed"]
    script = script_of(source)
    if script is not None:
        yield Script(script[thrown:])
    elif source == PHYSICS:
        from physim.batch.progress import ProgressLine

        with closing(ProgressLine(sys.stderr)) as line:
            line.begin("loading the pigs ...")
            from physim.batch import preload  # noqa: F401
            from physim.batch.plan import BatchPlan

            opened = BatchPlan(n=1, **_plan(options)).open()
        with opened as simulator:
            yield Rolled(simulator.roll(seed, index) for index in count(thrown))
    else:
        drawn = Drawn(distribution_of(source, 0, 0), stream(seed, 0))
        for _ in islice(count(), thrown):
            drawn.next_throw()
        yield drawn


def open_window(options: Mapping[str, Any]) -> GameWindow:
    """The window that shows the rolls of `open_throws`; they come out as they are counted there.

    Raises:
        ConfigError: throws that are no physics.
    """
    from physim.view.game_window import GameWindow

    if options["source"] != PHYSICS:
        raise ConfigError(
            f"--watch shows rolls of physics, not the throws of {shown_name(options['source'])}; "
            "leave one of --watch and --source out"
        )
    from physim.batch.progress import ProgressLine

    with closing(ProgressLine(sys.stderr)) as line:
        line.begin("opening the window; without a graphics card it takes a while ...")
    return GameWindow(_plan(options))


def _plan(options: Mapping[str, Any]) -> dict[str, Any]:
    """What `BatchPlan` takes."""
    return {name: options[name] for name in ("seed", *SETUP)}
