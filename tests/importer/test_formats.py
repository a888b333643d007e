"""What a mesh file announces is what is read; else it is refused, or told."""

from __future__ import annotations

import base64
import io
import json
import struct
import sys
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from physim.errors import ModelError
from physim.importer.build import Options, PreparedMesh, prepare
from physim.importer.formats import WRITTEN, content_of, read
from physim.importer.reading import RawMesh
from physim.importer.solids import volume_of
from tests.importer.hostile import archive, moved, obj, together
from tests.importer.made import Mesh

SIDES = [
    (0, 1, 3, 2),  # x = 0
    (4, 6, 7, 5),
    (0, 4, 5, 1),  # y = 0
    (2, 3, 7, 6),
    (0, 2, 6, 4),  # z = 0
    (1, 5, 7, 3),
]
TRIANGLES = np.array([t for a, b, c, d in SIDES for t in ((a, b, c), (a, c, d))])


def block(x: float, y: float, z: float, *at: float) -> Mesh:
    corners = [(a, b, c) for a in (0, x) for b in (0, y) for c in (0, z)]
    return np.array(corners, dtype=float) + (at or (0, 0, 0)), TRIANGLES


A = block(40, 20, 30)  # 24 000 mm3
B = block(10, 10, 10, 35, 5, 10)  # 1000 mm3, half of it in A
C = block(20, 10, 10, 30, 5, 15)  # 2000 mm3, half of it in A
BOTH = together(A, B)  # as one body 24 500 mm3, 45 mm long
TILTED = np.array([[0.6, 0.8, 0.0], [-0.8, 0.6, 0.0], [0.0, 0.0, 1.0]])
L = [(0, 0), (30, 0), (30, 10), (10, 10), (10, 30), (0, 30)]  # 500 mm2


def stl(mesh: Mesh, name: str = "s") -> bytes:
    lines = [f"solid {name}"]
    for triangle in mesh[0][mesh[1]].tolist():
        lines += ["facet normal 0 0 0", "outer loop"]
        lines += [f"vertex {x:g} {y:g} {z:g}" for x, y, z in triangle]
        lines += ["endloop", "endfacet"]
    return "\n".join([*lines, "endsolid", ""]).encode()


def binary_stl(mesh: Mesh, head: bytes = b"", count: int | None = None) -> bytes:
    faces = np.zeros(len(mesh[1]), [("n", "<f4", 3), ("v", "<f4", (3, 3)), ("a", "<u2")])
    faces["v"] = mesh[0][mesh[1]]
    number = len(faces) if count is None else count
    return head.ljust(80, b" ") + struct.pack("<I", number) + faces.tobytes()


def off(mesh: Mesh, head: str = "OFF\n", colour: str = "") -> bytes:
    lines = [f"{x:g} {y:g} {z:g}" for x, y, z in mesh[0].tolist()]
    lines += [f"3 {a} {b} {c}{colour}" for a, b, c in mesh[1].tolist()]
    return f"{head}{len(mesh[0])} {len(mesh[1])} 0\n{chr(10).join(lines)}\n".encode()


def ply_head(vertices: int, faces: int, kind: str = "ascii", more: str = "") -> bytes:
    lines = ["ply", f"format {kind} 1.0", f"element vertex {vertices}"]
    lines += [f"property float {axis}" for axis in "xyz"]
    lines += [f"element face {faces}", "property list uchar int vertex_indices"]
    return "\n".join([*lines, *more.splitlines(), "end_header", ""]).encode()


def ply(mesh: Mesh, polygons: list[tuple[int, ...]] | None = None, more: str = "") -> bytes:
    rows = polygons or [tuple(face) for face in mesh[1].tolist()]
    lines = [f"{x:g} {y:g} {z:g}" for x, y, z in mesh[0].tolist()]
    lines += [" ".join(map(str, (len(row), *row))) for row in rows]
    return ply_head(len(mesh[0]), len(rows), more=more) + ("\n".join(lines) + "\n").encode()


def binary_ply(
    mesh: Mesh, polygons: list[tuple[int, ...]] | None = None, order: str = "<"
) -> bytes:
    rows = polygons or [tuple(face) for face in mesh[1].tolist()]
    kind = "binary_little_endian" if order == "<" else "binary_big_endian"
    data = mesh[0].astype(order + "f4").tobytes()
    data += b"".join(struct.pack(f"{order}B{len(row)}i", len(row), *row) for row in rows)
    return ply_head(len(mesh[0]), len(rows), kind) + data


# --- glTF ---

FLOATS = {"componentType": 5126, "type": "VEC3"}
TRIANGLE_MODE: dict[str, Any] = {"attributes": {"POSITION": 0}, "indices": 1}


def positions(mesh: Mesh) -> tuple[dict[str, Any], bytes]:
    return FLOATS | {"count": len(mesh[0])}, (mesh[0] / 1000).astype("<f4").tobytes()


def indices(faces: np.ndarray) -> tuple[dict[str, Any], bytes]:
    flat = np.asarray(faces, dtype="<u2").reshape(-1)
    return {"componentType": 5123, "type": "SCALAR", "count": len(flat)}, flat.tobytes()


def tree_of(
    lists: list[tuple[dict[str, Any], bytes]],
    primitives: list[dict[str, Any]] | None = None,
    **more: Any,
) -> tuple[dict[str, Any], bytes]:
    """A glTF tree, one buffer view for each accessor, and its buffer."""
    starts = np.cumsum([0, *(len(data) for _, data in lists)]).tolist()
    buffer = b"".join(data for _, data in lists)
    tree = {
        "asset": {"version": "2.0"},
        "scene": 0,
        "scenes": [{"nodes": [0]}],
        "nodes": [{"mesh": 0}],
        "meshes": [{"primitives": primitives or [TRIANGLE_MODE]}],
        "accessors": [a | {"bufferView": k} for k, (a, _) in enumerate(lists)],
        "bufferViews": [
            {"buffer": 0, "byteOffset": start, "byteLength": len(data)}
            for start, (_, data) in zip(starts, lists, strict=False)
        ],
        "buffers": [{"byteLength": len(buffer)}],
    }
    return tree | more, buffer


def glb(*arguments: Any, stride: int = 0, **more: Any) -> bytes:
    tree, buffer = tree_of(*arguments, **more)
    if stride:
        tree["bufferViews"][0]["byteStride"] = stride
    text = json.dumps(tree).encode()
    text += b" " * (-len(text) % 4)
    buffer += bytes(-len(buffer) % 4)
    chunks = struct.pack("<I4s", len(text), b"JSON") + text
    chunks += struct.pack("<I4s", len(buffer), b"BIN\0") + buffer
    return struct.pack("<4sII", b"glTF", 2, 12 + len(chunks)) + chunks


