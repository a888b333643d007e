"""Files that are broken, misleading or meant to do harm, made anew for every test."""

from __future__ import annotations

import base64
import io
import json
import struct
import zipfile
from collections.abc import Callable

import manifold3d as m3
import numpy as np
import trimesh

from tests.importer.made import Mesh, mesh_of

Maker = Callable[[], bytes]
BOX = mesh_of(m3.Manifold.cube((40.0, 20.0, 30.0)))
BALL = mesh_of(m3.Manifold.sphere(20.0, 48))


def export(mesh: Mesh, kind: str) -> bytes:
    out = trimesh.Trimesh(*mesh, process=False).export(file_type=kind)
    return out.encode() if isinstance(out, str) else bytes(out)


def obj(vertices: object, faces: object) -> bytes:
    lines = [f"v {x} {y} {z}" for x, y, z in np.asarray(vertices).tolist()]
    lines += [f"f {a + 1} {b + 1} {c + 1}" for a, b, c in np.asarray(faces).tolist()]
    return "\n".join(lines).encode()


def moved(mesh: Mesh, *shift: float, scale: float = 1.0) -> Mesh:
    return mesh[0] * scale + np.array(shift or (0.0, 0.0, 0.0)), mesh[1]


def together(*meshes: Mesh) -> Mesh:
    starts = np.cumsum([0, *(len(v) for v, _ in meshes)])
    return (
        np.concatenate([v for v, _ in meshes]),
        np.concatenate([f + s for (_, f), s in zip(meshes, starts, strict=False)]),
    )


def archive(entries: dict[str, bytes]) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as file:
        for name, content in entries.items():
            file.writestr(name, content)
    return out.getvalue()


def gltf(uri: str, accessor: int = 3) -> bytes:
    tree = {
        "asset": {"version": "2.0"},
        "scenes": [{"nodes": [0]}],
        "nodes": [{"mesh": 0}],
        "meshes": [{"primitives": [{"attributes": {"POSITION": 0}}]}],
        "accessors": [{"bufferView": 0, "componentType": 5126, "count": accessor, "type": "VEC3"}],
        "bufferViews": [{"buffer": 0, "byteLength": 36}],
        "buffers": [{"uri": uri, "byteLength": 36}],
    }
    return json.dumps(tree).encode()


def model(body: str, head: str = "") -> bytes:
    text = f'<?xml version="1.0"?>{head}<model unit="millimeter">{body}</model>'
    return archive({"3D/3dmodel.model": text.encode()})


def laughs() -> bytes:
    entities = '<!ENTITY a "lol">' + "".join(
        f'<!ENTITY {b} "{f"&{a};" * 10}">' for a, b in zip("abcdefghi", "bcdefghij", strict=True)
    )
    return model("<resources>&j;</resources>", f"<!DOCTYPE model [{entities}]>")


def mobius() -> Mesh:
    t = np.linspace(0, 2 * np.pi, 40, endpoint=False)
    rims = [
        np.stack(
            [(20 + w * np.cos(t / 2)) * np.cos(t), (20 + w * np.cos(t / 2)) * np.sin(t)], axis=1
        )
        for w in (-5, 5)
    ]
    heights = [w * np.sin(t / 2) for w in (-5, 5)]
    vertices = np.concatenate([np.column_stack([r, h]) for r, h in zip(rims, heights, strict=True)])
    faces = []
    for i in range(40):
        j = (i + 1) % 40
        a, b = i, i + 40
        c, d = (j, j + 40) if j else (j + 40, j)
        faces += [(a, c, b), (b, c, d)]
    return vertices, np.array(faces)


def without(mesh: Mesh, faces: int) -> Mesh:
    return mesh[0], mesh[1][faces:]


def mixed_up(mesh: Mesh) -> Mesh:
    faces = mesh[1].copy()
    faces[::3] = faces[::3][:, ::-1]
    return mesh[0], faces


def twisted() -> Mesh:
    """A dumbbell, one of whose balls was pushed into the other."""
    balls = [m3.Manifold.sphere(12.0, 24).translate((x, 0.0, 0.0)) for x in (0.0, 40.0)]
    bar = m3.Manifold.cylinder(40.0, 2.0, 2.0, 12).rotate((0.0, 90.0, 0.0))
    vertices, faces = mesh_of(m3.Manifold.batch_boolean([*balls, bar], m3.OpType.Add))
    return np.where(vertices[:, :1] > 20.0, vertices - [33.0, 0.0, 0.0], vertices), faces


