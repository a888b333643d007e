"""What is in the engine's world: pigs, and the table they land on."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

import numpy as np

from physim.errors import ConfigError
from physim.files import scratch, write_passing
from physim.values import FloatArray, Quat, Surface, Table, Triple
from physim.world.body import Body
from physim.world.bullet_client import GRAMS_PER_KG, UNITS_PER_M, obj_text, pybullet
from physim.world.motion import PlainState
from physim.world.softness import damping_kg_s

TABLE_THICKNESS_M = 0.05
_STILL: Triple = (0.0, 0.0, 0.0)


def make_shape(client: int, parts_m: Sequence[FloatArray]) -> int:
    """A compound of hulls, by way of an OBJ file with one group a hull."""
    with scratch() as folder:
        return make_shape_of(client, write_parts(folder / "parts.obj", parts_m))


def write_parts(path: Path, parts_m: Sequence[FloatArray]) -> Path:
    """Writes the OBJ file of a compound, in the engine's units."""
    return write_passing(path, obj_text([part * UNITS_PER_M for part in parts_m]))


def make_shape_of(client: int, path: Path) -> int:
    """A compound of the hulls of each group of an OBJ file.

    Raises:
        ConfigError: somebody has removed the file meanwhile.
    """
    with suppress(pybullet.error):
        shape = pybullet.createCollisionShape(
            pybullet.GEOM_MESH, fileName=str(path), physicsClientId=client
        )
        return int(shape)
    raise ConfigError(
        f"{path}: the engine cannot read this temporary file; leave such files alone, or set "
        "TMPDIR to a folder where nothing is removed"
    )


def make_unseen(client: int) -> int:
    """A tiny visual shape; without one, Bullet reads the parts' file again for every body.

    A single triangle is the cheapest: Bullet prepares what is visible for its renderer.
    """
    shape = pybullet.createVisualShape(
        pybullet.GEOM_MESH,
        vertices=[[0, 0, 0], [0.01, 0, 0], [0, 0.01, 0]],
        indices=[0, 1, 2],
        physicsClientId=client,
    )
    return int(shape)


def make_pig(client: int, body: Body, shape: int, unseen: int, state: PlainState) -> int:
    """A pig as a plain rigid body in this state (principal frame)."""
    mass_g = body.model.mass_kg * GRAMS_PER_KG
    rigid = not body.model.contact_stiffness_n_m
    pig = pybullet.createMultiBody(
        mass_g,
        shape,
        unseen,
        basePosition=_units(state.centre_m),
        baseOrientation=state.quat_xyzw,
        useMaximalCoordinates=1,
        physicsClientId=client,
    )
    pybullet.changeDynamics(
        pig,
        -1,
        mass=mass_g,  # without it, Bullet sets the mass to 0 here
        localInertiaDiagonal=(body.moments_kg_m2 * GRAMS_PER_KG * UNITS_PER_M**2).tolist(),
        lateralFriction=body.model.lateral_friction,
        restitution=body.model.restitution if rigid else 0.0,  # a soft one has dampers
        rollingFriction=body.model.rolling_friction,
        spinningFriction=body.model.spinning_friction,
        linearDamping=0.0,
        angularDamping=0.0,
        activationState=pybullet.ACTIVATION_STATE_DISABLE_SLEEPING,
        physicsClientId=client,
    )
    pose(client, pig, state)
    return int(pig)


def soften(client: int, pig: int, body: Body, surface: Surface, step_s: float) -> None:
    """Gives a soft pig the springs and dampers that suit this step."""
    stiffness = body.model.contact_stiffness_n_m
    damping = damping_kg_s(body.model, surface) - stiffness * step_s
    pybullet.changeDynamics(
        pig,
        -1,
        contactStiffness=stiffness * GRAMS_PER_KG,
        contactDamping=max(damping, 0.0) * GRAMS_PER_KG,
        physicsClientId=client,
    )


def in_air(quat_xyzw: Quat, number: int = 0) -> PlainState:
    """This attitude, at rest, high above the table; each number has a place of its own.

    Bullet turns a body's inertia with it at the end of a step only, not when it is made, given
    its mass, or posed. So before a body is posed, it takes a step up there in the attitude that
    it will have: its first impact would else be that of a body that is turned otherwise.
    """
    return PlainState((0.0, 0.0, 10.0 * (number + 1)), quat_xyzw, _STILL, _STILL)


def pose(client: int, pig: int, state: PlainState) -> None:
    """Puts a pig into this state (principal frame); see `in_air`."""
    place, quat, velocity, spin = state
    pybullet.resetBasePositionAndOrientation(pig, _units(place), quat, client)
    pybullet.resetBaseVelocity(pig, _units(velocity), spin, client)


def _units(vector: Triple) -> Triple:
    x, y, z = vector
    return x * UNITS_PER_M, y * UNITS_PER_M, z * UNITS_PER_M


def make_plane(client: int, surface: Surface) -> int:
    """The endless table that serves as long as no pig is near the edge."""
    shape = pybullet.createCollisionShape(pybullet.GEOM_PLANE, physicsClientId=client)
    return _ground(client, surface, shape, 0.0)


def make_box(client: int, table: Table) -> int:
    """The table as it is, with its edges."""
    halves = np.array([table.length_m, table.width_m, TABLE_THICKNESS_M]) / 2
    shape = pybullet.createCollisionShape(
        pybullet.GEOM_BOX,
        halfExtents=(halves * UNITS_PER_M).tolist(),
        physicsClientId=client,
    )
    return _ground(client, table.surface, shape, -TABLE_THICKNESS_M / 2)


def _ground(client: int, surface: Surface, shape: int, height_m: float) -> int:
    ground = pybullet.createMultiBody(
        0,
        shape,
        make_unseen(client),
        basePosition=[0, 0, height_m * UNITS_PER_M],
        useMaximalCoordinates=1,
        physicsClientId=client,
    )
    pybullet.changeDynamics(
        ground,
        -1,
        lateralFriction=surface.lateral_friction,
        restitution=surface.restitution,
        rollingFriction=surface.rolling_friction,
        spinningFriction=surface.spinning_friction,
        physicsClientId=client,
    )
    return int(ground)
