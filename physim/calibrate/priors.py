"""What may be fitted, and which values of it are plausible: bounds and weak priors.

ASSUMPTIONS, all of them: nobody has published measures of the toy, its plastic or the rig. A prior
says what one would expect before seeing any rolls, from handbook values and from the look of the
toy; no number here comes from an outcome table. One was narrowed after a first fit: that of
restitution, since rolls left the table far more often than anybody tells of the toy.

The numbers that a fit may change: a chosen few, as a cube, and what a setup becomes by them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import Any

import numpy as np

from physim import config
from physim.errors import ConfigError, ModelError, hint, shown_name
from physim.physics.surfaces import table
from physim.pigs.model import model_from_shape
from physim.pigs.model_file import ModelFile, model_folder, read_model_file
from physim.pigs.shape import PigShape, shape_range
from physim.seeding import MAX_SEED
from physim.simulator import Setup
from physim.tosses.release import Trapdoor, from_mapping, yaml_values
from physim.types import ConvexPart, FloatArray, PigModel

SHAPE, TOSS = "shape.", "toss."
COM = ("com_forward_mm", "com_left_mm", "com_up_mm")  # along the pig's axes
_PAINT = ("dot_x_mm", "dot_z_mm", "dot_radius_mm")  # flush: no roll depends on them

_PLACE_MM, _PLACE_SD_MM = 2.5, 0.8  # of a place on a toy 38 mm long
_SIZE_SHARE, _SIZE_SD_SHARE = 0.2, 0.06
_ANGLE_DEG, _ANGLE_SD_DEG = 25.0, 8.0
_SIZES = ("radius_mm", "length_mm", "width_mm", "height_mm", "thickness_mm", "scale", "spread")


@dataclass(frozen=True)
class Parameter:
    """One number that a fit may change.

    Attributes:
        name: as on the command line and in the result.
        unit: of all its numbers; "" for a plain number.
        low, high: no fit leaves these bounds.
        prior_mean, prior_sd: of a normal distribution, cut off at the bounds.
        description: what it is.
    """

    name: str
    unit: str
    low: float
    high: float
    prior_mean: float
    prior_sd: float
    description: str


_COM_TEXT = "shift of the centre of mass from the evenly filled body's: walls of uneven thickness"
_PAIR_TEXT = "of pig and table, product of both factors on the default surface (soft plastic)"
_FIXED = (
    *(Parameter(name, "mm", -1.0, 1.0, 0.0, 0.3, _COM_TEXT) for name in COM),
    # Soft plastic on a hard surface: .35 to .5. With twice this spread a fit took .53, and two
    # rolls in a hundred left the table, which nobody tells of the toy.
    Parameter("restitution", "", 0.2, 0.6, 0.42, 0.04, _PAIR_TEXT),
    Parameter("friction", "", 0.2, 0.8, 0.45, 0.1, _PAIR_TEXT),
)
# The rig is known by its name and its two heights alone, so these priors are wide.
_TRAPDOOR = (
    ("separation_mm", "mm", 60.0, 250.0, 150.0, 40.0, "between the two pigs on the door"),
    ("separation_spread_mm", "mm", 0.0, 20.0, 5.0, 4.0, "how evenly they are set down"),
    ("yaw_spread_deg", "deg", 0.0, 45.0, 12.0, 8.0, "how carelessly they are turned"),
    ("door_angle_deg", "deg", 0.0, 70.0, 20.0, 15.0, "of the door as the pigs leave it"),
    ("door_angle_spread_deg", "deg", 0.0, 25.0, 10.0, 5.0, "from roll to roll"),
    ("pitch_rate_rad_s", "rad/s", 0.0, 25.0, 8.0, 5.0, "of the door as the pigs leave it"),
    ("pitch_rate_spread_rad_s", "rad/s", 0.0, 12.0, 4.0, 2.0, "from roll to roll"),
    ("spin_spread_rad_s", "rad/s", 0.0, 12.0, 3.0, 2.0, "each pig's own, about every axis"),
    ("slide_m_s", "m/s", 0.0, 0.6, 0.15, 0.1, "down the door"),
    ("slide_spread_m_s", "m/s", 0.0, 0.3, 0.08, 0.05, "from pig to pig"),
    ("drift_spread_m_s", "m/s", 0.0, 0.15, 0.03, 0.02, "along the hinge"),
)


def registry(shape: PigShape | None) -> dict[str, Parameter]:
    """Every parameter by name; priors of a shape stand around it, None is a mesh from elsewhere."""
    toss = (Parameter(TOSS + name, *rest) for name, *rest in _TRAPDOOR)  # type: ignore[arg-type]
    parameters = [*_FIXED, *toss, *(_of_shape(shape) if shape is not None else ())]
    return {parameter.name: parameter for parameter in parameters}


def _of_shape(shape: PigShape) -> Iterator[Parameter]:
    for key, value in asdict(shape).items():
        if key in _PAINT:
            continue
        if key.endswith("_deg"):
            unit, reach, spread = "deg", _ANGLE_DEG, _ANGLE_SD_DEG
        elif key.endswith(_SIZES):
            unit = "mm" if key.endswith("_mm") else ""
            reach, spread = _SIZE_SHARE * abs(value), _SIZE_SD_SHARE * abs(value)
        else:
            unit, reach, spread = "mm", _PLACE_MM, _PLACE_SD_MM
        lowest, highest = shape_range(key)
        low, high = max(value - reach, lowest), min(value + reach, highest)
        if low < high:  # else a size of 0, of which no share can be changed
            yield Parameter(SHAPE + key, unit, low, high, value, spread, "see `PigShape`")


Values = Mapping[str, float]  # by parameter name, in the parameter's unit

# Few and far-reaching: the mass distribution, the contact and the release.
DEFAULT = (*COM, "restitution", "friction", "toss.door_angle_deg", "toss.pitch_rate_rad_s")


@dataclass(frozen=True)
class Space:
    """The chosen parameters; a point of the unit cube stands for one value of each."""

    parameters: tuple[Parameter, ...]

    @classmethod
    def of(cls, names: Iterable[str] | None, known: Mapping[str, Parameter]) -> Space:
        """The parameters of these names, in that order; None for those of `DEFAULT` that are known.

        Raises:
            ConfigError: no name, an unknown one, or one twice.
        """
        names = tuple(name for name in DEFAULT if name in known) if names is None else tuple(names)
        valid = f"(valid: {', '.join(known)})"
        for name in names:
            if name not in known:
                unknown = f"unknown parameter `{shown_name(name)}`"
                raise ConfigError(f"{unknown}{hint(name, known)} {valid}")
            if names.count(name) > 1:
                raise ConfigError(f"the parameter `{name}` is named twice")
        if not names:
            raise ConfigError(f"name at least one parameter {valid}")
        return cls(tuple(known[name] for name in names))

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(one.name for one in self.parameters)

    @property
    def low(self) -> FloatArray:
        """(n,) lower bounds."""
        return np.array([one.low for one in self.parameters])

    @property
    def span(self) -> FloatArray:
        """(n,) what the side of the cube stands for."""
        return np.array([one.high for one in self.parameters]) - self.low

    @property
    def spreads(self) -> FloatArray:
        """(n,) standard deviations of the priors, in the unit cube."""
        return np.array([one.prior_sd for one in self.parameters]) / self.span

    @property
    def prior_means(self) -> FloatArray:
        """(n,) means of the priors, in the unit cube."""
        return self.to_unit({one.name: one.prior_mean for one in self.parameters})

    def to_unit(self, values: Values) -> FloatArray:
        """(n,) in [0, 1]; what lies outside the bounds is moved to them."""
        chosen = np.array([values[name] for name in self.names])
        return np.clip((chosen - self.low) / self.span, 0.0, 1.0)

    def from_unit(self, point: Sequence[float] | FloatArray) -> dict[str, float]:
        """The values that a point of the cube stands for."""
        values = self.low + np.clip(np.asarray(point, dtype=float), 0.0, 1.0) * self.span
        return dict(zip(self.names, values.tolist(), strict=True))

    def penalty(self, values: Values) -> float:
        """-2 log of the prior density, less its least value."""
        return sum(
            ((values[one.name] - one.prior_mean) / one.prior_sd) ** 2 for one in self.parameters
        )


def known_parameters(base: Setup) -> dict[str, Parameter]:
    """Every parameter of a setup; those of a toss are of trap doors only.

    The priors of a shape stand around the black pig's.
    """
    known = registry(_file(base.black).shape)
    if isinstance(base.toss, Trapdoor):
        return known
    return {name: one for name, one in known.items() if not name.startswith(TOSS)}


def setup(base: Setup, values: Values) -> Setup:
    """The setup with these values; what is not named stays as it is.

    Raises:
        ConfigError: a value that no setup can have, or a parameter that this one has not.
        ModelError: numbers that make no pig.
    """
    toss = {name.removeprefix(TOSS): v for name, v in values.items() if name.startswith(TOSS)}
    of_pigs = {name: v for name, v in values.items() if not name.startswith(TOSS)}
    changed = base
    if toss:
        before = yaml_values(base.toss)
        if unknown := sorted(set(toss) - set(before)):
            raise ConfigError(
                f"the toss has no `{unknown[0]}`, which was fitted; take the toss that the fit set "
                "out from, or another one of its kind"
            )
        changed = replace(base, toss=from_mapping({**before, **toss}, "the fitted toss"))
    if not of_pigs:
        return changed
    black = _pig(base.black, of_pigs)
    pink = black if base.pink is base.black else _pig(base.pink, of_pigs)
    return replace(changed, black=black, pink=pink)


def values_of(base: Setup, names: Iterable[str]) -> dict[str, float]:
    """The values that a setup has already; a shape is the black pig's."""
    surface, pigs = table().surface, [_file(pig) for pig in base.pigs]
    offsets_mm = [offset_mm(pig, {}) for pig in pigs]
    values = {
        "restitution": base.black.restitution * surface.restitution,
        "friction": base.black.lateral_friction * surface.lateral_friction,
        **dict(zip(COM, (0.5 * (offsets_mm[0] + offsets_mm[1])).tolist(), strict=True)),
    }
    toss = yaml_values(base.toss)
    for name in names:
        if name.startswith(TOSS):
            values[name] = float(toss[name.removeprefix(TOSS)])
        elif name.startswith(SHAPE):
            values[name] = float(getattr(_shape(pigs[0]), name.removeprefix(SHAPE)))
    return {name: values[name] for name in names}