STL, TEXT = export(BOX, "stl"), export(BOX, "stl_ascii")
NAN = BOX[0].copy()
NAN[0, 0] = np.nan
INF = BOX[0].copy()
INF[0, 0] = np.inf

REFUSED: dict[str, tuple[str, Maker]] = {
    "empty": ("a.stl", lambda: b""),
    "zeros": ("a.stl", lambda: bytes(500)),
    "blank": ("a.obj", lambda: b"\n \n\n"),
    "truncated_stl": ("a.stl", lambda: STL[:-70]),
    "truncated_glb": ("a.glb", lambda: export(BOX, "glb")[:300]),
    "truncated_ply": ("a.ply", lambda: export(BOX, "ply")[:-80]),
    "truncated_3mf": ("a.3mf", lambda: export(BOX, "3mf")[:400]),
    "truncated_off": ("a.off", lambda: export(BOX, "off")[:60]),
    "text_as_stl": ("a.stl", lambda: b"Dear maker, this is a letter and no mesh.\n" * 9),
    "stl_with_a_great_count": ("a.stl", lambda: STL[:80] + struct.pack("<I", 2**32 - 1) + STL[84:]),
    "random_stl": ("a.stl", lambda: np.random.default_rng(1).bytes(3000)),
    "random_glb": ("a.glb", lambda: np.random.default_rng(2).bytes(3000)),
    "random_3mf": ("a.3mf", lambda: np.random.default_rng(3).bytes(3000)),
    "random_ply": ("a.ply", lambda: np.random.default_rng(4).bytes(3000)),
    "picture_as_obj": ("a.obj", lambda: b"\x89PNG\r\n\x1a\n" + bytes(range(256))),
    "other_suffix": ("a.blend", lambda: STL),
    "no_suffix": ("mesh", lambda: STL),
    "nan": ("a.obj", lambda: obj(NAN, BOX[1])),
    "infinite": ("a.obj", lambda: obj(INF, BOX[1])),
    "nan_stl": ("a.stl", lambda: export((NAN, BOX[1]), "stl")),
    "far_coordinates": ("a.obj", lambda: obj(BOX[0] + 1e12, BOX[1])),
    "flat": ("a.obj", lambda: obj(BOX[0] * [1, 1, 0], BOX[1])),
    "a_line": ("a.obj", lambda: obj(BOX[0] * [1, 0, 0], BOX[1])),
    "a_point": ("a.obj", lambda: obj(BOX[0] * 0, BOX[1])),
    "zero_area": ("a.obj", lambda: obj(BOX[0], np.zeros((9, 3), int))),
    "no_faces": ("a.obj", lambda: obj(BOX[0], np.zeros((0, 3), int))),
    "one_triangle": ("a.obj", lambda: obj(BOX[0], BOX[1][:1])),
    "index_out_of_range": ("a.obj", lambda: obj(BOX[0], BOX[1] + 5)),
    "wide_hole": ("a.stl", lambda: export(without(BOX, 2), "stl")),
    "open_sheet": ("a.stl", lambda: export((BALL[0], BALL[1][::2]), "stl")),
    "moebius": ("a.obj", lambda: obj(*mobius())),
    "through_itself": ("a.obj", lambda: obj(*twisted())),
    "20_m_long": ("a.stl", lambda: export(moved(BOX, scale=500.0), "stl")),
    "20_um_long": ("a.obj", lambda: obj(*moved(BOX, scale=5e-7))),
    "one_body_far_away": ("a.stl", lambda: export(together(BOX, moved(BOX, 90, 0, 0)), "stl")),
    "three_loose_balls": (
        "a.stl",
        lambda: export(together(*(moved(BALL, 45.0 * k, 0, 0) for k in range(3))), "stl"),
    ),
    "1000_loose_bodies": (
        "a.stl",
        lambda: export(
            together(
                *(moved(BOX, k % 10, k // 10 % 10, k // 100, scale=0.02) for k in range(1000))
            ),
            "stl",
        ),
    ),
    "2_million_faces": (
        "a.stl",
        lambda: bytes(80) + struct.pack("<I", 2_000_000) + bytes(100_000_000),
    ),
    "bomb_in_3mf": ("a.3mf", lambda: archive({"3D/3dmodel.model": bytes(210_000_000)})),
    "billion_laughs": ("a.3mf", laughs),
    "3mf_climbs_out": ("a.3mf", lambda: archive({"../../3D/3dmodel.model": b"<model/>"})),
    "3mf_without_model": ("a.3mf", lambda: archive({"readme.txt": b"hello"})),
    "3mf_empty_model": ("a.3mf", lambda: model("<resources/><build/>")),
    "3mf_refers_to_itself": (
        "a.3mf",
        lambda: model(
            '<resources><object id="1"><components><component objectid="1"/></components>'
            '</object></resources><build><item objectid="1"/></build>'
        ),
    ),
    "gltf_climbs_out": ("a.gltf", lambda: gltf("../../../etc/passwd")),
    "gltf_from_the_net": ("a.gltf", lambda: gltf("http://localhost:9/mesh.bin")),
    "gltf_missing_buffer": ("a.gltf", lambda: gltf("mesh.bin")),
    "gltf_short_buffer": (
        "a.gltf",
        lambda: gltf("data:;base64," + base64.b64encode(bytes(36)).decode(), 10**9),
    ),
    "gltf_no_json": ("a.gltf", lambda: b"{" * 2000),
    "gltf_list": ("a.gltf", lambda: b"[1, 2]"),
    "ply_great_count": (
        "a.ply",
        lambda: (
            b"ply\nformat ascii 1.0\nelement vertex 99999999999\nproperty float x\n"
            b"property float y\nproperty float z\nelement face 1\n"
            b"property list uchar int vertex_indices\nend_header\n0 0 0\n3 0 1 2\n"
        ),
    ),
    "off_great_count": ("a.off", lambda: b"OFF\n99999999999 9 0\n0 0 0\n"),
}
"""A clear message and no result."""

FINE: dict[str, tuple[str, Maker]] = {
    "unicode_and_spaces": ("Schweinchen größer 猪 .stl", lambda: STL),
    "capital_suffix": ("A.STL", lambda: STL),
    "text_stl": ("a.stl", lambda: TEXT),
    "obj_without_its_mtl": ("a.obj", lambda: b"mtllib ../x.mtl\nusemtl y\n" + obj(*BOX)),
    "obj_quads": (
        "a.obj",
        lambda: (
            obj(BOX[0], np.zeros((0, 3), int))
            + b"\nf 1 2 4 3\nf 5 7 8 6\nf 1 5 6 2\nf 3 4 8 7\nf 1 3 7 5\nf 2 6 8 4\n"
        ),
    ),
    "inside_out": ("a.stl", lambda: export((BOX[0], BOX[1][:, ::-1]), "stl")),
    "mixed_winding": ("a.stl", lambda: export(mixed_up(BALL), "stl")),
    "small_hole": ("a.stl", lambda: export(without(BALL, 1), "stl")),
    "doubled_faces": ("a.obj", lambda: obj(BOX[0], np.concatenate([BOX[1], BOX[1]]))),
    "seams_off_by_rounding": (
        "a.stl",
        lambda: export(
            (
                BOX[0][BOX[1]].reshape(-1, 3) + 1e-5 * np.random.default_rng(5).random((36, 3)),
                np.arange(36).reshape(-1, 3),
            ),
            "stl",
        ),
    ),
    "30_overlapping_bodies": (
        "a.stl",
        lambda: export(together(*(moved(BOX, 1.7 * k, 0, 0) for k in range(30))), "stl"),
    ),
    "a_cavity": (
        "a.stl",
        lambda: export(
            together(BOX, (moved(BOX, 10, 5, 7.5, scale=0.5)[0], BOX[1][:, ::-1])), "stl"
        ),
    ),
    "a_crumb": ("a.stl", lambda: export(together(BOX, moved(BOX, 60, 0, 0, scale=0.02)), "stl")),
    "far_from_its_origin": ("a.obj", lambda: obj(BOX[0] + 5e4, BOX[1])),
    "100000_faces": (
        "a.stl",
        lambda: export(mesh_of(m3.Manifold.sphere(20.0, 128)), "stl"),
    ),
}
"""A right result."""
