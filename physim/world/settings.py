"""Numbers that fix how finely and how long a roll is simulated."""

from __future__ import annotations

from dataclasses import dataclass

from physim.values import GRAVITY_M_S2


@dataclass(frozen=True)
class EngineSettings:
    """Time step, contact and solver settings, chosen by measurement.

    Attributes:
        time_step_s: the longest step; a power of two, so that steps add up without rounding.
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
        steps_a_call: of the longest steps, between two looks at the state.
    """

    time_step_s: float = 1.0 / 2048.0
    full_step_speed: float = 100.0
    solver_iterations: int = 50
    solver_tolerance_m_s: float = 1e-5
    recovery_s: float = 0.005
    contact_falls: float = 1.3
    restitution_threshold_m_s: float = 0.02
    steps_a_call: int = 32

    @property
    def contact_breaking_m(self) -> float:
        """Distance at which contacts begin and end [m]."""
        return self.contact_falls * GRAVITY_M_S2 * self.time_step_s**2

    @property
    def call_s(self) -> float:
        """Simulated time between two looks [s]."""
        return self.time_step_s * self.steps_a_call
