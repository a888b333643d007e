"""Shapes, tables and independent geometry that several tests share."""

import os
from collections.abc import Callable, Generator, Sequence

# As `physim` has it, and before NumPy is loaded: the matrices are small.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.optimize import linprog, nnls
from scipy.spatial.transform import Rotation

from physim.config import HAS_PYBULLET
from physim.pigs.model import load_model
from physim.types import ConvexPart, PigModel, RigidState, Surface, Table

Array = NDArray[np.float64]


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Where PyBullet is not installed, a test that is told so is skipped."""
    report = yield
    told = "" if call.excinfo is None else str(call.excinfo.value)
    if not HAS_PYBULLET and report.failed and "needs `pybullet`" in told:
        report.outcome = "skipped"
        report.longrepr = (str(item.path), 0, "needs PyBullet")
    return report


@pytest.fixture(scope="session")
def standard() -> PigModel:
    return load_model("standard")


@pytest.fixture(scope="session")
def unfitted() -> PigModel:
    """The pig from before the fit: each of its poses has one deep rest, which some tests need."""
    return load_model("standard_before_fit")


@pytest.fixture(scope="session")
def solid() -> Callable[..., PigModel]:
    """Makes a one-part model from corners (about the centre of mass) and moments of inertia."""

    def make(
        vertices_m: Array,
        moments_kg_m2: Sequence[float],
        *,
        mass_kg: float = 0.01,
        friction: float = 0.5,
        restitution: float = 0.0,
    ) -> PigModel:
        size = np.ptp(vertices_m, axis=0)
        return PigModel(
            name="solid",
            length_m=float(size[0]),
            height_m=float(size[2]),
            mass_kg=mass_kg,
            inertia_kg_m2=np.diag(np.asarray(moments_kg_m2, dtype=float)),
            parts=(ConvexPart("body", np.asarray(vertices_m, dtype=float)),),
            lateral_friction=friction,
            restitution=restitution,
        )

    return make


@pytest.fixture(scope="session")
def box(solid: Callable[..., PigModel]) -> Callable[..., PigModel]:
    """Makes an even box of these sides; `shift` moves its centre of mass (and nothing else)."""

    def make(
        sides_m: Sequence[float],
        *,
        shift_m: Sequence[float] = (0.0, 0.0, 0.0),
        mass_kg: float = 0.01,
        **factors: float,
    ) -> PigModel:
        a, b, c = sides_m
        signs = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)])
        corners = 0.5 * signs * np.array(sides_m) - np.array(shift_m)
        moments = mass_kg / 12 * np.array([b * b + c * c, a * a + c * c, a * a + b * b])
        return solid(corners, moments.tolist(), mass_kg=mass_kg, **factors)

    return make


@pytest.fixture(scope="session")
def bare_table() -> Callable[..., Table]:
    """Makes a table whose factors are 1, so that a pair's coefficients are the pig's own."""

    def make(
        side_m: float = 100.0, *, lateral_friction: float = 1.0, restitution: float = 1.0
    ) -> Table:
        return Table(Surface("bare", lateral_friction, restitution), side_m, side_m)

    return make


@pytest.fixture(scope="session")
def hull_gap() -> Callable[[Array, Array], float]:
    """The distance between two convex hulls, proven from both sides; 0 for an overlap.

    Least squares with non-negative weights gives two points, one in each hull; the slab
    across their difference proves that no two points are nearer.
    """

    def gap(a: Array, b: Array) -> float:
        middle = a.mean(axis=0)
        scale = float(max(np.ptp(a, axis=0).max(), np.ptp(b, axis=0).max()))
        first, second = (a - middle) / scale, (b - middle) / scale
        strict = 3e3
        rows = np.vstack(
            [
                np.hstack([first.T, -second.T]),
                strict * np.hstack([np.ones(len(a)), np.zeros(len(b))]),
                strict * np.hstack([np.zeros(len(a)), np.ones(len(b))]),
            ]
        )
        weights, _ = nnls(rows, np.array([0, 0, 0, strict, strict]), maxiter=5000)
        on_a = weights[: len(a)] @ first / weights[: len(a)].sum()
        on_b = weights[len(a) :] @ second / weights[len(a) :].sum()
        across = on_a - on_b
        upper = float(np.linalg.norm(across))
        if upper < 1e-5 and _overlap(a, b):
            return 0.0
        lower = float(((first @ across).min() - (second @ across).max()) / upper)
        assert lower == pytest.approx(upper, abs=3e-6), "the reference has not converged"
        return scale * 0.5 * (lower + upper)

    return gap


def _overlap(a: Array, b: Array) -> bool:
    """Whether some point is a convex combination of both sets of corners."""
    scale = float(np.abs(np.vstack([a, b])).max())
    equal = np.vstack(
        [
            np.hstack([a.T, -b.T]) / scale,
            np.hstack([np.ones(len(a)), np.zeros(len(b))]),
            np.hstack([np.zeros(len(a)), np.ones(len(b))]),
        ]
    )
    result = linprog(np.zeros(len(a) + len(b)), A_eq=equal, b_eq=[0, 0, 0, 1, 1])
    return bool(result.status == 0)


@pytest.fixture(scope="session")
def placed() -> Callable[[Array, RigidState], Array]:
    """Corners of a pig in the world, turned by SciPy and not by the code under test."""

    def place(vertices_m: Array, state: RigidState) -> Array:
        turned = Rotation.from_quat(state.quat_xyzw).apply(vertices_m)
        return np.asarray(turned + state.position_m)

    return place


@pytest.fixture(scope="session")
def mirrored() -> Callable[[PigModel], PigModel]:
    """The model seen in a mirror (y to -y), left and right swapped by name."""
    swap = {"left": "right", "right": "left"}

    def mirror(model: PigModel) -> PigModel:
        flip = np.array([1.0, -1.0, 1.0])
        parts = tuple(
            ConvexPart(
                "_".join(swap.get(word, word) for word in part.label.split("_")),
                part.vertices_m * flip,
            )
            for part in model.parts
        )
        return PigModel(
            name="mirrored",
            length_m=model.length_m,
            height_m=model.height_m,
            mass_kg=model.mass_kg,
            inertia_kg_m2=model.inertia_kg_m2 * np.outer(flip, flip),
            parts=parts,
            lateral_friction=model.lateral_friction,
            restitution=model.restitution,
            rolling_friction=model.rolling_friction,
            spinning_friction=model.spinning_friction,
            dot_side=swap[model.dot_side],
        )

    return mirror