def gltf(*arguments: Any, **more: Any) -> bytes:
    tree, buffer = tree_of(*arguments, **more)
    tree["buffers"][0]["uri"] = "data:application/octet-stream;base64," + base64.b64encode(
        buffer
    ).decode("ascii")
    return json.dumps(tree).encode()


def simple(mesh: Mesh = A) -> list[tuple[dict[str, Any], bytes]]:
    return [positions(mesh), indices(mesh[1])]


def quantised() -> bytes:
    """A cube of 38 mm whose corners are at -1 and 1 as bytes, every fourth of which is spare."""
    corners = np.zeros((8, 4), np.int8)
    corners[:, :3] = np.where(A[0] > 0, 127, -127)
    bytes_of = {"componentType": 5120, "type": "VEC3", "normalized": True, "count": 8}
    return glb(
        [(bytes_of, corners.tobytes()), indices(A[1])],
        stride=4,
        nodes=[{"mesh": 0, "scale": [0.019] * 3}],
        extensionsRequired=["KHR_mesh_quantization"],
    )


def sparse() -> bytes:
    """A, one corner of which was moved from elsewhere."""
    wrong = A[0].copy()
    wrong[7] = 0
    tree, buffer = tree_of(
        [
            positions((wrong, A[1])),
            indices(A[1]),
            indices(np.array([7])),
            positions((A[0][7:], A[1])),
        ]
    )
    places, moved_to = tree["accessors"].pop(2), tree["accessors"].pop(2)
    tree["accessors"][0]["sparse"] = {"count": 1, "indices": places, "values": moved_to}
    uri = "data:;base64," + base64.b64encode(buffer).decode()
    return json.dumps(tree | {"buffers": [{"byteLength": len(buffer), "uri": uri}]}).encode()


def numbers(kind: str, code: int, values: np.ndarray) -> tuple[dict[str, Any], bytes]:
    """An accessor of a type and its content."""
    return {"componentType": code, "type": kind, "count": len(values)}, values.tobytes()


def skinned(joints: list[int], share: float = 0.5, **more: Any) -> bytes:
    """A ten times too large and to the side, as the joints bring it back; its node is stretched.

    Args:
        joints: of each vertex, of which the first two count, with the same share.
        share: theirs.
        more: of the skin.
    """
    back = np.tile(np.eye(4, dtype="<f4"), (2, 1, 1))  # by columns
    back[:, 3, :3] = -1.0, -2.0, -3.0
    lists = [
        positions((10 * A[0] + (1000, 2000, 3000), A[1])),
        indices(A[1]),
        numbers("VEC4", 5121, np.tile(np.array(joints, "u1"), (8, 1))),
        numbers("VEC4", 5126, np.tile(np.array([share, share, 0, 0], "<f4"), (8, 1))),
        numbers("MAT4", 5126, back),
    ]
    attributes = {"POSITION": 0, "JOINTS_0": 2, "WEIGHTS_0": 3}
    nodes = [
        {"mesh": 0, "skin": 0, "scale": [3, 3, 3]},
        {"children": [2, 3], "scale": [0.2, 0.2, 0.2]},
        {"scale": [0.5, 0.5, 0.5]},
        {"scale": [0.5, 0.5, 0.5]},
    ]
    skin = {"joints": [2, 3], "inverseBindMatrices": 4} | more
    return glb(
        lists,
        [{"attributes": attributes, "indices": 1}],
        scenes=[{"nodes": [0, 1]}],
        nodes=nodes,
        skins=[skin],
    )


def strips(mode: int) -> bytes:
    """A by one primitive, B by strips or fans."""
    if mode == 6:
        rows = [[0, 1, 3, 2, 6, 4, 5, 1], [7, 3, 1, 5, 4, 6, 2, 3]]
    else:
        rows = [[a, b, d, c] for a, b, c, d in SIDES]
    more = [
        {"attributes": {"POSITION": 2}, "indices": k + 3, "mode": mode} for k in range(len(rows))
    ]
    lists = [*simple(), positions(B), *(indices(np.array(row)) for row in rows)]
    return glb(lists, [TRIANGLE_MODE, *more])


# --- 3MF ---

CORE = "http://schemas.microsoft.com/3dmanufacturing/core/2015/02"
PRODUCTION = "http://schemas.microsoft.com/3dmanufacturing/production/2015/06"


def xml(mesh: Mesh) -> str:
    vertices = "".join(f'<vertex x="{x:g}" y="{y:g}" z="{z:g}"/>' for x, y, z in mesh[0].tolist())
    faces = "".join(f'<triangle v1="{a}" v2="{b}" v3="{c}"/>' for a, b, c in mesh[1].tolist())
    return f"<mesh><vertices>{vertices}</vertices><triangles>{faces}</triangles></mesh>"


def thing(number: int, body: str, kind: str = "model", more: str = "") -> str:
    return f'<object id="{number}" type="{kind}" {more}>{body}</object>'


def item(number: int, more: str = "") -> str:
    return f'<item objectid="{number}" {more}/>'


def root(objects: str, items: str, unit: str = "millimeter", more: str = "") -> bytes:
    return (
        f'<model unit="{unit}" xmlns="{CORE}" xmlns:p="{PRODUCTION}" {more}><resources>{objects}'
        f"</resources><build>{items}</build></model>"
    ).encode()


def mf(
    objects: str,
    items: str,
    unit: str = "millimeter",
    more: str = "",
    parts: dict[str, bytes] | None = None,
) -> bytes:
    entries = {"3D/3dmodel.model": root(objects, items, unit, more)}
    return archive(entries | (parts or {}))


def components(*places: str) -> str:
    return "<components>" + "".join(f"<component {place}/>" for place in places) + "</components>"


def prusa(kind: str) -> bytes:
    config = (
        '<config><object id="1"><volume firstid="0" lastid="11"><metadata type="volume" '
        'key="volume_type" value="ModelPart"/></volume><volume firstid="12" lastid="23"><metadata '
        f'type="volume" key="volume_type" value="{kind}"/></volume></object></config>'
    )
    model = root(thing(1, xml(BOTH)), item(1))
    return archive({"3D/3dmodel.model": model, "Metadata/Slic3r_PE_model.config": config.encode()})


def bambu(kind: str) -> bytes:
    config = (
        '<config><object id="3"><part id="1" subtype="normal_part"/>'
        f'<part id="2" subtype="{kind}"/></object></config>'
    )
    objects = (
        thing(1, xml(A)) + thing(2, xml(B)) + thing(3, components('objectid="1"', 'objectid="2"'))
    )
    return archive(
        {
            "3D/3dmodel.model": root(objects, item(3)),
            "Metadata/model_settings.config": config.encode(),
        }
    )