def factors(values: Values) -> dict[str, float]:
    """The pig's own factors, by the names in `model.yaml`: what the default surface leaves."""
    surface, own = table().surface, {}
    if "restitution" in values:
        own["restitution"] = values["restitution"] / surface.restitution
        if own["restitution"] > 1.0 + 1e-12:
            raise ConfigError(f"restitution must not exceed the surface's {surface.restitution:g}")
        own["restitution"] = min(own["restitution"], 1.0)
    if "friction" in values:
        own["lateral_friction"] = values["friction"] / surface.lateral_friction
    return own


def changed_shape(shape: PigShape, values: Values) -> PigShape:
    """The shape with the values under `shape.`."""
    return replace(
        shape,
        **{name.removeprefix(SHAPE): v for name, v in values.items() if name.startswith(SHAPE)},
    )


def offset_mm(file: ModelFile, values: Values) -> FloatArray:
    """(3,) shift of the centre of mass from the evenly filled body's, along the pig's axes [mm].

    Values that are not named are taken from the file.
    """
    before: FloatArray = 1e3 * file.axes @ file.offset_m
    return np.array([values.get(name, old) for name, old in zip(COM, before.tolist(), strict=True)])


def _pig(model: PigModel, values: Values) -> PigModel:
    changed = model
    if any(name.startswith((SHAPE, "com_")) for name in values):
        file = _file(model)
        if any(name.startswith(SHAPE) for name in values):
            shape = changed_shape(_shape(file), values)
            changed = replace(
                _sculpted(shape, file, model.name),
                lateral_friction=model.lateral_friction,
                restitution=model.restitution,
            )
        shift_m = 1e-3 * offset_mm(file, values) - file.axes @ file.offset_m
        if shift_m.any():
            changed = _shifted(changed, shift_m)
    own = factors(values)
    return replace(
        changed,
        lateral_friction=own.get("lateral_friction", changed.lateral_friction),
        restitution=own.get("restitution", changed.restitution),
    )


