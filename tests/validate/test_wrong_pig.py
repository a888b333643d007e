"""A pig of the wrong shape, with real physics, is rejected by the checks of a validation."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import trimesh

from physim.simulator import Setup
from physim.statistics.tables import load_table, real_by_height
from physim.types import ConvexPart, PigModel
from physim.validate.datasets import Folder, Request
from physim.validate.validation import validate

RADIUS_M, LEG_M, LEG_RADIUS_M = 10e-3, 6e-3, 2e-3


def sphere_with_legs(like: PigModel) -> PigModel:
    """A ball on four legs, of a pig's mass; its centre of mass is that of the ball."""
    ball = np.asarray(trimesh.creation.icosphere(subdivisions=1, radius=RADIUS_M).vertices)
    ring = np.linspace(0, 2 * np.pi, 8, endpoint=False)
    foot = LEG_RADIUS_M * np.column_stack([np.cos(ring), np.sin(ring)])
    parts = [ConvexPart("body", ball)]
    for x in (-5e-3, 5e-3):
        for y in (-4e-3, 4e-3):
            leg = [[x + a, y + b, z] for a, b in foot for z in (-RADIUS_M - LEG_M, -RADIUS_M / 2)]
            parts.append(ConvexPart("leg", np.array(leg)))
    corners = np.concatenate([part.vertices_m for part in parts])
    size = np.ptp(corners, axis=0)
    return replace(
        like,
        name="sphere with legs",
        length_m=float(size[0]),
        height_m=float(size[2]),
        inertia_kg_m2=0.4 * like.mass_kg * RADIUS_M**2 * np.eye(3),
        parts=tuple(parts),
    )


def test_a_sphere_with_legs_is_rejected(tmp_path: Path, standard: PigModel) -> None:
    pig = sphere_with_legs(standard)
    setup = replace(Setup.named(), black=pig, pink=pig)
    real = real_by_height(load_table("kern2006_pairs").rows)
    request = Request(setup, seed=3, rolls=150, fewer_rolls=100)
    result = validate(request, real, Folder(tmp_path, 1, None), only=("poses", "pairs"))
    failed = {check.name for check in result.checks if check.ok is False}
    assert {"poses.tv", "poses.g", "pairs.g"} <= failed and not result.passed
