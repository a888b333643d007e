"""What users give: values and YAML files, checked; the options that fix how pigs are thrown.

What other libraries use for the same thing is taken too (NumPy's numbers, paths) and comes back
as Python's own type, so that it can be written down and compared.

YAML's plain scalars are read as YAML 1.2 has them, and numbers are decimal: `0100` is a hundred,
`1e3` a thousand. `yes`, `1:40`, `0x10`, `1_000` and dates are texts, which are refused where a
number is meant. YAML 1.1, which PyYAML reads, takes `0100` for 64, `1e3` for a text.
"""

from __future__ import annotations

import contextlib
import math
import operator
import os
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from importlib.util import find_spec
from numbers import Real
from pathlib import Path
from typing import Any

import yaml

from physim.errors import ConfigError, hint, shown, shown_name
from physim.files import read_plain

MAX_ROLLS, MAX_WORKERS = 10**12, 1024  # of a batch
MAX_TEXT = 4096  # characters: more than any path that a system takes


def _plainly(value: object) -> str:
    """What to do about a text in place of a number."""
    if not isinstance(value, str) or not any(map(str.isdigit, value)):
        return ""
    decimal = re.fullmatch(r"[-+]?[0-9]*\.?[0-9]+([eE][-+]?[0-9]+)?", value)
    return "; write it without quotes" if decimal else "; write it as a decimal number, such as 100"


def whole(name: str, value: object, low: int, high: int) -> int:
    """A whole number in [low, high], no bool; a ConfigError for anything else."""
    if not isinstance(value, bool):
        with contextlib.suppress(TypeError):
            number = operator.index(value)  # type: ignore[arg-type]
            if low <= number <= high:
                return number
    raise ConfigError(
        f"{name} must be a whole number from {low} to {high}, found {shown(value)}{_plainly(value)}"
    )


def real(name: str, value: object) -> float:
    """A number as a float, NaN too, but no bool and no text; a ConfigError for anything else."""
    with contextlib.suppress(OverflowError):  # an integer of hundreds of digits
        if not isinstance(value, bool) and isinstance(value, Real):
            return float(value)
    raise ConfigError(f"{name} must be a finite number, found {shown(value)}{_plainly(value)}")


def number(name: str, value: object) -> float:
    """As `real`, but neither NaN nor infinite."""
    plain = real(name, value)
    if not math.isfinite(plain):
        raise ConfigError(f"{name} must be a finite number, found {shown(value)}")
    return plain


def text(name: str, value: object) -> str:
    """A name or a path as a text that can be used; a ConfigError for anything else."""
    plain = os.fspath(value) if isinstance(value, os.PathLike) else value
    if not isinstance(plain, str):
        raise ConfigError(f"{name} must be a text, found {shown(value)}")
    if not plain.strip():
        raise ConfigError(f"{name} must not be empty; leave it out or name something")
    if len(plain) > MAX_TEXT or "\0" in plain:
        raise ConfigError(f"{name} is no usable name: {shown(plain)}")
    return plain


def one_of(name: str, value: object, valid: Iterable[str]) -> str:
    """One of some texts.

    Raises:
        ConfigError: anything else; names the nearest valid one.
    """
    valid = list(valid)
    if value not in valid:
        raise ConfigError(
            f"{name} must be one of {', '.join(valid)}, found {shown(value)}{hint(value, valid)}"
        )
    return str(value)


def optional_text(name: str, value: object) -> str | None:
    """None, or as `text`."""
    return None if value is None else text(name, value)


def path(name: str, value: object) -> Path:
    """A path, checked as `text`."""
    return Path(text(name, value))


MAX_BYTES = 1_000_000  # no settings file of ours comes near; refuses a wrong file early
_TAG = "tag:yaml.org,2002:"
_WORDS = {
    "null": (r"~|null|Null|NULL|", ["~", "n", "N", ""]),
    "bool": (r"true|True|TRUE|false|False|FALSE", list("tTfF")),
}
_NUMBERS = {
    "int": (r"[-+]?[0-9]{1,400}", list("-+0123456789")),
    "float": (
        r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?"
        r"|[-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN)",
        list("-+.0123456789"),
    ),
}


class _Loader(yaml.SafeLoader):
    """Refuses a key written twice, of which YAML would keep the last, aliases and tags.

    A few lines of aliases of aliases can stand for thousands of millions of values, and a tag
    (`!!bool yes`) makes of a text what it is not.
    """

    def compose_node(self, parent: yaml.Node | None, index: int) -> yaml.Node | None:
        if self.check_event(yaml.AliasEvent):
            mark = self.peek_event().start_mark  # type: ignore[no-untyped-call]
            raise yaml.composer.ComposerError(
                None, None, "an alias (*) is not taken; write the value out", mark
            )
        event = self.peek_event()  # type: ignore[no-untyped-call]
        if getattr(event, "tag", None) is not None:
            raise yaml.composer.ComposerError(
                None, None, "a tag (!) is not taken; write the value alone", event.start_mark
            )
        return super().compose_node(parent, index)

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        seen = set()
        for key, _ in node.value:
            if isinstance(key, yaml.ScalarNode) and (key.tag, key.value) in seen:
                raise yaml.constructor.ConstructorError(
                    None, None, f"the key `{shown_name(key.value)}` is there twice", key.start_mark
                )
            seen.add((key.tag, key.value) if isinstance(key, yaml.ScalarNode) else id(key))
        return super().construct_mapping(node, deep)

    def decimal(self, node: yaml.ScalarNode) -> int | float:
        """A number of either kind."""
        text = str(self.construct_scalar(node))
        if node.tag == f"{_TAG}int":
            return int(text)
        return float(re.sub(r"\.(?=[in])", "", text.lower()))