def _sculpted(shape: PigShape, file: ModelFile, name: str) -> PigModel:
    """The model of a shape; what the mesher says of an impossible one becomes a `ModelError`."""
    try:
        return model_from_shape(shape, file, name)
    except (ValueError, IndexError, ArithmeticError, RuntimeError) as error:
        raise ModelError(f"{name}: the numbers of its shape make no pig together") from error


def _shifted(model: PigModel, shift_m: FloatArray) -> PigModel:
    """The pig with its centre of mass elsewhere; the inertia about it is kept (`pigs.mass`)."""
    parts = tuple(ConvexPart(part.label, part.vertices_m - shift_m) for part in model.parts)
    return replace(model, parts=parts)


def _file(model: PigModel) -> ModelFile:
    return read_model_file(model_folder(model.name))


def _shape(file: ModelFile) -> PigShape:
    if file.shape is None:
        raise ConfigError(
            f"{file.path}: has no `shape`, so no parameter `{SHAPE}...` can be fitted"
        )
    return file.shape


FIT_YAML = "fit.yaml"


def read_fit(path: Path) -> dict[str, float]:
    """The values of a fit, from its YAML or the folder of that.

    Raises:
        ConfigError: no such file, another one, or a value that no fit can have.
    """
    path, data = _loaded(path)
    entries = data.get("parameters")
    if not isinstance(entries, dict) or not entries:
        raise ConfigError(f"{path}: is no result of a fit: it has no `parameters`")
    known = registry(None)
    shapes = [SHAPE + entry.name for entry in fields(PigShape)]
    config.check_keys(entries, [*known, *shapes], f"{path}: parameters")
    values = {}
    for name, entry in entries.items():
        where = f"{path}: {name}"
        bounds: tuple[float, ...] = ()
        if not isinstance(entry, dict):
            raise ConfigError(f"{where}: must be a mapping")
        if name in known:
            bounds = known[name].low, known[name].high
        elif {"low", "high"} <= set(entry):  # of a shape, those it was fitted in
            bounds = tuple(config.number_at(entry, key, where) for key in ("low", "high"))
        values[name] = config.number_at(entry, "value", where, *bounds)
    return values


def read_origin(path: Path) -> tuple[dict[str, str], int | None]:
    """The model and the toss that a fit set out from, and its seed, as far as it tells them.

    Raises:
        ConfigError: no such file, or names or a seed that are none.
    """
    path, data = _loaded(path)
    base, schedule = data.get("base", {}), data.get("schedule", {})
    if not isinstance(base, dict) or not isinstance(schedule, dict):
        raise ConfigError(f"{path}: `base` and `schedule` must be mappings")
    names = {
        key: config.text(f"{path}: base: `{key}`", base[key])
        for key in ("model", "toss")
        if key in base
    }
    if "seed" not in schedule:
        return names, None
    return names, config.whole(f"{path}: schedule: `seed`", schedule["seed"], 0, MAX_SEED)


def _loaded(path: Path) -> tuple[Path, dict[str, Any]]:
    """The path of a fit's YAML, which may be given as its folder, and what is in it."""
    if path.is_dir():
        path = path / FIT_YAML
        if not path.exists():
            raise ConfigError(
                f"{path.parent}: holds no result of a fit (no {FIT_YAML}); name another folder, or "
                "bring a fit there to its end with `physim calibrate`"
            )
    return path, config.load(path)
