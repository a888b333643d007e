"""Pictures from PyBullet's software renderer, which needs no display.

A `Camera` is a DIRECT client of its own that never steps physics: it holds what is
to be seen and looks at it. Pictures are drawn at a multiple of their size and
averaged down, since the renderer itself does not smooth edges.
"""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType

import numpy as np
from numpy.typing import NDArray

from physim.values import FloatArray, RigidState
from physim.world.bullet_client import pybullet, quiet_stdout

Color = tuple[float, float, float]
Image = NDArray[np.uint8]
SEEN_FROM = 0.45  # units of the renderer between camera and target
LIGHT_DISTANCE = 2.5  # units
OVERSAMPLING = 3  # drawn this many times larger each way, then averaged


@dataclass(frozen=True)
class ColoredMesh:
    """Triangles of one colour.

    Attributes:
        vertices_m: (n, 3) [m], frame of the body.
        normals: (n, 3) unit normals for smooth shading.
        faces: (m, 3) vertex indices.
        color: red, green, blue in [0, 1].
    """

    vertices_m: FloatArray
    normals: FloatArray
    faces: NDArray[np.int64]
    color: Color


@dataclass(frozen=True)
class View:
    """Where the camera stands.

    Attributes:
        target_m: (3,) what it looks at, world frame [m].
        distance_m: from there [m].
        azimuth_deg: direction from the target to the camera, 0 along +x, 90 along +y.
        elevation_deg: above the table.
        field_deg: vertical field of view.
    """

    target_m: FloatArray
    distance_m: float
    azimuth_deg: float = 30.0
    elevation_deg: float = 30.0
    field_deg: float = 30.0


class Camera:
    """Bodies of coloured meshes, and a look at them. Use it with `with`.

    The renderer's shadows come out right only for a scene of about half its unit, so
    everything is drawn in units of the distance from which it will be seen.
    """

    def __init__(self, view: View) -> None:
        self._client = -1
        self._view = view
        self._scale = SEEN_FROM / view.distance_m

    def __enter__(self) -> Camera:
        with quiet_stdout():
            self._client = pybullet.connect(pybullet.DIRECT)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._client >= 0:
            pybullet.disconnect(physicsClientId=self._client)
        self._client = -1

    def add(self, meshes: Sequence[ColoredMesh], state: RigidState) -> list[int]:
        """Puts a body of several meshes at a place; returns one handle a mesh."""
        handles = []
        for mesh in meshes:
            with tempfile.TemporaryDirectory(prefix="physim-") as folder, quiet_stdout():
                path = Path(folder) / "mesh.obj"
                path.write_text(_shaded_obj(mesh, self._scale))
                shape = pybullet.createVisualShape(
                    pybullet.GEOM_MESH,
                    fileName=str(path),
                    rgbaColor=[*mesh.color, 1.0],
                    specularColor=[0.1, 0.1, 0.1],
                    physicsClientId=self._client,
                )
                body = pybullet.createMultiBody(
                    0,
                    -1,
                    shape,
                    basePosition=(state.position_m * self._scale).tolist(),
                    baseOrientation=state.quat_xyzw.tolist(),
                    physicsClientId=self._client,
                )
            handles.append(int(body))
        return handles

    def look(self, width: int, height: int) -> Image:
        """(height, width, 3) picture."""
        w, h = width * OVERSAMPLING, height * OVERSAMPLING
        view, distance = self._view, SEEN_FROM
        target = (view.target_m * self._scale).tolist()
        matrix = pybullet.computeViewMatrixFromYawPitchRoll(
            target, distance, view.azimuth_deg + 90.0, -view.elevation_deg, 0.0, 2
        )
        projection = pybullet.computeProjectionMatrixFOV(
            view.field_deg, width / height, 0.05 * distance, 20.0 * distance
        )
        _, _, pixels, _, _ = pybullet.getCameraImage(
            w,
            h,
            matrix,
            projection,
            lightDirection=[-0.4, -0.6, 2.0],
            lightColor=[1.0, 0.98, 0.95],
            lightDistance=LIGHT_DISTANCE,
            shadow=1,
            lightAmbientCoeff=0.6,
            lightDiffuseCoeff=0.55,
            lightSpecularCoeff=0.15,
            renderer=pybullet.ER_TINY_RENDERER,
            physicsClientId=self._client,
        )
        image = np.asarray(pixels, dtype=np.float64).reshape(h, w, 4)[:, :, :3]
        blocks = image.reshape(height, OVERSAMPLING, width, OVERSAMPLING, 3)
        return np.asarray(np.round(blocks.mean(axis=(1, 3))), dtype=np.uint8)


def _shaded_obj(mesh: ColoredMesh, scale: float) -> str:
    lines = [f"v {x:.9g} {y:.9g} {z:.9g}" for x, y, z in (mesh.vertices_m * scale).tolist()]
    lines += [f"vn {x:.6f} {y:.6f} {z:.6f}" for x, y, z in mesh.normals.tolist()]
    lines += [f"f {a}//{a} {b}//{b} {c}//{c}" for a, b, c in (mesh.faces + 1).tolist()]
    return "\n".join(lines) + "\n"