def lzma() -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_LZMA) as entries:
        entries.writestr("3D/3dmodel.model", root(thing(1, xml(A)), item(1)))
    return file.getvalue()


def bambu_parts(beside: bool = False) -> bytes:
    """A and B are each 1 of an own part; in object 4, 1 is a modifier, in 3 of the root it is not.

    Args:
        beside: whether both are components of one object.
    """
    a, b = (f'objectid="1" p:path="/3D/{part}.model"' for part in "ab")
    config = (
        '<config><object id="3"><part id="1" subtype="normal_part"/></object>'
        '<object id="4"><part id="1" subtype="modifier_part"/></object></config>'
    )
    four = components(a, b) if beside else components(b)
    return mf(
        thing(3, components(a)) + thing(4, four),
        item(3) + item(4) + item(4, 'p:path="/3D/c.model"'),
        parts={
            "3D/a.model": root(thing(1, xml(A)), ""),
            "3D/b.model": root(thing(1, xml(B)), ""),
            "3D/c.model": root(thing(1, xml(C)) + thing(4, components('objectid="1"')), ""),
            "Metadata/model_settings.config": config.encode(),
        },
    )


MIRROR = 'transform="-1 0 0 0 1 0 0 0 1 70 0 0"'  # A again, from 30 to 70 mm
AFTER = 'transform="1 0 0 0 1 0 0 0 1 30 0 0"'  # A again, from 30 to 70 mm
OTHER_PART = root(thing(7, xml(B)), "")
OBJ_A, OBJ_BOTH = obj(*A), obj(*BOTH)
PLY_EDGES = "element edge 2\nproperty int vertex1\nproperty int vertex2"
ROWS = [tuple(side) for side in SIDES[:3]] + [
    t for a, b, c, d in SIDES[3:] for t in ((a, b, c), (a, c, d))
]


def negative() -> bytes:
    """Faces count back from the line on which they stand (case 91)."""
    text = ""
    for mesh in (A, B):
        text += "".join(f"v {x:g} {y:g} {z:g}\n" for x, y, z in mesh[0].tolist())
        text += "".join(f"f {a - 8} {b - 8} {c - 8}\n" for a, b, c in mesh[1].tolist())
    return text.encode()