class _Dumper(yaml.SafeDumper):
    """Puts into quotes what either kind of YAML takes for something else than a text."""


_Loader.yaml_implicit_resolvers = {}
for _name, (_pattern, _first) in (_WORDS | _NUMBERS).items():
    for _class in (_Loader, _Dumper):
        _class.add_implicit_resolver(_TAG + _name, re.compile(f"^(?:{_pattern})$"), _first)
for _name in _NUMBERS:
    _Loader.add_constructor(_TAG + _name, _Loader.decimal)


def dumped(data: Mapping[str, Any]) -> str:
    """The YAML text of a mapping."""
    return yaml.dump(dict(data), Dumper=_Dumper, sort_keys=False, width=100, allow_unicode=True)


def load(path: Path) -> dict[str, Any]:
    """Reads one YAML mapping; a ConfigError says where it is broken."""
    try:
        text = read_plain(path, ConfigError, "name a YAML file", MAX_BYTES).decode()
    except UnicodeDecodeError as error:
        raise ConfigError(f"{path}: not a UTF-8 text file; is it a YAML file?") from error
    try:
        data = yaml.load(text, _Loader)
    except Exception as error:  # PyYAML lets some of its own slips through, such as IndexError
        where = ""
        mark = getattr(error, "problem_mark", None)
        if mark is not None:
            where = f" at line {mark.line + 1}, column {mark.column + 1}"
        problem = getattr(error, "problem", None) or "not valid YAML"
        raise ConfigError(f"{path}: broken YAML{where}: {problem}") from error
    if not isinstance(data, dict):
        raise ConfigError(f"{path}: expected `key: value` lines, found {type(data).__name__}")
    return data


def check_keys(
    data: Mapping[str, Any], known: Iterable[str], where: str, required: Iterable[str] = ()
) -> None:
    """Refuses unknown and missing keys by a ConfigError that names the nearest valid one."""
    known = list(known)
    for key in data:
        if key not in known:
            raise ConfigError(
                f"{where}: unknown key `{shown_name(key)}`{hint(key, known)} "
                f"(valid: {', '.join(known)})"
            )
    for key in required:
        if key not in data:
            raise ConfigError(f"{where}: the key `{key}` is missing")


def number_at(
    data: Mapping[str, Any],
    key: str,
    where: str,
    low: float = -math.inf,
    high: float = math.inf,
) -> float:
    """The finite number at `key`, inside [low, high]; else a ConfigError."""
    value = number(f"{where}: `{key}`", data.get(key))
    if not low <= value <= high:
        raise ConfigError(f"{where}: `{key}` must lie in [{low:g}, {high:g}], found {value:g}")
    return value


SETTLE_MODES = FULL, FAST = "full", "fast"
ENGINES = PYBULLET, COMPILED = "pybullet", "compiled"
MUJOCO = "mujoco"
HAS_PYBULLET = find_spec("pybullet") is not None
DEFAULT_ENGINE = PYBULLET if HAS_PYBULLET else COMPILED


def _option(default: Any, kind: str | tuple[str, ...], metavar: str | None, words: str) -> Any:
    """A field, and what the command line says of it.

    Args:
        default: None where the toss or the engine has its own.
        kind: of value: "text", "mm", "mm_mm" (two lengths), "s", or the words to choose from.
        metavar: what stands for its value in `--help`.
        words: of `--help`.
    """
    return field(default=default, metadata={"kind": kind, "metavar": metavar, "help": words})


@dataclass(frozen=True, kw_only=True)
class SetupOptions:
    """What fixes a roll besides seed and index, as a user gives it: one list for every door.

    It makes the options of the command line, the arguments of `physim.roll` and `physim.batch`, and
    what a dataset's manifest keeps. `Setup.of` loads what the names stand for.

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
        engine: `pybullet` steps all pigs; `compiled` those that lie alone on the table, and is some
            three times as fast.
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
        SETTLE_MODES,
        None,
        "full: until both pigs are still; fast: until the outcome is certain (the same rolls).",
    )
    engine: str = _option(
        DEFAULT_ENGINE,
        ENGINES,
        None,
        "What steps a pig in contact: pybullet, or compiled, some three times as fast.",
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


def _checked(name: str, about: Any, value: Any) -> Any:
    if about["kind"] == "text":
        return text(name, value)
    if about["kind"] in ("mm", "s"):
        return number(name, value)
    if about["kind"] == "mm_mm":
        if not isinstance(value, Sequence) or isinstance(value, str) or len(value) != 2:
            raise ConfigError(f"{name} must be two lengths, such as 800 500, found {shown(value)}")
        return tuple(number(name, length) for length in value)
    return one_of(name, value, about["kind"])
