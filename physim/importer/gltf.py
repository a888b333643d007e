"""glTF 2.0 and GLB: the triangles of the scene, without materials and movements."""

from __future__ import annotations

import base64
import json
import re
import struct
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import numpy as np
from numpy.typing import NDArray

from physim.errors import shown_name
from physim.importer.reading import EXPORT, MAX_FACES, RawMesh, plain_content
from physim.importer.solids import IntArray
from physim.types import FloatArray

Tree = dict[str, Any]  # of JSON
_TYPES = {5120: "<i1", 5121: "<u1", 5122: "<i2", 5123: "<u2", 5125: "<u4", 5126: "<f4"}
_WIDTHS = {"SCALAR": 1, "VEC3": 3, "VEC4": 4, "MAT4": 16}
_JSON, _BIN = 0x4E4F534A, 0x004E4942
_HARMLESS = re.compile(  # required or not, they move no vertex
    r"KHR_(mesh_quantization|node_visibility|materials_\w+|texture_\w+|lights_\w+|xmp\w*|animation_"
    r"pointer)|EXT_(texture_\w+|lights_\w+)|MSFT_texture_dds|ADOBE_materials_\w+|FB_ngon_encoding"
)
_INSTANCES = "EXT_mesh_gpu_instancing"
_UNIT = 0.01  # how far from 1 the length of a quaternion may be
_UNCOMPRESSED = "export it uncompressed"
_IN_ONE = "export it as GLB, which holds all in one file"


def read_gltf(raw: RawMesh, content: bytes) -> None:
    """A glTF text, whose buffers are in it or beside it."""
    _Scene(raw, content, None).read()


def read_glb(raw: RawMesh, content: bytes) -> None:
    """A GLB file: a glTF text and a buffer in one."""
    if content[:4] != b"glTF":
        raise raw.refused("no GLB: it does not begin with `glTF`")
    version, length = struct.unpack_from("<II", content, 4) if len(content) >= 12 else (2, 12)
    if version != 2:
        raise raw.refused(f"is glTF {version}", "export it as glTF 2.0")
    if not 12 < length <= len(content):
        raise raw.cut_off(f"it announces {length:,} bytes and has {len(content):,}")
    if content[length : length + 4] == b"glTF":
        raise raw.refused("another GLB follows its end", "save each in a file of its own")
    if length < len(content):
        raw.note("spare bytes", f"{len(content) - length} behind its end", "left out")
    chunks: dict[int, bytes] = {}
    at = 12
    while at + 8 <= length:
        size, kind = struct.unpack_from("<II", content, at)
        if at + 8 + size > length:
            raise raw.cut_off(f"a chunk announces {size:,} bytes and has {length - at - 8:,}")
        chunks.setdefault(kind, content[at + 8 : at + 8 + size])
        at += 8 + size
    if _JSON not in chunks:
        raise raw.refused("no GLB: it holds no glTF text")
    _Scene(raw, chunks[_JSON], chunks.get(_BIN, b"")).read()