ENDS = {"lf": b"\n", "crlf": b"\r\n", "cr": b"\r"}
READ: dict[str, tuple[str, bytes, int, int]] = {
    # STL
    "92_capitals": ("a.stl", stl(A).upper(), 24_000, 40),
    "93_name_in_latin_1": ("a.stl", stl(A, "größe").replace("ö".encode(), b"\xf6"), 24_000, 40),
    "94_bytes_behind": ("a.stl", binary_stl(A) + b"\0\0", 24_000, 40),
    "94_a_line_behind": ("a.stl", binary_stl(A) + b"made by hand\r\n", 24_000, 40),
    "94_a_page_of_zeros_behind": ("a.stl", binary_stl(A) + bytes(4096), 24_000, 40),
    "97_key_word_in_a_name": ("a.stl", stl(A, "vertex_pig"), 24_000, 40),
    "97_facet_in_a_name": ("a.stl", stl(A, "facet normal endsolid outer loop"), 24_000, 40),
    "stl_of_two_solids": ("a.stl", stl(A, "a") + stl(B, "solid b"), 24_500, 45),
    "stl_with_tabs_and_cr": (
        "a.stl",
        stl(A).replace(b" ", b"\t").replace(b"\n", b"\r"),
        24_000,
        40,
    ),
    "stl_on_one_line": ("a.stl", stl(A).replace(b"\n", b" "), 24_000, 40),
    "stl_with_a_mark": ("a.stl", b"\xef\xbb\xbf" + stl(A), 24_000, 40),
    "stl_with_zeros_behind": ("a.stl", stl(A) + bytes(9) + b"\x1a", 24_000, 40),
    "binary_stl_called_solid": ("a.stl", binary_stl(A, b"solid facet"), 24_000, 40),
    "binary_stl_called_solid_and_bytes": ("a.stl", binary_stl(A, b"solid a") + b"\0", 24_000, 40),
    "off_capital": ("a.off", off(A).replace(b"OFF", b"Off"), 24_000, 40),
    # OBJ
    "91_negative_indices": ("a.obj", negative(), 24_500, 45),
    "98_tabs": ("a.obj", OBJ_A.replace(b" ", b"\t"), 24_000, 40),
    "98_tabs_in_some": ("a.obj", OBJ_BOTH.replace(b"f ", b"f\t"), 24_500, 45),
    "F5_cr": ("a.obj", OBJ_A.replace(b"\n", b"\r"), 24_000, 40),
    "obj_form_feeds": ("a.obj", OBJ_A.replace(b"f ", b"f \x0b\x0c"), 24_000, 40),
    "obj_capitals": ("a.obj", OBJ_A.upper(), 24_000, 40),
    "obj_in_latin_1": ("a.obj", b"# gr\xf6\xdfe\ng schwein \xe4\n" + OBJ_A, 24_000, 40),
    "obj_with_a_mark": ("a.obj", b"\xef\xbb\xbf" + OBJ_A, 24_000, 40),
    "obj_lines_joined": ("a.obj", OBJ_A.replace(b"f ", b"f \\\n"), 24_000, 40),
    "obj_lines_joined_crlf": ("a.obj", OBJ_A.replace(b"f ", b"f\\ \r\n "), 24_000, 40),
    "obj_paths_end_with_a_backslash": (
        "a.obj",
        b"# C:\\pigs\\\n" + OBJ_A.replace(b"\nf", b"\nusemtl C:\\x\\\nf", 1),
        24_000,
        40,
    ),
    "obj_comments_behind": ("a.obj", OBJ_A.replace(b"\n", b" # v f\n"), 24_000, 40),
    "obj_colours": ("a.obj", OBJ_A.replace(b"\nf", b" .1 .2 .3\nf", 1), 24_000, 40),
    "obj_weights_of_1_and_colours": (
        "a.obj",
        OBJ_A.replace(b"\nf", b" 1 .1 .2 .3\nf", 1),
        24_000,
        40,
    ),
    "obj_all_indices": (
        "a.obj",
        b"vt 0 0\nvn 0 0 1\n"
        + obj(A[0], np.zeros((0, 3), int))
        + b"\n"
        + b"".join(b"f %d/1/1 %d//1 %d/1\n" % tuple(f + 1) for f in A[1]),
        24_000,
        40,
    ),
    # OFF
    "off_with_colours": ("a.off", off(A, "OFF\n# by hand\n\n", " 255 0 0"), 24_000, 40),
    "off_numbers_on_the_first_line": ("a.off", off(A, "OFF "), 24_000, 40),
    "off_in_small_letters_with_cr": ("a.off", off(A, "off\n").replace(b"\n", b"\r"), 24_000, 40),
    "off_on_one_line": ("a.off", off(A).replace(b"\n", b"\t"), 24_000, 40),
    "off_without_its_word": ("a.off", off(A, ""), 24_000, 40),
    "off_coloured_corners": (
        "a.off",
        b"COFF\n" + off(A, "").replace(b"\n", b" 1 0 0 1\n").replace(b" 1 0 0 1", b"", 1),
        24_000,
        40,
    ),
    # PLY
    "F5_ply_with_cr": ("a.ply", ply(A).replace(b"\n", b"\r"), 24_000, 40),
    "ply_crlf_and_comments": (
        "a.ply",
        ply(A).replace(b"\nel", b"\ncomment \xe4 end_header\nel", 1).replace(b"\n", b"\r\n"),
        24_000,
        40,
    ),
    "ply_capitals": ("a.ply", ply(A).upper(), 24_000, 40),
    "ply_polygons": ("a.ply", ply(A, ROWS), 24_000, 40),
    "ply_binary": ("a.ply", binary_ply(A), 24_000, 40),
    "ply_binary_polygons": ("a.ply", binary_ply(A, ROWS), 24_000, 40),
    "ply_big_endian": ("a.ply", binary_ply(A, order=">"), 24_000, 40),
    "ply_binary_bytes_behind": ("a.ply", binary_ply(A) + b"\r\n", 24_000, 40),
    "ply_binary_with_cr": (
        "a.ply",
        ply_head(8, 12, "binary_little_endian").replace(b"\n", b"\r")
        + binary_ply(A)[len(ply_head(8, 12, "binary_little_endian")) :],
        24_000,
        40,
    ),
    "ply_binary_polygons_and_zeros_behind": (
        "a.ply",
        binary_ply(A, ROWS) + bytes(99),
        24_000,
        40,
    ),
    "ply_binary_polygons_and_a_line_behind": (
        "a.ply",
        binary_ply(A, ROWS) + b"\nmade by hand\n",
        24_000,
        40,
    ),
    **{
        f"ply_mixed_line_ends_{kind}_{first}_{last}": (
            "a.ply",
            head.replace(b"\n", ENDS[first]) + b"end_header" + ENDS[last] + data,
            24_000,
            40,
        )
        for kind, content in (("text", ply(A)), ("binary", binary_ply(A)))
        for head, _, data in [content.partition(b"end_header\n")]
        for first, last in (("lf", "crlf"), ("crlf", "lf"), ("crlf", "cr"), ("cr", "lf"))
    },
    "ply_edges": ("a.ply", ply(A, more=PLY_EDGES) + b"0 1\n1 2\n", 24_000, 40),
    # glTF
    "107_normalised_bytes": ("a.glb", quantised(), 38**3, 38),
    "109_fans": ("a.glb", strips(6), 24_500, 45),
    "109_strips": ("a.glb", strips(5), 24_500, 45),
    "gltf_sparse": ("a.gltf", sparse(), 24_000, 40),
    "gltf_with_a_mark": ("a.gltf", b"\xef\xbb\xbf" + gltf(simple()), 24_000, 40),
    "gltf_bytes_behind": ("a.glb", glb(simple()) + b"\0\0\0", 24_000, 40),
    "gltf_without_indices": (
        "a.glb",
        glb([positions((A[0][A[1]].reshape(-1, 3), A[1]))], [{"attributes": {"POSITION": 0}}]),
        24_000,
        40,
    ),
    "gltf_mirrored_beside": (
        "a.glb",
        glb(
            simple(),
            scenes=[{"nodes": [0]}],
            nodes=[
                {"children": [1, 2]},
                {"mesh": 0},
                {"mesh": 0, "scale": [-1, 1, 1], "translation": [0.07, 0, 0]},
            ],
        ),
        42_000,
        70,
    ),
    "gltf_matrix": (
        "a.glb",
        glb(
            simple(),
            nodes=[{"mesh": 0, "matrix": [0, 0, -1, 0, 0, 1, 0, 0, 1, 0, 0, 0, 1, 2, 3, 1]}],
        ),
        24_000,
        40,
    ),
    "gltf_two_scenes": (
        "a.glb",
        glb(
            simple(),
            nodes=[{"mesh": 0, "scale": [2, 1, 1]}, {"mesh": 0}],
            scenes=[{"nodes": [0]}, {"nodes": [1]}],
            scene=1,
        ),
        24_000,
        40,
    ),
    "gltf_in_mm": ("a.glb", glb(simple(moved(A, scale=1000.0))), 24_000, 40),
    # 3MF
    "3mf_mirrored_item": ("a.3mf", mf(thing(1, xml(A)), item(1) + item(1, MIRROR)), 42_000, 70),
    "3mf_components": (
        "a.3mf",
        mf(
            thing(1, xml(A)) + thing(2, components('objectid="1"', f'objectid="1" {AFTER}')),
            item(2, 'transform="0 1 0 -1 0 0 0 0 1 5 5 5"'),
        ),
        42_000,
        70,
    ),
    "3mf_item_of_another_part": (
        "a.3mf",
        mf(
            thing(1, xml(A)),
            item(1) + item(7, 'p:path="/3D/Objects/b.model"'),
            more='requiredextensions="p"',
            parts={"3D/objects/B.model": OTHER_PART},
        ),
        24_500,
        45,
    ),
    "3mf_in_utf_16": (
        "a.3mf",
        archive(
            {
                "3D/3dmodel.model": (
                    '<?xml version="1.0" encoding="UTF-16"?>'
                    + root(thing(1, xml(A)), item(1)).decode()
                ).encode("utf-16")
            }
        ),
        24_000,
        40,
    ),
    "106_support": (
        "a.3mf",
        mf(thing(1, xml(A)) + thing(2, xml(B), "support"), item(1) + item(2)),
        24_000,
        40,
    ),
    "106_not_printed": (
        "a.3mf",
        mf(thing(1, xml(A)) + thing(2, xml(B)), item(1) + item(2, 'printable="0"')),
        24_000,
        40,
    ),
    "106_not_in_the_build": (
        "a.3mf",
        mf(thing(1, xml(A)) + thing(2, xml(B)), item(1)),
        24_000,
        40,
    ),
    "106_modifier_of_prusa": ("a.3mf", prusa("ParameterModifier"), 24_000, 40),
    "106_modifier_of_bambu": ("a.3mf", bambu("modifier_part"), 24_000, 40),
    "106_modifier_of_bambu_in_a_part": ("a.3mf", bambu_parts(), 25_000, 50),
    "bambu_part": ("a.3mf", bambu("normal_part"), 24_500, 45),
    "106_modifier_of_cura": (
        "a.3mf",
        mf(
            thing(1, xml(A))
            + thing(
                2,
                '<metadatagroup><metadata name="cura:infill_mesh">True</metadata></metadatagroup>'
                + xml(B),
            ),
            item(1) + item(2),
        ),
        24_000,
        40,
    ),
} | {
    f"103_{unit}": ("a.3mf", mf(thing(1, xml(moved(A, scale=k))), item(1), unit), 24_000, 40)
    for unit, k in {
        "micron": 1000.0,
        "millimeter": 1.0,
        "centimeter": 0.1,
        "inch": 1 / 25.4,
        "foot": 1 / 304.8,
        "meter": 0.001,
    }.items()
}
"""File, content, volume [mm3] and length [mm]."""

