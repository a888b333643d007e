"""A roll as an animated scene in one binary glTF 2.0 file (GLB), for Blender and web viewers.

glTF's y axis points up: one node above all others turns the world. Lengths are metres.

References:
    Khronos Group, "glTF 2.0 Specification", 2021 (ISO/IEC 12113:2022).
"""

from __future__ import annotations

import json
import math
import struct
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from physim.render.pig_meshes import PlacedPig, linear, pig_look
from physim.render.replay import Replay
from physim.render.scene import table_color
from physim.types import FloatArray

KEYS_A_S = 240.0  # states a second of simulated time
_AROUND_M = 0.08  # of table that is shown around the pigs' ways
_FLOAT, _UNSIGNED = 5126, 5125  # component types
_VERTICES, _INDICES = 34962, 34963  # targets of buffer views
_Z_UP = [-math.sqrt(0.5), 0.0, 0.0, math.sqrt(0.5)]  # turns z into y
Json = dict[str, Any]


def write_glb(path: Path, replay: Replay, speed: float = 1.0) -> None:
    """Both pigs, the table around them, and their ways as one animation.

    Args:
        path: of the file.
        replay: the roll.
        speed: simulated time over the animation's.
    """
    path.write_bytes(glb(replay, speed))


def glb(replay: Replay, speed: float = 1.0) -> bytes:
    """The content of the file; see `write_glb`."""
    scene = _Scene()
    times = _key_times(replay)
    shown = [replay.pigs(float(time_s)) for time_s in times]
    shown[-1] = replay.at_rest()
    clock = scene.accessor((times / speed).astype(np.float32), "SCALAR", bounds=True)
    made: dict[str, Json] = {}
    for number, pig in enumerate(shown[0]):
        if pig.model not in made:
            made[pig.model] = _attributes(scene, pig)
        scene.json["meshes"].append(_pig_mesh(scene, pig, made[pig.model]))
        places = np.array([pigs[number].state.position_m for pigs in shown])
        turns = _continuous(np.array([pigs[number].state.quat_xyzw for pigs in shown]))
        node = scene.node(pig.name, len(scene.json["meshes"]) - 1, places[0], turns[0])
        scene.animate(node, clock, "translation", places)
        scene.animate(node, clock, "rotation", turns)
    _add_table(scene, replay, np.array([p.state.position_m for pigs in shown for p in pigs]))
    roll = replay.roll
    scene.json["asset"]["extras"] = {
        "seed": roll.seed,
        "index": roll.index,
        "outcome": roll.outcome.value,
        "score": roll.score,
        "poses": {pig.name: pig.pose.value for pig in roll.pigs},
    }
    return scene.binary()


class _Scene:
    """A glTF document that grows."""

    def __init__(self) -> None:
        self._data = bytearray()
        self.json: Json = {
            "asset": {"version": "2.0", "generator": "physim"},
            "scene": 0,
            "scenes": [{"name": "roll", "nodes": [0]}],
            "nodes": [{"name": "world", "rotation": _Z_UP, "children": []}],
            "meshes": [],
            "materials": [],
            "accessors": [],
            "bufferViews": [],
            "animations": [{"name": "roll", "channels": [], "samplers": []}],
        }

    def accessor(
        self, values: NDArray[Any], kind: str, target: int | None = None, bounds: bool = False
    ) -> int:
        """Index of new numbers, rows of a kind such as `VEC3`."""
        view: Json = {"buffer": 0, "byteOffset": len(self._data), "byteLength": values.nbytes}
        if target is not None:
            view["target"] = target
        self._data += values.tobytes()  # 4-byte numbers: every view begins at a multiple of 4
        self.json["bufferViews"].append(view)
        accessor: Json = {
            "bufferView": len(self.json["bufferViews"]) - 1,
            "componentType": _UNSIGNED if values.dtype == np.uint32 else _FLOAT,
            "count": len(values),
            "type": kind,
        }
        if bounds:
            rows = values.reshape(len(values), -1)
            accessor["min"] = rows.min(axis=0).tolist()
            accessor["max"] = rows.max(axis=0).tolist()
        self.json["accessors"].append(accessor)
        return len(self.json["accessors"]) - 1

    def node(self, name: str, mesh: int, place: FloatArray, turn: FloatArray) -> int:
        """Index of a new body."""
        nodes = self.json["nodes"]
        nodes.append(
            {
                "name": name,
                "mesh": mesh,
                "translation": place.tolist(),
                "rotation": turn.tolist(),
            }
        )
        nodes[0]["children"].append(len(nodes) - 1)
        return len(nodes) - 1

    def material(self, name: str, color: FloatArray, roughness: float) -> int:
        """Index of a new material; its colour in linear RGB."""
        self.json["materials"].append(
            {
                "name": name,
                "pbrMetallicRoughness": {
                    "baseColorFactor": [*np.round(color, 5).tolist(), 1.0],
                    "metallicFactor": 0.0,
                    "roughnessFactor": roughness,
                },
            }
        )
        return len(self.json["materials"]) - 1

    def animate(self, node: int, clock: int, what: str, values: FloatArray) -> None:
        """Moves or turns a node by values (keys, 3 or 4)."""
        animation = self.json["animations"][0]
        kind = "VEC4" if values.shape[1] == 4 else "VEC3"
        output = self.accessor(values.astype(np.float32), kind)
        animation["samplers"].append({"input": clock, "output": output, "interpolation": "LINEAR"})
        animation["channels"].append(
            {
                "sampler": len(animation["samplers"]) - 1,
                "target": {"node": node, "path": what},
            }
        )

    def binary(self) -> bytes:
        """The file: a header, the JSON chunk and the binary chunk."""
        self.json["buffers"] = [{"byteLength": len(self._data)}]
        text = json.dumps(self.json, separators=(",", ":")).encode()
        text += b" " * (-len(text) % 4)
        data = bytes(self._data) + b"\0" * (-len(self._data) % 4)
        chunks = struct.pack("<II", len(text), 0x4E4F534A) + text
        chunks += struct.pack("<II", len(data), 0x004E4942) + data
        return struct.pack("<III", 0x46546C67, 2, 12 + len(chunks)) + chunks


