"""What `model.yaml` may say, checked key by key."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from physim import config
from physim.errors import ConfigError, ModelError, shown
from physim.files import data_folder
from physim.pigs.shape import PigShape, shape_from_mapping, shape_range
from physim.types import BODY_PARTS, ExactValue, FloatArray

FILE_NAME = "model.yaml"
MASS_G = (0.01, 10_000.0)  # that a model may have
MOST_OFFSET_MM = 100.0  # of each coordinate of a centre of mass
LENGTH_UNITS_M = {"mm": 1e-3, "cm": 1e-2, "m": 1.0}
_KEYS = (
    "description",
    "mesh",
    "parts",
    "mesh_unit",
    "forward",
    "up",
    "mass_g",
    "center_of_mass_offset_mm",
    "lateral_friction",
    "restitution",
    "rolling_friction",
    "spinning_friction",
    "contact_stiffness_n_m",
    "dot_side",
    "assumption",
    "sources",
    "license",
    "shape",
    "shape_of",
    "shape_scale",
    "shape_fingerprint",
    "landmarks",
    "landmarks_fingerprint",
)
_REQUIRED = ("mesh", "parts", "mesh_unit", "mass_g", "lateral_friction", "restitution")


@dataclass(frozen=True, eq=False)
class ModelFile(ExactValue):
    """One `model.yaml`, checked.

    Attributes:
        path: the YAML file.
        mesh, parts: OBJ files inside the model's folder; they may not exist yet.
        unit_m: length of one mesh unit [m].
        axes: (3, 3) turns mesh axes into the pig frame; its rows are forward, left and up.
        mass_kg: [kg].
        offset_m: (3,) shift of the centre of mass from the mesh's centroid, mesh axes [m].
        lateral_friction, restitution, rolling_friction, spinning_friction,
            contact_stiffness_n_m: see `PigModel`.
        dot_side: "right" or "left".
        shape: parameters of a sculpted pig, its own or those of the model that `shape_of` names
            times `shape_scale`; None for a mesh from elsewhere.
        fingerprint: of the parameters that the mesh files were built from.
        landmarks: of an added mesh, (6,) box of each body part: x from and to, y, z, mesh axes
            [mm]; None for other models.
        landmarks_fingerprint: of those that the parts were cut by.
    """

    path: Path
    mesh: Path
    parts: Path
    unit_m: float
    axes: FloatArray
    mass_kg: float
    offset_m: FloatArray
    lateral_friction: float
    restitution: float
    rolling_friction: float
    spinning_friction: float
    contact_stiffness_n_m: float
    dot_side: str
    shape: PigShape | None
    fingerprint: str
    landmarks: dict[str, FloatArray] | None = None
    landmarks_fingerprint: str = ""


def fingerprint_of(landmarks: dict[str, FloatArray]) -> str:
    """Tells whether landmarks have changed."""
    plain = {label: box.tolist() for label, box in landmarks.items()}
    return hashlib.sha256(json.dumps(plain).encode()).hexdigest()[:16]


def read_model_file(folder: Path) -> ModelFile:
    """Reads and checks the YAML of a model's folder.

    Raises:
        ConfigError: a missing file, an unknown or missing key, or an unusable value.
        ModelError: a mesh path that leaves the folder or is no OBJ file's.
    """
    path = folder / FILE_NAME
    data = config.load(path)
    where = str(path)
    config.check_keys(data, _KEYS, where, _REQUIRED)
    mesh, parts = (_inside(folder, data, key, where) for key in ("mesh", "parts"))
    if mesh.resolve() == parts.resolve():
        raise ModelError(f"{where}: `mesh` and `parts` are one file; give each a name of its own")
    return ModelFile(
        path=path,
        mesh=mesh,
        parts=parts,
        unit_m=LENGTH_UNITS_M[_choice(data, "mesh_unit", where, tuple(LENGTH_UNITS_M))],
        axes=_axes(data, where),
        mass_kg=1e-3 * config.number_at(data, "mass_g", where, *MASS_G),
        offset_m=_offset(data, where),
        lateral_friction=config.number_at(data, "lateral_friction", where, 0.0, 10.0),
        restitution=config.number_at(data, "restitution", where, 0.0, 1.0),
        rolling_friction=_optional(data, "rolling_friction", where),
        spinning_friction=_optional(data, "spinning_friction", where),
        contact_stiffness_n_m=_stiffness(data, where),
        dot_side=_choice(data, "dot_side", where, ("right", "left"), "right"),
        shape=_shape(data, where),
        fingerprint=str(data.get("shape_fingerprint", "")),
        landmarks=_landmarks(data, where),
        landmarks_fingerprint=str(data.get("landmarks_fingerprint", "")),
    )


def _shape(data: dict[str, Any], where: str) -> PigShape | None:
    """The model's own shape, or another one's times a factor."""
    shape, other = data.get("shape"), data.get("shape_of")
    if other is None:
        if "shape_scale" in data:
            raise ConfigError(f"{where}: `shape_scale` goes with `shape_of`; name a model there")
        if shape is not None and not isinstance(shape, dict):
            raise ConfigError(f"{where}: `shape` must hold `key: value` lines")
        return None if shape is None else shape_from_mapping(shape, f"{where}: shape")
    if shape is not None:
        raise ConfigError(f"{where}: give `shape` or `shape_of`, not both")
    path = data_folder("meshes") / str(other) / FILE_NAME
    numbers = None
    if isinstance(other, str) and "/" not in other and path.is_file():
        numbers = config.load(path).get("shape")
    if not isinstance(numbers, dict):
        raise ConfigError(
            f"{where}: `shape_of` must name a model that comes with physim and has a `shape`, "
            f"found {shown(other)}"
        )
    base = shape_from_mapping(numbers, f"{path}: shape")
    scale = base.scale * config.number_at(data, "shape_scale", where, 0.01, 100.0)
    low, high = shape_range("scale")
    if not low <= scale <= high:
        raise ConfigError(
            f"{where}: `shape_scale` makes the scale {scale:g}, not {low:g} to {high:g}"
        )
    return replace(base, scale=scale)


def _stiffness(data: dict[str, Any], where: str) -> float:
    if "contact_stiffness_n_m" not in data:
        return 0.0
    return config.number_at(data, "contact_stiffness_n_m", where, 1.0, 1e9)


def _choice(
    data: dict[str, Any], key: str, where: str, valid: tuple[str, ...], default: str = ""
) -> str:
    value = data.get(key, default)
    if value not in valid:
        raise ConfigError(
            f"{where}: `{key}` must be one of {', '.join(valid)}, found {shown(value)}"
        )
    return str(value)


def _optional(data: dict[str, Any], key: str, where: str) -> float:
    return config.number_at(data, key, where, 0.0, 1.0) if key in data else 0.0


def _offset(data: dict[str, Any], where: str) -> FloatArray:
    return 1e-3 * _vector(data, "center_of_mass_offset_mm", where, [0.0] * 3, MOST_OFFSET_MM)


def _landmarks(data: dict[str, Any], where: str) -> dict[str, FloatArray] | None:
    """The boxes of body parts; what they cut is the importer's to say."""
    if "landmarks" not in data and "landmarks_fingerprint" not in data:
        return None
    given = data.get("landmarks")
    if given is None:  # all boxes deleted
        given = {}
    if not isinstance(given, dict):
        raise ConfigError(f"{where}: `landmarks` must hold `part: [six numbers]` lines")
    config.check_keys(given, BODY_PARTS, f"{where}: landmarks")
    boxes = {}
    for label in given:
        boxes[label] = _vector(given, label, f"{where}: landmarks", [0.0] * 6, 2000.0)
        if (boxes[label][::2] >= boxes[label][1::2]).any():
            raise ConfigError(
                f"{where}: landmarks: `{label}` must be [x from, to, y from, to, z from, to] in mm"
            )
    return boxes


