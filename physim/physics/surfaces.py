"""The table and its named surfaces, from `surfaces.yaml`, and the engine's settings."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from physim.config import COMPILED, PYBULLET, check_keys, load, number_at
from physim.errors import ConfigError, hint, shown_name
from physim.types import GRAVITY_M_S2, Surface, Table

SURFACES_YAML = Path(__file__).with_name("surfaces.yaml")
_CALL_S = 1 / 128  # simulated time between two looks at the pigs, whatever the time step
_FINEST_STEP_S = 1 / 65536
_SIZE = ("length_mm", "width_mm")
_FACTORS = ("lateral_friction", "restitution", "rolling_friction", "spinning_friction")


def surface_names() -> list[str]:
    """The named surfaces."""
    return list(load(SURFACES_YAML)["surfaces"])


def table(surface: str | None = None, size_mm: tuple[float, float] | None = None) -> Table:
    """The table, with a named surface or the default one.

    Args:
        surface: its name.
        size_mm: length and width; None for the surface's own.

    Raises:
        ConfigError: an unknown surface, or a size out of range.
    """
    data = load(SURFACES_YAML)
    surfaces = data["surfaces"]
    name = surface or data["default"]
    if name not in surfaces:
        raise ConfigError(
            f"unknown surface `{shown_name(name)}`{hint(name, surfaces)} "
            f"(valid: {', '.join(surfaces)})"
        )
    size = {**data["table"], **{key: v for key, v in surfaces[name].items() if key in _SIZE}}
    where = SURFACES_YAML.name
    if size_mm is not None:
        where, size = "table_size_mm", dict(zip(_SIZE, size_mm, strict=True))
    return Table(
        _surface(name, surfaces[name]),
        number_at(size, "length_mm", where, 1, 1e5) * 1e-3,
        number_at(size, "width_mm", where, 1, 1e5) * 1e-3,
    )


def _surface(name: str, data: Mapping[str, Any]) -> Surface:
    where = f"{SURFACES_YAML.name}: {name}"
    check_keys(data, (*_FACTORS, *_SIZE), where, required=_FACTORS[:2])
    values = {key: number_at(data, key, where, 0.0, 10.0) for key in data if key not in _SIZE}
    if values["restitution"] > 1.0:
        raise ConfigError(f"{where}: `restitution` must lie in [0, 1]")
    return Surface(name, **values)


TABLE_THICKNESS_M = 0.05
CORNERS, BULLET = "corners", "bullet"
PYRAMID, CONE = "pyramid", "cone"


@dataclass(frozen=True)
class EngineSettings:
    """Time step, contact and solver settings, chosen by measurement.

    Attributes:
        time_step_s: the longest (base) step; a power of two, so that steps add up without rounding.
        full_step_speed: while a point of a pig may be faster than this many heights of the
            pig a second, the step is halved, at twice that speed again, and so on: so fast
            impacts sink in no deeper than slow ones, and the step is fine only where needed.
        solver_iterations: of the sequential-impulse solver, per step, at most.
        solver_tolerance_m_s: the iterations end once none changes a speed by more [m/s]; 1/500
            of what gravity adds in the longest step.
        recovery_s: time constant with which overlaps are pushed apart [s]; the
            engine's error reduction per step is 1 - exp(-time_step / recovery).
        contact_falls: distance at which contacts begin and end, over the g h^2 that a resting
            point falls in the longest step h (2.3e-6 m at 1/2048 s). Below 1, flat bodies lose
            their contacts and tremble (0.4: 1 to 2 % of cubes for ever; 1.3: none of 500); far
            above it, it takes up to distance / step from a rebound's speed.
        restitution_threshold_m_s: slower impacts do not bounce [m/s]; above the
            speed gravity gives in a step, or resting pigs would tremble.
        steps_per_check: longest (base) steps between two checks of the state.
        engine: that steps a pig alone in contact: PyBullet or the compiled one (`fast.contact`).
        contacts: of the compiled engine: every corner near the table, or Bullet's manifolds.
        friction: of the compiled engine: limited along the sliding and across it, as Bullet has it
            (`pyramid`), or together, as Coulomb's law (`cone`).
        sliding_bounce: of the compiled engine: a corner that slides rebounds by so much of that
            speed more, as MuJoCo's contacts let it; 0 is Newton's law of restitution.
        deepest: of the compiled engine: a step in which a corner would sink in deeper, over the
            pig's height, is made in parts.
        pairs: that steps pigs that meet or are near the table's edge: PyBullet or MuJoCo.
    """

    time_step_s: float = 1.0 / 2048.0
    full_step_speed: float = 100.0
    solver_iterations: int = 50
    solver_tolerance_m_s: float = 1e-5
    recovery_s: float = 0.005
    contact_falls: float = 1.3
    restitution_threshold_m_s: float = 0.02
    steps_per_check: int = 32
    engine: str = PYBULLET
    contacts: str = CORNERS
    friction: str = PYRAMID
    sliding_bounce: float = 0.0
    deepest: float = 0.024
    pairs: str = PYBULLET

    @classmethod
    def with_step(cls, time_step_s: float | None) -> EngineSettings:
        """The settings with another time step, or the default; the state is seen equally often.

        Raises:
            ConfigError: not 1/256 s halved some times.
        """
        if time_step_s is None:
            return cls()
        steps = 2  # 1/256 s is the coarsest step that is offered
        while _CALL_S / steps > time_step_s and _CALL_S / steps > _FINEST_STEP_S:
            steps *= 2
        if _CALL_S / steps != time_step_s:  # exact: both are powers of two
            raise ConfigError(
                "the time step must be 1/256 s or that halved some times (1/512, 1/1024 ... "
                f"1/65536), found {time_step_s:g}"
            )
        return cls(time_step_s=time_step_s, steps_per_check=steps)

    @property
    def contact_breaking_m(self) -> float:
        """Distance at which contacts begin and end [m]."""
        return self.contact_falls * GRAVITY_M_S2 * self.time_step_s**2

    @property
    def check_interval_s(self) -> float:
        """Simulated time between two checks [s]."""
        return self.time_step_s * self.steps_per_check

    @property
    def of_pairs(self) -> EngineSettings:
        """For pigs that meet near the table: beside the compiled engine, they sink in no deeper."""
        if self.engine != COMPILED or self.contacts == BULLET:
            return self
        return replace(
            self, full_step_speed=min(self.full_step_speed, self.deepest / self.time_step_s)
        )

    def as_written(self) -> dict[str, Any]:
        """The settings under the names that the manifests of datasets have for them."""
        written = {**asdict(self), "steps_a_call": self.steps_per_check}
        del written["steps_per_check"]
        if self.engine == PYBULLET:  # as before there was another
            for name in ("engine", "contacts", "friction", "sliding_bounce", "deepest"):
                del written[name]
        if self.pairs == PYBULLET:
            del written["pairs"]
        return written