def _key_times(replay: Replay) -> FloatArray:
    steps = max(1, math.ceil(replay.ends_s * KEYS_A_S))
    return np.asarray(np.append(np.arange(steps) / KEYS_A_S, replay.ends_s))


def _attributes(scene: _Scene, pig: PlacedPig) -> Json:
    """Accessors of a model's vertices, shared by its materials and by both pigs."""
    look = pig_look(pig.model)
    indices = {
        name: scene.accessor(
            look.faces[look.materials == number].astype(np.uint32).reshape(-1), "SCALAR", _INDICES
        )
        for number, name in enumerate(look.names)
    }
    places = look.vertices_m.astype(np.float32)
    # Rounded to 32 bits, a normal may be of length 1 less precisely than validators ask for.
    normals = look.normals.astype(np.float32)
    lengths = np.sqrt((normals.astype(np.float64) ** 2).sum(axis=1, keepdims=True))
    normals = np.where(lengths > 0.5, normals / np.maximum(lengths, 1e-9), [0.0, 0.0, 1.0])
    return {
        "indices": indices,
        "attributes": {
            "POSITION": scene.accessor(places, "VEC3", _VERTICES, bounds=True),
            "NORMAL": scene.accessor(normals.astype(np.float32), "VEC3", _VERTICES),
        },
    }


def _pig_mesh(scene: _Scene, pig: PlacedPig, known: Json) -> Json:
    look = pig_look(pig.model)
    primitives = [
        {
            "attributes": known["attributes"],
            "indices": known["indices"][name],
            "material": scene.material(f"{pig.name} {name or 'skin'}", color, 0.45),
        }
        for name, color in zip(look.names, linear(look.colors(pig.name)), strict=True)
    ]
    return {"name": pig.name, "primitives": primitives}


def _add_table(scene: _Scene, replay: Replay, places: FloatArray) -> None:
    """The part of the table around the pigs' ways: viewers fit their camera to all there is."""
    half = 0.5 * np.array([replay.table.length_m, replay.table.width_m])
    low = np.clip(places[:, :2].min(axis=0) - _AROUND_M, -half, half)
    high = np.clip(places[:, :2].max(axis=0) + _AROUND_M, -half, half)
    corners = [(low[0], low[1]), (high[0], low[1]), (high[0], high[1]), (low[0], high[1])]
    vertices = np.array([(x, y, 0.0) for x, y in corners], dtype=np.float32)
    normals = np.tile(np.array([0.0, 0.0, 1.0], dtype=np.float32), (4, 1))
    color = linear(np.array(table_color(replay.table)))
    primitive = {
        "attributes": {
            "POSITION": scene.accessor(vertices, "VEC3", _VERTICES, bounds=True),
            "NORMAL": scene.accessor(normals, "VEC3", _VERTICES),
        },
        "indices": scene.accessor(
            np.array([0, 1, 2, 0, 2, 3], dtype=np.uint32), "SCALAR", _INDICES
        ),
        "material": scene.material("table", color, 0.9),
    }
    scene.json["meshes"].append({"name": "table", "primitives": [primitive]})
    upright = np.array([0.0, 0.0, 0.0, 1.0])
    scene.node("table", len(scene.json["meshes"]) - 1, np.zeros(3), upright)


def _continuous(turns: FloatArray) -> FloatArray:
    """Quaternions of which each lies on the same side as the one before: q and -q turn alike."""
    same = np.sign((turns[1:] * turns[:-1]).sum(axis=1))
    signs = np.cumprod(np.concatenate([[1.0], np.where(same == 0.0, 1.0, same)]))
    return np.asarray(turns * signs[:, None])