TOLD: dict[str, str] = {
    "94_bytes_behind": "spare bytes",
    "94_a_line_behind": "14 behind",
    "94_a_page_of_zeros_behind": "4096 behind",
    "binary_stl_called_solid_and_bytes": "spare bytes",
    "ply_binary_bytes_behind": "spare bytes",
    "ply_binary_polygons_and_zeros_behind": "99 behind",
    "ply_binary_polygons_and_a_line_behind": "14 behind",
    "gltf_bytes_behind": "spare bytes",
    "ply_edges": "`edge` (2)",
    "gltf_two_scenes": "other scenes",
    "106_support": "support",
    "106_not_printed": "not to be printed",
    "106_not_in_the_build": "not in the build",
    "106_modifier_of_prusa": "ParameterModifier",
    "106_modifier_of_bambu": "modifier_part",
    "106_modifier_of_bambu_in_a_part": "modifier_part",
    "106_modifier_of_cura": "infill_mesh",
}
"""Words of a note."""


def written(folder: Path, name: str, content: bytes) -> Path:
    path = folder / name
    path.write_bytes(content)
    return path


def volume(mesh: RawMesh | PreparedMesh) -> float:
    vertices = mesh.vertices if isinstance(mesh, RawMesh) else mesh.vertices_mm
    return volume_of(vertices, mesh.faces)


@pytest.mark.parametrize("kind", READ)
def test_a_sound_file_is_read_as_a_whole(kind: str, tmp_path: Path) -> None:
    name, content, expected, length = READ[kind]
    found = prepare(written(tmp_path, name, content), Options())
    assert not [problem for problem in found.problems if not problem.solved]
    assert volume(found) == pytest.approx(expected, rel=1e-4)
    assert np.ptp(found.vertices_mm, axis=0).max() == pytest.approx(length, rel=1e-4)
    told = [f"{p.kind}: {p.where}: {p.action}" for p in found.problems]
    noted = [text for text in told if text.startswith(("left out", "spare"))]
    assert len(noted) == (kind in TOLD)
    assert TOLD.get(kind, "") in "".join(noted)
    said = {"103": "as the file says", "gltf_in_mm": "glTF is in metres"}
    assert all(words in "".join(told) for start, words in said.items() if kind.startswith(start))


CONCAVE = {
    f"{start}_{'left' if turn == 1 else 'right'}": (start, turn)
    for start in range(6)
    for turn in (1, -1)
}


@pytest.mark.parametrize("kind", CONCAVE)
@pytest.mark.parametrize("suffix", [".obj", ".ply", ".off"])
def test_a_concave_polygon_is_cut_into_triangles_inside_it(
    kind: str, suffix: str, tmp_path: Path
) -> None:
    """Case 100: an L of 10 mm, for every corner at which its polygons may begin."""
    start, turn = CONCAVE[kind]
    ring = [(k + start) % 6 for k in range(6)]
    polygons = [ring[::-1], [k + 6 for k in ring]]
    polygons += [[k, (k + 1) % 6, 6 + (k + 1) % 6, 6 + k] for k in range(6)]
    rows = [tuple(polygon[::turn]) for polygon in polygons]
    points = np.array([(x, y, z) for z in (0.0, 10.0) for x, y in L]) @ TILTED
    if suffix == ".obj":
        text = obj(points, np.zeros((0, 3), int)).decode()
        text += "".join("\nf " + " ".join(str(k + 1) for k in row) for row in rows)
    else:
        text = ply((points, TRIANGLES), rows).decode()
        if suffix == ".off":
            text = "OFF\n12 8 0\n" + text.partition("end_header\n")[2]
    found = read(written(tmp_path, "a" + suffix, text.encode()))
    assert len(found.faces) == 20
    assert turn * volume(found) == pytest.approx(5000, rel=1e-4)
    a, b, c = (found.vertices[found.faces[:, k]] for k in range(3))
    surface = np.linalg.norm(np.cross(b - a, c - a), axis=1).sum() / 2
    assert surface == pytest.approx(2 * 500 + 120 * 10, rel=1e-4)  # no triangle lies on another


def test_a_face_with_a_hole_joined_by_a_bridge_is_cut_right(tmp_path: Path) -> None:
    outer = [(0, 0), (30, 0), (30, 30), (0, 30)]
    inner = [(10, 10), (10, 20), (20, 20), (20, 10)]
    points = [(x, y, 0.0) for x, y in outer + inner]
    row = "\nf 1 2 3 4 1 5 6 7 8 5"
    path = written(tmp_path, "a.obj", obj(points, np.zeros((0, 3), int)) + row.encode())
    found = read(path)
    a, b, c = (found.vertices[found.faces[:, k]] for k in range(3))
    assert np.cross(b - a, c - a)[:, 2].min() >= 0
    assert np.cross(b - a, c - a)[:, 2].sum() / 2 == pytest.approx(800)


