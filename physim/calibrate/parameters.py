"""The numbers that a fit may change: a chosen few, as a cube, and what a setup becomes by them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from physim.arguments import hint, shown_name
from physim.calibrate.plausible import COM, COM_DIFFERENCE, SHAPE, TOSS, Parameter, registry
from physim.errors import ConfigError, ModelError
from physim.pigs.library import model_folder
from physim.pigs.model import model_from_shape
from physim.pigs.modelfile import ModelFile, read_model_file
from physim.pigs.shape import PigShape
from physim.roll import Setup
from physim.tosses.library import from_mapping, yaml_values
from physim.values import ConvexPart, FloatArray, PigModel
from physim.world.scene import table

Values = Mapping[str, float]  # by parameter name, in the parameter's unit

# Few and far-reaching: the mass distribution, the contact and the release.
DEFAULT = (*COM, "restitution", "friction", "toss.door_angle_deg", "toss.pitch_rate_rad_s")


@dataclass(frozen=True)
class Space:
    """The chosen parameters; a point of the unit cube stands for one value of each."""

    parameters: tuple[Parameter, ...]

    @classmethod
    def of(cls, names: Iterable[str], known: Mapping[str, Parameter]) -> Space:
        """The parameters of these names, in that order.

        Raises:
            ConfigError: no name, an unknown one, or one twice.
        """
        chosen: dict[str, Parameter] = {}
        for name in names:
            if name not in known:
                raise ConfigError(
                    f"unknown parameter `{shown_name(name)}`{hint(name, known)} "
                    f"(valid: {', '.join(known)})"
                )
            if name in chosen:
                raise ConfigError(f"the parameter `{name}` is named twice")
            chosen[name] = known[name]
        if not chosen:
            raise ConfigError(f"name at least one parameter (valid: {', '.join(known)})")
        return cls(tuple(chosen.values()))

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(parameter.name for parameter in self.parameters)

    @property
    def low(self) -> FloatArray:
        """(n,) lower bounds."""
        return np.array([parameter.low for parameter in self.parameters])

    @property
    def span(self) -> FloatArray:
        """(n,) what the side of the cube stands for."""
        return np.array([parameter.high for parameter in self.parameters]) - self.low

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
            ((values[parameter.name] - parameter.prior_mean) / parameter.prior_sd) ** 2
            for parameter in self.parameters
        )


def known_parameters(base: Setup) -> dict[str, Parameter]:
    """Every parameter of a setup; those of shapes stand around the black pig's."""
    return registry(_file(base.black).shape)


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
    black = _pig(base.black, of_pigs, 0.5)
    if base.pink is base.black and not any(of_pigs.get(name) for name in COM_DIFFERENCE):
        return replace(changed, black=black, pink=black)
    return replace(changed, black=black, pink=_pig(base.pink, of_pigs, -0.5))


def values_of(base: Setup, names: Iterable[str]) -> dict[str, float]:
    """The values that a setup has already; a shape is the black pig's."""
    surface, pigs = table().surface, [_file(pig) for pig in base.pigs]
    offsets_mm = [1e3 * pig.axes @ pig.offset_m for pig in pigs]
    values = {
        "restitution": base.black.restitution * surface.restitution,
        "friction": base.black.lateral_friction * surface.lateral_friction,
        **dict(zip(COM, (0.5 * (offsets_mm[0] + offsets_mm[1])).tolist(), strict=True)),
        **dict(zip(COM_DIFFERENCE, (offsets_mm[0] - offsets_mm[1]).tolist(), strict=True)),
    }
    toss = yaml_values(base.toss)
    for name in names:
        if name.startswith(TOSS):
            values[name] = float(toss[name.removeprefix(TOSS)])
        elif name.startswith(SHAPE):
            values[name] = float(getattr(_shape(pigs[0]), name.removeprefix(SHAPE)))
    return {name: values[name] for name in names}


def factors(values: Values) -> dict[str, float]:
    """The pig's own factors, by the names in `model.yaml`: what the default surface leaves.

    Raises:
        ConfigError: a restitution above that of the surface.
    """
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


def offset_mm(file: ModelFile, values: Values, side: float) -> FloatArray:
    """(3,) shift of the centre of mass from the evenly filled body's, along the pig's axes [mm].

    Args:
        file: what values that are not named are taken from.
        values: parameters.
        side: of the difference of the pigs that this one gets: 0.5 black, -0.5 pink.
    """
    before: FloatArray = 1e3 * file.axes @ file.offset_m
    shift = [values.get(name, old) for name, old in zip(COM, before.tolist(), strict=True)]
    return np.array(shift) + side * np.array([values.get(name, 0.0) for name in COM_DIFFERENCE])


def _pig(model: PigModel, values: Values, side: float) -> PigModel:
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
        shift_m = 1e-3 * offset_mm(file, values, side) - file.axes @ file.offset_m
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
