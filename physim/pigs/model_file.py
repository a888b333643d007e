"""Where the pig models are, and what their `model.yaml` may say, checked key by key."""

from __future__ import annotations

import hashlib
import json
import os
import re
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from physim import config
from physim.errors import ConfigError, ModelError, hint, shown, shown_name
from physim.files import data_folder, own_models
from physim.pigs.shape import PigShape, shape_from_mapping, shape_range
from physim.types import BODY_PARTS, ExactValue, FloatArray

FILE_NAME = "model.yaml"
MASS_G = (0.01, 10_000.0)  # that a model may have
MOST_OFFSET_MM = 100.0  # of each coordinate of a centre of mass
LENGTH_UNITS_M = {"mm": 1e-3, "cm": 1e-2, "m": 1.0}
_NAME = re.compile(r"[^\W_][\w.-]{0,63}")
_RANGES = {
    "mass_g": MASS_G,
    "lateral_friction": (0.0, 10.0),
    "restitution": (0.0, 1.0),
    "rolling_friction": (0.0, 1.0),
    "spinning_friction": (0.0, 1.0),
    "contact_stiffness_n_m": (1.0, 1e9),
}
_REQUIRED = ("mesh", "parts", "mesh_unit", "mass_g", "lateral_friction", "restitution")
_REMARKS = ("description", "assumption", "sources", "license")
_PLACE = ("forward", "up", "center_of_mass_offset_mm", "dot_side")
_SHAPE = ("shape", "shape_of", "shape_scale", "shape_fingerprint")
_LANDMARKS = ("landmarks", "landmarks_fingerprint")
_KEYS = dict.fromkeys((*_REQUIRED, *_RANGES, *_PLACE, *_SHAPE, *_LANDMARKS, *_REMARKS))


def model_names() -> tuple[str, ...]:
    """Names of the models that come with physim."""
    return tuple(sorted(path.parent.name for path in data_folder("meshes").glob(f"*/{FILE_NAME}")))


def own_names() -> tuple[str, ...]:
    """Names of the models that the user added by name."""
    try:
        found = sorted(path.parent.name for path in own_models().glob(f"*/{FILE_NAME}"))
    except (OSError, RuntimeError):  # not readable, or a user without a home
        return ()
    return tuple(name for name in found if _NAME.fullmatch(name))


def own_folder(name: str) -> Path:
    """Where a model of the user's is, or would be, kept under a name.

    Raises:
        ConfigError: no name for a model, or one that comes with physim.
    """
    if not _NAME.fullmatch(name):
        raise ConfigError(
            f"model name `{shown_name(name)}`: must be up to 64 letters, digits, `_`, `-` and `.`, "
            "and begin with a letter or digit"
        )
    if name in model_names():
        raise ConfigError(f"model name `{name}`: comes with physim; choose another name")
    try:
        return own_models() / name
    except RuntimeError as error:
        raise ConfigError(f"no home folder to keep the model in ({error}); give --out") from error


def model_folder(name_or_path: str | Path) -> Path:
    """The folder of a model.

    What comes with physim goes before a folder of that name, and that before the user's own.

    Raises:
        ConfigError: neither a known name nor a folder with a `model.yaml`.
    """
    name = config.text("model", name_or_path)
    if name in model_names():
        return data_folder("meshes") / name
    if os.path.isfile(Path(name) / FILE_NAME):  # noqa: PTH113 - a name may be too long for a path
        return Path(name)
    own = own_names()
    if name in own:
        return own_models() / name
    every = (*model_names(), *own)
    raise ConfigError(
        f"model `{shown_name(name)}`: neither a folder with a {FILE_NAME} nor one of "
        f"{', '.join(every)}{hint(name, every)}"
    )


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
            contact_stiffness_n_m, dot_side: see `PigModel`.
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
    data, where = config.load(path), str(path)
    config.check_keys(data, _KEYS, where, _REQUIRED)
    mesh, parts = (_inside(folder, data[key], f"{where}: `{key}`") for key in ("mesh", "parts"))
    if os.path.realpath(mesh) == os.path.realpath(parts):
        raise ModelError(f"{where}: `mesh` and `parts` are one file; give each a name of its own")
    numbers = {
        key: config.number_at(data, key, where, *limits) if key in data else 0.0
        for key, limits in _RANGES.items()
    }
    unit = config.one_of(f"{where}: `mesh_unit`", data["mesh_unit"], LENGTH_UNITS_M)
    side = data.get("dot_side", "right")
    offset = _vector(data, "center_of_mass_offset_mm", where, [0.0] * 3, MOST_OFFSET_MM)
    return ModelFile(
        path=path,
        mesh=mesh,
        parts=parts,
        unit_m=LENGTH_UNITS_M[unit],
        axes=_axes(data, where),
        mass_kg=1e-3 * numbers.pop("mass_g"),
        offset_m=1e-3 * offset,
        **numbers,
        dot_side=config.one_of(f"{where}: `dot_side`", side, ("right", "left")),
        shape=_shape(data, where),
        fingerprint=str(data.get("shape_fingerprint", "")),
        landmarks=_landmarks(data, where),
        landmarks_fingerprint=str(data.get("landmarks_fingerprint", "")),
    )


def _shape(data: dict[str, Any], where: str) -> PigShape | None:
    """The model's own shape, or another one's times a factor."""
    shape, other = data.get("shape"), data.get("shape_of")
    if (other is None) == ("shape_scale" in data):
        raise ConfigError(f"{where}: `shape_scale` goes with `shape_of`; give both or none")
    if other is None:
        if shape is not None and not isinstance(shape, dict):
            raise ConfigError(f"{where}: `shape` must hold `key: value` lines")
        return None if shape is None else shape_from_mapping(shape, f"{where}: shape")
    if shape is not None:
        raise ConfigError(f"{where}: give `shape` or `shape_of`, not both")
    numbers = None
    if other in model_names():
        path = data_folder("meshes") / other / FILE_NAME
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


def _landmarks(data: dict[str, Any], where: str) -> dict[str, FloatArray] | None:
    """The boxes of body parts; what they cut is the importer's to say."""
    if "landmarks" not in data and "landmarks_fingerprint" not in data:
        return None
    given = data.get("landmarks") or {}  # none where all boxes were deleted
    where = f"{where}: landmarks"
    if not isinstance(given, dict):
        raise ConfigError(f"{where} must be `part: [six numbers]` lines")
    config.check_keys(given, BODY_PARTS, where)
    boxes = {label: _vector(given, label, where, [0.0] * 6, 2000.0) for label in given}
    for label, box in boxes.items():
        if (box[::2] >= box[1::2]).any():
            raise ConfigError(
                f"{where}: `{label}` must be [x from, to, y from, to, z from, to] in mm"
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


def _inside(folder: Path, value: object, where: str) -> Path:
    """A file named in the YAML; it must stay inside the folder, links followed."""
    path = folder / config.text(where, value)
    target = Path(os.path.realpath(path))
    if not target.is_relative_to(os.path.realpath(folder)):
        raise ModelError(f"{where} leads out of the model's folder; copy the file into it")
    if path.suffix.lower() != ".obj" or target.suffix.lower() != ".obj":
        raise ModelError(
            f"{where} must be a file that ends in .obj, found {shown(value)}; export the mesh as "
            "Wavefront OBJ"
        )
    return path