DAMAGED = "it is damaged, cut off or of another format"  # so no reader said what it is
REFUSED: dict[str, tuple[str, bytes, str]] = {
    # STL
    "95_second_solid_cut_off": ("a.stl", stl(A) + stl(B)[:600], "is cut off: "),
    "95_cut_in_a_word": ("a.stl", stl(A) + b"sol", "is cut off: "),
    "95_cut_between_facets": ("a.stl", stl(A)[: stl(A).index(b"endsolid")], "is cut off: "),
    "95_facets_after_the_end": ("a.stl", stl(A) + stl(B)[8:], "is cut off: "),
    "stl_of_four_corners": (
        "a.stl",
        stl(A).replace(b"endloop", b"vertex 0 0 0\nendloop", 1),
        "after line 1 ",
    ),
    "stl_with_commas": ("a.stl", stl(moved(A, scale=1.01)).replace(b".", b","), "decimal points"),
    "stl_with_fewer_announced": ("a.stl", binary_stl(BOTH, count=12), "12 faces, but more"),
    "stl_twice_in_one": ("a.stl", binary_stl(A) + binary_stl(B), "12 faces, but more"),
    "stl_none_announced": ("a.stl", binary_stl(A, count=0), "0 faces, but more"),
    # OBJ
    "obj_of_free_form": ("a.obj", OBJ_A + b"\ncstype bezier\nsurf 0 1 0 1 1 2 3 4\n", "`cstype`"),
    "obj_calls_another": ("a.obj", OBJ_A + b"\ncall other.obj\n", "call"),
    "obj_unknown": ("a.obj", OBJ_A + b"\nfaces 1 2 3\n", "faces"),
    "obj_index_0": ("a.obj", OBJ_A + b"\nf 0 1 2\n", "line 21"),
    "obj_index_too_far_back": ("a.obj", OBJ_A + b"\nf -1 -2 -9\n", "line 21"),
    "obj_of_letters": ("a.obj", OBJ_A + b"\nf 1 2 c\n", "c in the face of line 21"),
    **{
        f"obj_vertex_of_{numbers.decode()}": (
            "a.obj",
            b"v " + numbers + b"\n" + OBJ_A,
            f"line 1: a vertex {words}",
        )
        for numbers, words in {
            b"1 2 3 1 .5": "of 5 numbers",
            b"1 2 3 1 .5 .5 .5 1": "of 8 numbers",
            b"1 2 3 2": "with a weight",
            b"1 2 3 2 .5 .5 .5": "with a weight",
        }.items()
    },
    **{
        f"digits_joined{suffix}": ("a" + suffix, content.replace(b"40", b"4_0"), " in the vertices")
        for suffix, content in {
            ".obj": OBJ_A,
            ".stl": stl(A),
            ".off": off(A),
            ".ply": ply(A),
        }.items()
    },
    "obj_cut_off_vertex": ("a.obj", b"v 1 2\n" + OBJ_A, "line 1"),
    "obj_only_lines": ("a.obj", b"v 0 0 0\nv 1 1 1\nl 1 2\n", "lines (1)"),
    "obj_bow_tie": (
        "a.obj",
        b"v 0 0 0\nv 3 2 0\nv 3 0 0\nv 0 1 0\nf 1 2 3 4\n",
        "runs through itself",
    ),
    # OFF
    "off_twice_in_one": ("a.off", off(A) + off(B), "another mesh follows"),
    "ply_twice_in_one": ("a.ply", ply(A) + ply(B), "another mesh follows"),
    "glb_twice_in_one": ("a.glb", glb(simple()) + glb(simple(B)), "another GLB follows"),
    "glb_of_a_later_version": (
        "a.glb",
        glb(simple(), asset={"version": "2.1", "minVersion": "2.1"}),
        "is glTF 2.1",
    ),
    "glb_rotation_that_stretches": (
        "a.glb",
        glb(simple(), nodes=[{"mesh": 0, "rotation": [0, 0, 1, 1]}]),
        "rotation of node 0 has length 1.41",
    ),
    "glb_joint_that_is_missing": ("a.glb", skinned([0, 2, 0, 0]), "joint 2 of 2"),
    "glb_vertices_without_joints": ("a.glb", skinned([0, 1, 0, 0], share=0.0), "no joint"),
    "off_cut_off": ("a.off", off(A)[:-9], "is cut off: "),
    "off_too_few_lines": ("a.off", off(A).replace(b"8 12", b"8 13", 1), "is cut off: "),
    "off_too_many_lines": ("a.off", off(A).replace(b"8 12", b"8 11", 1), "but more numbers follow"),
    "off_in_4_dimensions": ("a.off", off(A, "4OFF\n"), "three dimensions"),
    "off_binary": ("a.off", b"OFF BINARY\n" + bytes(range(99)), "binary OFF"),
    "off_of_words": ("a.off", off(A).replace(b"3 0 1", b"3 o 1"), "o in the faces"),
    # PLY
    "ply_cut_off": ("a.ply", ply(A)[:-8], "is cut off: "),
    "ply_binary_cut_off": ("a.ply", binary_ply(A)[:-1], "is cut off: "),
    "ply_binary_polygons_cut_off": ("a.ply", binary_ply(A, ROWS)[:-1], "is cut off: "),
    "ply_head_cut_off": ("a.ply", ply(A)[:60], "is cut off: "),
    "ply_fewer_announced": (
        "a.ply",
        ply(A).replace(b"face 12", b"face 11"),
        "but more numbers follow",
    ),
    "ply_binary_fewer_announced": (
        "a.ply",
        binary_ply(A).replace(b"face 12", b"face 11"),
        "but more follow",
    ),
    **{
        f"ply_binary_ninth_face_{order}": (
            "a.ply",
            binary_ply(A, ROWS, order).replace(b"face 9", b"face 8") + behind,
            "but more follow",
        )
        for order, behind in (("<", b""), (">", b"\n"))
    },
    "ply_binary_quad_behind_triangles": (
        "a.ply",
        binary_ply(A, ROWS[3:] + ROWS[:3]).replace(b"face 9", b"face 7"),
        "but more follow",
    ),
    "ply_binary_no_face_announced": (
        "a.ply",
        binary_ply(A).replace(b"face 12", b"face 0"),
        "but more follow",
    ),
    "ply_indices_of_floats": (
        "a.ply",
        binary_ply(A).replace(b"uchar int", b"uchar float"),
        "no whole numbers",
    ),
    "ply_strips": (
        "a.ply",
        ply(A, more="element tristrips 1\nproperty list int int vertex_indices") + b"3 0 1 2\n",
        "`tristrips`",
    ),
    "ply_of_unknown_type": ("a.ply", ply(A).replace(b"float x", b"quad x"), "quad x"),
    "ply_other_list": ("a.ply", ply(A).replace(b"vertex_indices", b"corners"), "vertex_indices"),
    # glTF
    "108_unknown_extension": ("a.glb", glb(simple(), extensionsRequired=["XX_new"]), "XX_new"),
    "108_draco": (
        "a.glb",
        glb(simple(), extensionsRequired=["KHR_draco_mesh_compression"]),
        "KHR_draco_mesh_compression, which is not understood; export it uncompressed",
    ),
    "108_meshopt": (
        "a.gltf",
        gltf(simple(), extensionsRequired=["EXT_meshopt_compression"]),
        "export it uncompressed",
    ),
    "108_draco_not_required": (
        "a.glb",
        glb(
            simple(),
            [TRIANGLE_MODE | {"extensions": {"KHR_draco_mesh_compression": {}}}],
            accessors=[FLOATS | {"count": 8}, indices(A[1])[0] | {"bufferView": 1}],
        ),
        "KHR_draco_mesh_compression",
    ),
    "gltf_instances": (
        "a.glb",
        glb(simple(), nodes=[{"mesh": 0, "extensions": {"EXT_mesh_gpu_instancing": {}}}]),
        "EXT_mesh_gpu_instancing",
    ),
    "gltf_of_version_1": ("a.gltf", gltf(simple(), asset={"version": "1.0"}), "glTF 1.0"),
    "gltf_cut_off": ("a.glb", glb(simple())[:-40], "is cut off: "),
    "gltf_text_cut_off": ("a.gltf", gltf(simple())[:-40], DAMAGED),
    "gltf_buffer_too_short": (
        "a.glb",
        glb(simple(), buffers=[{"byteLength": 999}]),
        "is cut off: ",
    ),
    "gltf_negative_index": ("a.glb", glb(simple(), nodes=[{"mesh": -1}]), "-1 of 1 meshes"),
    "gltf_index_beyond_its_mesh": (
        "a.glb",
        glb([positions(A), indices(np.array([0, 1, 8]))]),
        "names vertex 8",
    ),
    "gltf_corners_left": ("a.glb", glb([positions(A), indices(np.arange(8))]), "8 corners"),
    "gltf_node_in_a_ring": (
        "a.glb",
        glb(simple(), nodes=[{"mesh": 0, "children": [0]}]),
        "from itself",
    ),
    "gltf_only_lines": ("a.glb", glb(simple(), [TRIANGLE_MODE | {"mode": 1}]), "points or lines"),
    "gltf_of_other_kinds": (
        "a.gltf",
        gltf(simple(), nodes={"mesh": 0}),
        DAMAGED,
    ),
    # 3MF
    "3mf_unknown_unit": ("a.3mf", mf(thing(1, xml(A)), item(1), "yard"), "yard"),
    "3mf_required_extension": (
        "a.3mf",
        mf(
            thing(1, xml(A)),
            item(1),
            more='xmlns:v="http://schemas.3mf.io/volumetric" requiredextensions="p v"',
        ),
        "v (http://schemas.3mf.io/volumetric)",
    ),
    "3mf_beams": (
        "a.3mf",
        mf(
            thing(1, xml(A).replace("</mesh>", '<b:beamlattice xmlns:b="urn:b"/></mesh>')),
            item(1),
        ),
        "`beamlattice`",
    ),
    "3mf_slices": (
        "a.3mf",
        mf(thing(1, xml(A), more='s:slicestackid="3" xmlns:s="urn:s"'), item(1)),
        "slices",
    ),
    "3mf_boolean": (
        "a.3mf",
        mf(thing(1, '<b:booleanshape xmlns:b="urn:b" objectid="2"/>'), item(1)),
        "`booleanshape`",
    ),
    "3mf_encrypted": (
        "a.3mf",
        mf(thing(1, xml(A)), item(1), parts={"Secure/keystore.xml": b"<keystore/>"}),
        "secure content",
    ),
    "3mf_negative_volume_of_prusa": ("a.3mf", prusa("NegativeVolume"), "negative"),
    "3mf_negative_part_of_bambu": ("a.3mf", bambu("negative_part"), "negative"),
    "3mf_index_beyond_its_mesh": (
        "a.3mf",
        mf(thing(1, xml((A[0], A[1] + 1))) + thing(2, xml(A)), item(1) + item(2)),
        "names vertex 8",
    ),
    "3mf_parts_of_bambu_of_one_number": ("a.3mf", bambu_parts(True), "of the same number"),
    "3mf_document_type": (
        "a.3mf",
        archive({"3D/3dmodel.model": b"<!DOCTYPE model>" + root(thing(1, xml(A)), item(1))}),
        "document type",
    ),
    "3mf_document_type_of_notes": (
        "a.3mf",
        mf(
            thing(1, xml(A)),
            item(1),
            parts={"Metadata/model_settings.config": b"<!DOCTYPE config><config/>"},
        ),
        "document type",
    ),
    "3mf_packed_otherwise": ("a.3mf", lzma(), "packed otherwise than by deflate"),
    "3mf_only_support": ("a.3mf", mf(thing(1, xml(A), "support"), item(1)), "support (1)"),
    "3mf_no_build": ("a.3mf", mf(thing(1, xml(A)), ""), "build is empty"),
    "3mf_missing_object": ("a.3mf", mf(thing(1, xml(A)), item(2)), "object 2"),
    "3mf_missing_part": (
        "a.3mf",
        mf(thing(1, xml(A)), item(1, 'p:path="/3D/b.model"')),
        "part 3d/b.model is missing",
    ),
    "3mf_two_units": (
        "a.3mf",
        mf(
            thing(1, xml(A)),
            item(1, 'p:path="/3D/b.model"'),
            parts={"3D/b.model": root(thing(1, xml(A)), "", "inch")},
        ),
        "different units",
    ),
    "3mf_short_transform": ("a.3mf", mf(thing(1, xml(A)), item(1, 'transform="1 0 0"')), "not 12"),
    "3mf_of_words": (
        "a.3mf",
        mf(thing(1, xml(A).replace('x="40"', 'x="forty"', 1)), item(1)),
        "forty in the vertices",
    ),
    "3mf_many_of_many": (
        "a.3mf",
        mf(
            thing(0, "<components/>")
            + "".join(
                thing(k + 1, components(f'objectid="{k}"', f'objectid="{k}"')) for k in range(30)
            ),
            item(30),
        ),
        "far too many",
    ),
    # Sizes
    "103_3mf_in_metres": ("a.3mf", mf(thing(1, xml(A)), item(1), "meter"), "as the file says"),
    "107_gltf_of_5_m": ("a.glb", glb(simple(moved(A, scale=125.0))), "as the file says"),
} | {
    f"F5_{kind}_{encoding}": (
        f"a.{kind}",
        content.decode().encode(encoding),
        f"is {encoding[:6].upper()} text; save it as UTF-8",
    )
    for kind, content in {
        "obj": OBJ_A,
        "stl": stl(A),
        "off": off(A),
        "ply": ply(A),
        "gltf": gltf(simple()),
    }.items()
    for encoding in ("utf-16", "utf-16-le", "utf-16-be", "utf-32")  # the first and last marked
}
"""File, content and words of the message."""


