"""The names and numbers that fix how pigs are thrown: one list for every door.

`SetupOptions` makes the options of the command line, the arguments of `physim.roll` and
`physim.batch`, and what a dataset's manifest keeps. It loads no physics.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

from physim import config
from physim.errors import ConfigError, shown

if TYPE_CHECKING:
    from physim.simulator import Setup

SETTLE_MODES = FULL, FAST = "full", "fast"


def _option(default: Any, kind: str, metavar: str | None, words: str) -> Any:
    """A field, and what the command line says of it.

    Args:
        default: None where the toss or the engine has its own.
        kind: of value: "text", "mm", "mm_mm" (two lengths), "s" or "settle".
        metavar: what stands for its value in `--help`.
        words: of `--help`.
    """
    return field(default=default, metadata={"kind": kind, "metavar": metavar, "help": words})


@dataclass(frozen=True, kw_only=True)
class SetupOptions:
    """What fixes a roll besides seed and index, as a user gives it.

    NumPy's numbers and paths are taken, and kept as Python's own numbers and texts.

    Attributes:
        model: of both pigs: a name or a path to a model folder.
        black, pink: of one pig, in place of `model`.
        toss: `trapdoor`, `hand`, `drop` or another name, or a path to a YAML file.
        height_mm: of release; None for the toss's own.
        surface: of the table; None for the default.
        table_size_mm: length and width of the table; None for the surface's own.
        time_step_s: of the engine, 1/256 s halved any number of times; None for the default.
        settle: `full` simulates until the pigs are still, `fast` until the outcome is certain.
    """

    model: str | Path = _option("standard", "text", "NAME|FOLDER", "Pig model of both pigs.")
    black: str | Path | None = _option(None, "text", "NAME|FOLDER", "Model of the black pig only.")
    pink: str | Path | None = _option(None, "text", "NAME|FOLDER", "Model of the pink pig only.")
    toss: str | Path = _option(
        "trapdoor",
        "text",
        "NAME|FILE",
        "How the pigs are released: trapdoor, hand, drop, trapdoor_big, hand_big, "
        "trapdoor_before_fit, or the YAML file of a toss.",
    )
    height_mm: float | None = _option(
        None,
        "mm",
        "MM",
        "Height of release, 1 to 3000. Without it, the toss's own; trapdoor alternates.",
    )
    surface: str | None = _option(
        None,
        "text",
        "NAME",
        "What covers the table: laminate (default), wood, glass, cloth, felt; or floor.",
    )
    table_size_mm: tuple[float, float] | None = _option(
        None,
        "mm_mm",
        "LENGTH WIDTH",
        "Of the table, 1 to 100000 each. Without it, the surface's own.",
    )
    time_step_s: float | None = _option(
        None, "s", "S", "Time step of the engine: 1/256, 1/512 ... 1/65536 (advanced)."
    )
    settle: str = _option(
        FAST,
        "settle",
        None,
        "full: until both pigs are still; fast: until the outcome is certain (the same rolls).",
    )

    def __post_init__(self) -> None:
        for entry in fields(SetupOptions):
            value = getattr(self, entry.name)
            if value is None and entry.default is None:
                continue
            object.__setattr__(self, entry.name, _checked(entry.name, entry.metadata, value))

    def names(self) -> dict[str, Any]:
        """The options by name, as JSON takes them."""
        return {entry.name: getattr(self, entry.name) for entry in fields(SetupOptions)}

    def setup(self) -> Setup:
        """Loads what the names stand for.

        Raises:
            ConfigError, ModelError: an unknown name, or a file that cannot be used.
        """
        from physim.physics.surfaces import EngineSettings, table
        from physim.pigs.model import load_model
        from physim.simulator import Setup
        from physim.tosses.release import toss

        black, pink = (one or self.model for one in (self.black, self.pink))
        black_model = load_model(black)
        return Setup(
            black_model,
            black_model if pink == black else load_model(pink),
            toss(str(self.toss), self.height_mm),
            table(self.surface, self.table_size_mm),
            EngineSettings.with_step(self.time_step_s),
            settle=self.settle,
        )


def _checked(name: str, about: Any, value: Any) -> Any:
    if about["kind"] == "text":
        return config.text(name, value)
    if about["kind"] in ("mm", "s"):
        return config.number(name, value)
    if about["kind"] == "mm_mm":
        if not isinstance(value, Sequence) or isinstance(value, str) or len(value) != 2:
            raise ConfigError(f"{name} must be two lengths, such as 800 500, found {shown(value)}")
        return tuple(config.number(name, length) for length in value)
    if value not in SETTLE_MODES:
        raise ConfigError(f"{name} must be {' or '.join(SETTLE_MODES)}, found {shown(value)}")
    return value
