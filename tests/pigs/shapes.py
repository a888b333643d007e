"""Solids whose answers are known by formula."""

from __future__ import annotations

import itertools
from pathlib import Path

import numpy as np

CUBE_FACES = np.array(
    [[0, 1, 3], [0, 3, 2], [4, 6, 7], [4, 7, 5], [0, 4, 5], [0, 5, 1]]
    + [[2, 3, 7], [2, 7, 6], [0, 2, 6], [0, 6, 4], [1, 5, 7], [1, 7, 3]]
)


def box(size: tuple[float, float, float]) -> tuple[np.ndarray, np.ndarray]:
    """Corners and triangles of a box about the origin, wound outwards."""
    corners = np.array(list(itertools.product((-0.5, 0.5), repeat=3))) * np.array(size)
    return corners, CUBE_FACES


def sphere(radius: float, rings: int = 60) -> tuple[np.ndarray, np.ndarray]:
    """A sphere of latitudes and longitudes, wound outwards."""
    around = 2 * rings
    latitude = np.pi * np.arange(1, rings) / rings
    longitude = 2 * np.pi * np.arange(around) / around
    body = np.stack(
        [
            np.outer(np.sin(latitude), np.cos(longitude)),
            np.outer(np.sin(latitude), np.sin(longitude)),
            np.outer(np.cos(latitude), np.ones(around)),
        ],
        axis=-1,
    ).reshape(-1, 3)
    vertices = radius * np.concatenate([[[0.0, 0.0, 1.0]], body, [[0.0, 0.0, -1.0]]])
    last = len(vertices) - 1
    faces = []
    for j in range(around):
        k = (j + 1) % around
        faces.append((0, 1 + j, 1 + k))
        faces.append((last, last - around + k, last - around + j))
        for i in range(rings - 2):
            a, b = 1 + i * around, 1 + (i + 1) * around
            faces += [(a + j, b + j, b + k), (a + j, b + k, a + k)]
    return vertices, np.array(faces)


def write_obj(path: Path, groups: list[tuple[str, np.ndarray, np.ndarray]]) -> None:
    """A plain OBJ writer of the tests' own."""
    lines, base = [], 1
    for name, vertices, faces in groups:
        lines.append(f"o {name}")
        lines += [f"v {x!r} {y!r} {z!r}" for x, y, z in vertices.tolist()]
        lines += [f"f {a} {b} {c}" for a, b, c in (faces + base).tolist()]
        base += len(vertices)
    path.write_text("\n".join(lines) + "\n")


def write_model(folder: Path, vertices: np.ndarray, faces: np.ndarray, **changes: object) -> Path:
    """A model folder around one convex mesh in millimetres; `changes` go into the YAML."""
    folder.mkdir(parents=True, exist_ok=True)
    write_obj(folder / "pig.obj", [("pig", vertices, faces)])
    write_obj(folder / "parts.obj", [("trunk", vertices, faces)])
    settings: dict[str, object] = {
        "mesh": "pig.obj",
        "parts": "parts.obj",
        "mesh_unit": "mm",
        "mass_g": 5.0,
        "lateral_friction": 0.8,
        "restitution": 0.7,
    }
    settings |= changes
    text = "".join(f"{key}: {value}\n" for key, value in settings.items() if value is not None)
    (folder / "model.yaml").write_text(text)
    return folder