def _axes(data: dict[str, Any], where: str) -> FloatArray:
    """The pig's axes in the mesh file, from where its snout and its back point."""
    forward = _vector(data, "forward", where, [1.0, 0.0, 0.0])
    up = _vector(data, "up", where, [0.0, 0.0, 1.0])
    left = np.cross(up, forward)
    if np.linalg.norm(left) <= 1e-3 * np.linalg.norm(up) * np.linalg.norm(forward):
        raise ConfigError(f"{where}: `forward` and `up` must be two directions at an angle")
    up = np.cross(forward, left)  # square to forward, which is taken as it is
    return np.array([axis / np.linalg.norm(axis) for axis in (forward, left, up)])


def _vector(
    data: dict[str, Any], key: str, where: str, default: list[float], most: float = 100.0
) -> FloatArray:
    value = data.get(key, default)
    if not isinstance(value, list) or len(value) != len(default):
        count = {3: "three", 6: "six"}[len(default)]
        raise ConfigError(f"{where}: `{key}` must be a list of {count} numbers")
    named = {f"{key}[{i}]": v for i, v in enumerate(value)}
    return np.array([config.number_at(named, k, where, -most, most) for k in named])


def _inside(folder: Path, data: dict[str, Any], key: str, where: str) -> Path:
    """A file named in the YAML; it must stay inside the folder, links followed."""
    value = data[key]
    if not isinstance(value, str) or not value:
        raise ConfigError(f"{where}: `{key}` must be a file name, found {shown(value)}")
    path = folder / value
    try:
        resolved = path.resolve()
    except (OSError, RuntimeError, ValueError) as error:
        raise ModelError(f"{where}: `{key}` is not a usable file name") from error
    if not resolved.is_relative_to(folder.resolve()):
        raise ModelError(f"{where}: `{key}` leads out of the model's folder; copy the file into it")
    if path.suffix.lower() != ".obj" or resolved.suffix.lower() != ".obj":
        raise ModelError(
            f"{where}: `{key}` must be a file that ends in .obj, found {shown(value)}; export the "
            "mesh as Wavefront OBJ"
        )
    return path