@pytest.mark.parametrize("kind", REFUSED)
def test_what_is_cut_off_or_not_understood_is_refused_by_its_name(
    kind: str, tmp_path: Path
) -> None:
    name, content, words = REFUSED[kind]
    with pytest.raises(ModelError) as caught:
        prepare(written(tmp_path, name, content), Options())
    text = str(caught.value)
    assert words in text
    assert ("cannot be read as" in text) == (words == DAMAGED)
    assert name in text
    assert "Error" not in text
    assert "; " in text  # and what to do


def test_a_missing_library_is_not_told_as_a_damaged_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The L of case 100 cannot be cut without manifold3d, in whatever format."""
    monkeypatch.setitem(sys.modules, "manifold3d", None)
    points = [(x, y, 0.0) for x, y in L]
    path = written(tmp_path, "a.obj", obj(points, np.zeros((0, 3), int)) + b"\nf 2 3 4 5 6 1")
    with pytest.raises(ImportError, match="manifold3d"):
        read(path)


def test_a_user_s_unit_holds_against_the_file_s(tmp_path: Path) -> None:
    content = mf(thing(1, xml(A)), item(1), "meter")
    found = prepare(written(tmp_path, "a.3mf", content), Options(unit="mm"))
    assert volume(found) == pytest.approx(24_000)


@pytest.mark.parametrize(("said", "mm"), [("# units: cm", 10.0), ("#Unit = inches", 25.4)])
def test_a_unit_in_a_comment_is_preferred_to_a_guess(said: str, mm: float, tmp_path: Path) -> None:
    """By its size alone the first would be taken for inches."""
    content = said.encode() + b"\n" + obj(*moved(A, scale=1 / mm))
    found = prepare(written(tmp_path, "a.obj", content), Options())
    assert volume(found) == pytest.approx(24_000, rel=1e-4)
    assert any("as its text says" in p.action for p in found.problems)


@pytest.mark.parametrize("comment", ["# units: inch", "# File units = millimeters", "g units mm"])
def test_a_unit_in_the_text_is_told_and_not_taken(comment: str, tmp_path: Path) -> None:
    found = prepare(written(tmp_path, "a.obj", comment.encode() + b"\n" + OBJ_A), Options())
    assert volume(found) == pytest.approx(24_000)
    assert any(
        "no standard" in p.action and p.where.endswith(", in its text") for p in found.problems
    )


GLTF_TOLD: dict[str, tuple[bytes, str]] = {
    "hidden": (
        glb(
            simple(),
            scenes=[{"nodes": [0, 1]}],
            nodes=[
                {"mesh": 0},
                {"mesh": 0, "extensions": {"KHR_node_visibility": {"visible": False}}},
            ],
        ),
        "hidden nodes",
    ),
    "morph": (
        glb(simple(), [TRIANGLE_MODE | {"targets": [{"POSITION": 0}]}]),
        "morph targets (1)",
    ),
    "morph_of_weight_0": (
        glb(
            simple(),
            [TRIANGLE_MODE | {"targets": [{"POSITION": 0}]}],
            nodes=[{"mesh": 0, "weights": [0.0]}],
        ),
        "morph targets (1)",
    ),
    "skin": (glb(simple(), nodes=[{"mesh": 0, "skin": 0}]), "skins"),
    "animation": (glb(simple(), animations=[{}]), "animations"),
    "lines": (glb(simple(), [TRIANGLE_MODE, TRIANGLE_MODE | {"mode": 3}]), "points or lines (1)"),
    "unused": (glb(simple(), meshes=[{"primitives": [TRIANGLE_MODE]}] * 3), "meshes (2)"),
}


@pytest.mark.parametrize("kind", GLTF_TOLD)
def test_what_is_left_out_of_a_scene_is_told(kind: str, tmp_path: Path) -> None:
    content, words = GLTF_TOLD[kind]
    found = read(written(tmp_path, "a.glb", content))
    assert 1e9 * volume(found) == pytest.approx(24_000)
    (note,) = found.notes
    assert (note.kind, words in note.where) == ("left out", True)


def test_a_skin_puts_its_mesh_where_its_joints_are(tmp_path: Path) -> None:
    """The place of the mesh's own node is of no account then, as the standard says."""
    found = read(written(tmp_path, "a.glb", skinned([0, 1, 0, 0])))
    assert 1e9 * volume(found) == pytest.approx(24_000, rel=1e-5)
    assert np.ptp(found.vertices, axis=0) == pytest.approx([0.04, 0.02, 0.03], rel=1e-5)
    assert found.vertices.min(axis=0) == pytest.approx([0, 0, 0], abs=1e-7)
    assert not found.notes