class _Scene:
    """What a glTF text says, read piece by piece."""

    def __init__(self, raw: RawMesh, text: bytes, binary: bytes | None) -> None:
        self._raw, self._binary = raw, binary
        tree = json.loads(text.rstrip(b"\0 "))
        if not isinstance(tree, dict):
            raise raw.refused("no glTF: its text is no JSON object")
        self._tree: Tree = tree
        self._buffers: dict[int, bytes] = {}
        self._elsewhere = ""  # the extension of a primitive that may hold its numbers
        nodes = enumerate(tree.get("nodes", []))
        self._parents = {child: k for k, node in nodes for child in node.get("children", [])}

    def read(self) -> None:
        """Adds the triangles of the scene."""
        raw, tree = self._raw, self._tree
        raw.unit, raw.y_up = "m", True
        asset = tree.get("asset", {})
        version = str(asset.get("minVersion", asset.get("version", "without a version")))
        if version != "2.0" and ("minVersion" in asset or version.partition(".")[0] != "2"):
            raise raw.refused(f"is glTF {shown_name(version)}", "export it as glTF 2.0")
        for extension in tree.get("extensionsRequired", []):
            if not _HARMLESS.fullmatch(str(extension)):
                raise self._extension(str(extension))
        nodes, scenes, meshes = (tree.get(kind, []) for kind in ("nodes", "scenes", "meshes"))
        roots = [k for k in range(len(nodes)) if k not in self._parents]
        if scenes:
            roots = self._item("scenes", tree.get("scene", 0)).get("nodes", [])
        if nodes:
            used = self._add_nodes(roots)
        else:
            used = set(range(len(meshes)))
            for index in used:
                self._add_mesh({"mesh": index}, np.eye(4))
        for what, why, count in (
            ("other scenes", "only the first shown is read", len(scenes) - 1),
            ("meshes", "they are not in the scene", len(meshes) - len(used)),
            ("animations", "the mesh is taken at rest", len(tree.get("animations", []))),
        ):
            if count > 0:
                raw.leave_out(what, why, count)

    def _add_nodes(self, roots: list[int]) -> set[int]:
        """Adds the meshes of all nodes from these on; returns their numbers."""
        waiting = [(root, True) for root in reversed(roots)]
        seen, meshes = set(), set()
        while waiting:
            index, shown = waiting.pop()
            node = self._item("nodes", index)
            if index in seen:
                raise self._raw.refused(f"node {index} hangs from two others, or from itself")
            seen.add(index)
            extensions = node.get("extensions", {})
            shown = shown and extensions.get("KHR_node_visibility", {}).get("visible", True)
            if _INSTANCES in extensions:
                raise self._extension(_INSTANCES)
            if "mesh" in node:
                meshes.add(node["mesh"])
                if shown:
                    self._add_mesh(node, self._place(index))
                else:
                    self._raw.leave_out("hidden nodes", "they are not shown")
            waiting += [(child, shown) for child in reversed(node.get("children", []))]
        return meshes

    def _add_mesh(self, node: Tree, place: FloatArray) -> None:
        """Adds the mesh of a node at its place (4, 4), for columns."""
        mesh = self._item("meshes", node["mesh"])
        weights: Any = node.get("weights", mesh.get("weights", []))
        for primitive in mesh["primitives"]:
            mode, attributes = primitive.get("mode", 4), primitive["attributes"]
            self._elsewhere = next(iter(primitive.get("extensions", {})), "")
            if mode in (0, 1, 2, 3):
                self._raw.leave_out("primitives of points or lines", "they are no faces")
            elif mode not in (4, 5, 6):
                raise self._raw.refused(f"a primitive of the unknown mode {mode!r}")
            elif "POSITION" not in attributes:
                self._raw.leave_out("primitives without positions", "they have no place")
            else:
                vertices = self._vertices(primitive, weights)
                corners: IntArray = np.arange(len(vertices))
                if "indices" in primitive:
                    corners = self._accessor(primitive["indices"], "SCALAR")[:, 0].astype(np.int64)
                matrix = place
                if "skin" in node and "JOINTS_0" not in attributes:
                    self._raw.leave_out("skins", "the mesh is taken as it was modelled")
                elif "skin" in node:  # the joints give the place, that of the node does not count
                    vertices = self._skinned(vertices, attributes, node["skin"])
                    matrix = np.eye(4)
                self._raw.add(vertices, self._triangles(corners, mode), matrix)

    def _vertices(self, primitive: Tree, weights: list[float]) -> FloatArray:
        """(n, 3) with morph targets by their weights; those that are missing are 0."""
        vertices = self._accessor(primitive["attributes"]["POSITION"], "VEC3").astype(np.float64)
        for k, target in enumerate(primitive.get("targets", [])):
            if not any(weights[k : k + 1]):
                self._raw.leave_out("morph targets", "the shape without them")
            elif "POSITION" in target:
                vertices += weights[k] * self._accessor(target["POSITION"], "VEC3")
        return vertices

    def _skinned(self, vertices: FloatArray, attributes: Tree, index: int) -> FloatArray:
        """(n, 3) vertices where the joints of a skin put them, in the axes of the scene."""
        skin = self._item("skins", index)
        joints = np.array([self._place(joint) for joint in skin["joints"]])
        if "inverseBindMatrices" in skin:
            given = self._accessor(skin["inverseBindMatrices"], "MAT4")[: len(joints)]
            joints = joints @ given.astype(np.float64).reshape(-1, 4, 4).transpose(0, 2, 1)
        matrices = np.zeros((len(vertices), 4, 4))
        for k in range(sum(name.startswith("JOINTS_") for name in attributes)):
            which = self._accessor(attributes[f"JOINTS_{k}"], "VEC4").astype(np.int64)
            shares = self._accessor(attributes[f"WEIGHTS_{k}"], "VEC4")
            if which.max() >= len(joints):
                raise self._raw.refused(f"names joint {which.max()} of {len(joints)}")
            for column in range(4):
                matrices += shares[:, column, None, None] * joints[which[:, column]]
        total = matrices[:, 3, 3, None]
        if not (total > 0).all():
            raise self._raw.refused("a vertex hangs from no joint of its skin")
        moved = np.einsum("nij,nj->ni", matrices[:, :3, :3], vertices) + matrices[:, :3, 3]
        return np.asarray(moved / total)

    def _triangles(self, corners: IntArray, mode: int) -> IntArray:
        if mode == 4:
            if len(corners) % 3:
                raise self._raw.refused(f"{len(corners)} corners are no whole triangles")
            return corners.reshape(-1, 3)
        k = np.arange(max(len(corners) - 2, 0))
        if mode == 5:  # a strip: every other triangle is wound the other way round
            return corners[np.stack([k, k + 1 + k % 2, k + 2 - k % 2], axis=1)]
        return corners[np.stack([k + 1, k + 2, 0 * k], axis=1)]

    def _place(self, index: int) -> FloatArray:
        """(4, 4) from a node's axes to those of the scene, for columns."""
        matrix = self._matrix(index)
        for _ in range(len(self._parents)):
            if index not in self._parents:
                break
            index = self._parents[index]
            matrix = self._matrix(index) @ matrix
        return matrix

    def _matrix(self, index: int) -> FloatArray:
        """(4, 4) from a node's axes to its parent's, for columns."""
        from scipy.spatial.transform import Rotation

        node = self._item("nodes", index)
        if "matrix" in node:
            return np.array(node["matrix"], dtype=np.float64).reshape(4, 4).T
        quaternion = np.array(node.get("rotation", (0.0, 0.0, 0.0, 1.0)), dtype=np.float64)
        length = float(np.linalg.norm(quaternion))
        if not abs(length - 1.0) < _UNIT:
            raise self._raw.refused(f"the rotation of node {index} has length {length:.3g}")
        matrix = np.eye(4)
        scale = np.array(node.get("scale", (1.0, 1.0, 1.0)), dtype=np.float64)
        matrix[:3, :3] = Rotation.from_quat(quaternion).as_matrix() * scale
        matrix[:3, 3] = node.get("translation", (0.0, 0.0, 0.0))
        return matrix

    def _accessor(self, index: int, kind: str) -> NDArray[Any]:
        """(count, width) the values; normalised integers become numbers from -1 to 1."""
        accessor = self._item("accessors", index)
        code, count = _TYPES.get(accessor["componentType"]), accessor["count"]
        if accessor["type"] != kind or code is None or (kind == "SCALAR" and "u" not in code):
            raise self._raw.refused(
                f"accessor {index} holds {accessor['type']} of type {accessor['componentType']}, "
                f"where {'unsigned ' * (kind == 'SCALAR')}{kind} is needed"
            )
        if not isinstance(count, int) or not 0 < count <= 3 * MAX_FACES:
            raise self._raw.refused(f"accessor {index} has {count!r} entries")
        if "bufferView" not in accessor and "sparse" not in accessor:
            if self._elsewhere:
                raise self._extension(self._elsewhere)
            raise self._raw.refused(f"accessor {index} has no data")
        width = _WIDTHS[kind]
        values = np.zeros((count, width), code)
        if "bufferView" in accessor:
            values = self._view(accessor, code, count, width)
        if "sparse" in accessor:
            sparse = accessor["sparse"]
            places = _TYPES[sparse["indices"]["componentType"]]
            changed = self._view(sparse["indices"], places, sparse["count"], 1)[:, 0]
            values = values.copy()
            self._raw.refuse_numbers(changed.astype(np.int64), count)
            values[changed] = self._view(sparse["values"], code, sparse["count"], width)
        if accessor.get("normalized") and "f" not in code:
            return np.maximum(values / np.iinfo(values.dtype).max, -1.0)
        return values

    def _view(self, accessor: Tree, code: str, count: int, width: int) -> NDArray[Any]:
        """(count, width) numbers as they lie in a buffer."""
        number = accessor["bufferView"]
        view = self._item("bufferViews", number)
        for extension in view.get("extensions", {}):
            if "meshopt" in extension:
                raise self._extension(extension)
        buffer = self._buffer(view["buffer"])
        start, size = view.get("byteOffset", 0), view["byteLength"]
        kind = np.dtype(code)
        stride = view.get("byteStride", 0) or width * kind.itemsize
        offset = accessor.get("byteOffset", 0)
        end = offset + stride * (count - 1) + width * kind.itemsize
        if min(start, size, offset, stride, count - 1) < 0 or end > size:
            raise self._raw.cut_off(f"buffer view {number} has {size} bytes of {end}")
        if start + size > len(buffer):
            raise self._raw.cut_off(f"a buffer has {len(buffer)} bytes of {start + size}")
        strides = (stride, kind.itemsize)
        return np.ndarray((count, width), kind, buffer, start + offset, strides)

    def _buffer(self, index: int) -> bytes:
        buffer = self._item("buffers", index)
        if index not in self._buffers:
            uri = buffer.get("uri")
            if uri is None:
                found = self._binary if index == 0 else None
                if found is None:
                    raise self._raw.refused(f"buffer {index} has no content", _UNCOMPRESSED)
            elif uri.startswith("data:"):
                found = _inline(self._raw, uri)
            else:
                found = _beside(self._raw, unquote(uri))
            if len(found) < buffer["byteLength"]:
                announced = f"a buffer of {buffer['byteLength']:,} bytes"
                raise self._raw.cut_off(f"{announced} has {len(found):,}")
            self._buffers[index] = found
        return self._buffers[index]

    def _item(self, kind: str, index: Any) -> Tree:
        """An entry of one of the tree's lists."""
        items = self._tree.get(kind, [])
        if type(index) is not int or not 0 <= index < len(items):
            raise self._raw.refused(f"names number {index!r} of {len(items)} {kind}")
        item: Tree = items[index]
        return item

    def _extension(self, name: str) -> Exception:
        compressed = "draco" in name.lower() or "meshopt" in name.lower()
        remedy = _UNCOMPRESSED if compressed else f"{EXPORT} without it"
        shown = shown_name(name[:60])
        return self._raw.refused(f"needs the extension {shown}, which is not understood", remedy)


def _inline(raw: RawMesh, uri: str) -> bytes:
    """The content of a buffer that is in the text."""
    head, _, text = uri.partition(",")
    if not head.endswith(";base64") or not re.fullmatch(r"[\w+/]*=*", text := unquote(text)):
        raise raw.refused("a buffer is no base64 text")
    return base64.b64decode(text, validate=True)


def _beside(raw: RawMesh, name: str) -> bytes:
    """The content of a buffer's file, which must lie in the folder of its glTF."""
    folder = raw.path.parent
    outside = not name or "\0" in name or "://" in name or Path(name).is_absolute()
    if outside or not (folder / name).resolve().is_relative_to(folder.resolve()):
        what = f"keeps its mesh in a file that is not in its folder ({shown_name(name)})"
        raise raw.refused(f"{what}, which is not read", _IN_ONE)
    if not (folder / name).is_file():
        what = f"its buffer {shown_name(name)} is not beside it"
        raise raw.refused(what, f"copy it there, or {_IN_ONE}")
    return plain_content(folder / name)