@pytest.mark.parametrize("of", ["node", "mesh"])
def test_morph_targets_count_by_their_weights(of: str, tmp_path: Path) -> None:
    weights = {"weights": [0.5]}
    primitive = TRIANGLE_MODE | {"targets": [{"POSITION": 0}]}
    meshes = [{"primitives": [primitive]} | (weights if of == "mesh" else {"weights": [7.0]})]
    nodes = [{"mesh": 0} | (weights if of == "node" else {})]
    found = read(written(tmp_path, "a.glb", glb(simple(), meshes=meshes, nodes=nodes)))
    assert 1e9 * volume(found) == pytest.approx(1.5**3 * 24_000)
    assert not found.notes


@pytest.mark.parametrize(
    ("uri", "name"),
    [
        ("my%20pig.bin", "my pig.bin"),
        ("schwein%C3%BC.bin", "schweinü.bin"),
        ("./pig.bin", "pig.bin"),
        ("buffers/pig.bin", "buffers/pig.bin"),
    ],
)
def test_a_buffer_beside_a_gltf_is_read_by_its_decoded_name(
    uri: str, name: str, tmp_path: Path
) -> None:
    """Case 110."""
    tree, buffer = tree_of(simple())
    tree["buffers"][0]["uri"] = uri
    (tmp_path / name).parent.mkdir(exist_ok=True)
    (tmp_path / name).write_bytes(buffer)
    found = prepare(written(tmp_path, "my pig.gltf", json.dumps(tree).encode()), Options())
    assert volume(found) == pytest.approx(24_000)


@pytest.mark.parametrize(
    "uri", ["..%2Fsecret.bin", "../secret.bin", "%2e%2e/secret.bin", "a/../../secret.bin", "link"]
)
def test_a_buffer_outside_of_the_folder_is_not_read(uri: str, tmp_path: Path) -> None:
    tree, buffer = tree_of(simple())
    tree["buffers"][0]["uri"] = uri
    (tmp_path / "secret.bin").write_bytes(buffer)
    folder = tmp_path / "in"
    folder.mkdir()
    (folder / "link").symlink_to(tmp_path / "secret.bin")
    with pytest.raises(ModelError, match="not in its folder"):
        read(written(folder, "a.gltf", json.dumps(tree).encode()))


@pytest.mark.parametrize("suffix", WRITTEN)
def test_what_is_written_is_read_back(suffix: str, tmp_path: Path) -> None:
    """Also without the libraries that trimesh would need for a 3MF."""
    path = tmp_path / f"a{suffix}"
    path.write_bytes(content_of(*BOTH, path))
    found = read(path)
    assert found.unit == {".glb": "m", ".3mf": "mm"}.get(suffix, "")
    points = found.vertices[:, [2, 0, 1]] * 1000 if suffix == ".glb" else found.vertices
    np.testing.assert_allclose(points[found.faces], BOTH[0][BOTH[1]], atol=1e-4)
    assert not found.notes
