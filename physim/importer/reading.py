"""A mesh file while it is read: its triangles, and what is to be told of it, are gathered here."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path

import numpy as np

from physim.errors import ModelError, shown_name
from physim.files import read_plain
from physim.importer.solids import IntArray, Problem, triangulated
from physim.types import FloatArray

MAX_BYTES = 200_000_000  # of a file, unpacked
MAX_FACES = 1_000_000
MAX_COORDINATE = 1e9  # of any unit
EXPORT = "export it again from the 3D program"
_FLAT = 1e-9  # of a polygon's area: a triangle that is less negative is a straight line


class RawMesh:
    """A file's triangles; readers add the pieces, `finish` joins and checks them.

    Attributes:
        path: of the file.
        vertices: (n, 3) in the file's unit and axes.
        faces: (m, 3) vertex indices.
        unit: a key of `build.UNITS_MM` where the file says it, else "".
        unit_remark: the one that its text names, of a format without units; else "".
        y_up: whether the format has y upwards and z forward (glTF).
        notes: what was left out, or is odd.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.vertices: FloatArray = np.zeros((0, 3))
        self.faces: IntArray = np.zeros((0, 3), dtype=np.int64)
        self.unit = self.unit_remark = ""
        self.y_up = False
        self.notes: list[Problem] = []
        self._left_out: Counter[tuple[str, str]] = Counter()
        self._pieces: list[tuple[FloatArray, IntArray]] = []
        self._count = 0  # of faces

    def refused(self, what: str, remedy: str = EXPORT) -> ModelError:
        """The error to raise; it begins with the file's name."""
        return ModelError(f"{shown_name(self.path.name)}: {what}; {remedy}")

    def cut_off(self, what: str) -> ModelError:
        """The error of a file that ends too early."""
        return self.refused(f"is cut off: {what}", f"{EXPORT}, or copy it again")

    def note(self, kind: str, where: str, action: str) -> None:
        """Something that the user should know."""
        self.notes.append(Problem(kind, where, action))

    def leave_out(self, what: str, why: str, count: int = 1) -> None:
        """Something in the file that is no part of the mesh; told once, with its number."""
        self._left_out[what, why] += count

    def add(self, vertices: FloatArray, faces: IntArray, matrix: FloatArray | None = None) -> None:
        """A piece of the mesh.

        Args:
            vertices: (n, 3).
            faces: (m, 3) indices of these vertices.
            matrix: (4, 4) that moves them to their place, for columns (x, y, z, 1). One that
                mirrors turns the faces round, so that they still look outwards.
        """
        if not len(faces):
            return
        self.refuse_numbers(faces, len(vertices))
        if matrix is not None:
            with np.errstate(all="ignore"):  # what comes of it is checked at the end
                vertices = vertices @ matrix[:3, :3].T + matrix[:3, 3]
                if np.linalg.det(matrix[:3, :3]) < 0:
                    faces = faces[:, ::-1]
        self._pieces.append((vertices, faces))
        self._count += len(faces)
        self.refuse_many(self._count)

    def add_polygons(self, vertices: FloatArray, corners: IntArray, sizes: IntArray) -> None:
        """A piece of polygons, which need not be convex.

        Args:
            vertices: (n, 3).
            corners: vertex indices of all polygons, one after the other.
            sizes: (m,) how many corners each has.
        """
        self.refuse_numbers(corners, len(vertices))
        starts = np.cumsum(sizes) - sizes
        triangles = [np.zeros((0, 3), dtype=np.int64)]
        for size in np.unique(sizes).tolist():
            of_size = starts[sizes == size]
            if size < 3:
                self.leave_out("faces with fewer than 3 corners", "they have no area", len(of_size))
                continue
            self.refuse_many(len(of_size) * (size - 2))
            polygons = corners[of_size[:, None] + np.arange(size)]
            triangles.append(self._triangles(vertices, polygons))
        self.add(vertices, np.concatenate(triangles))

    def _triangles(self, vertices: FloatArray, polygons: IntArray) -> IntArray:
        """Triangles of polygons (m, k): fans where that is right, else cut one by one."""
        size = polygons.shape[1]
        if size == 3:
            return polygons
        first = np.repeat(polygons[:, :1], size - 2, axis=1)
        fans = np.stack([first, polygons[:, 1:-1], polygons[:, 2:]], axis=2)
        with np.errstate(all="ignore"):
            a, b, c = np.moveaxis(vertices[fans], 2, 0)
            normals = np.cross(b - a, c - a)
            whole = normals.sum(axis=1)
            area = np.linalg.norm(whole, axis=1)
            absolute = np.linalg.norm(normals, axis=2).sum(axis=1)
            along = np.einsum("mkj,mj->mk", normals, whole).min(axis=1)
            turned = (along < -_FLAT * area * absolute) | (area < _FLAT * absolute)
        pieces = [fans[~turned].reshape(-1, 3)]
        for polygon in polygons[turned]:
            cut = triangulated(vertices[polygon])
            if cut is None:
                remedy = "triangulate the mesh in the 3D program and export it again"
                raise self.refused(f"a face of {size} corners runs through itself", remedy)
            pieces.append(polygon[cut])
        return np.concatenate(pieces)

    def refuse_many(self, faces: int) -> None:
        """A mesh of more faces than are read."""
        if faces > MAX_FACES:
            remedy = "simplify the mesh, 100,000 are plenty"
            raise self.refused(f"more than {MAX_FACES:,} faces", remedy)

    def refuse_numbers(self, faces: IntArray, count: int) -> None:
        """Faces whose vertices do not exist."""
        wrong = faces[(faces < 0) | (faces >= count)]
        if len(wrong):
            raise self.refused(
                f"a face names vertex {wrong.max()} (from 0) of {count}, which is missing"
            )

    def numbers(
        self, texts: Iterator[bytes], count: int, what: str, kind: Callable[[bytes], float] = float
    ) -> list[float]:
        """The next numbers of a text.

        Args:
            texts: fields of the text.
            count: how many are taken.
            what: they belong to, for messages.
            kind: `int` for whole numbers.
        """
        taken = list(islice(texts, count))
        if len(taken) < count:
            raise self.cut_off(f"its last {what} are missing")
        try:
            if b"_" in b"".join(taken):  # which `float` reads over
                raise ValueError
            return list(map(kind, taken))
        except ValueError:
            text = next(text for text in taken if not _reads_as(kind, text))
        shown = shown_name(text.decode("utf-8", errors="replace")[:30]) or "an empty field"
        decimal = re.fullmatch(rb"[-+]?\d*,\d+(e[-+]?\d+)?", text, re.I)
        remedy = "export it with decimal points, not commas" if decimal else EXPORT
        raise self.refused(f"{shown} in the {what} is no {'whole ' * (kind is int)}number", remedy)

    def finish(self) -> RawMesh:
        """Joins all that was read.

        Raises:
            ModelError: nothing, or coordinates that are none.
        """
        for (what, why), count in self._left_out.items():
            self.note("left out", f"{what} ({count})", why)
        if not self._pieces:
            left = ", ".join(f"{what} ({count})" for (what, _), count in self._left_out.items())
            only = f" but what is left out: {left}" if left else ""
            raise self.refused(f"holds no faces{only}", f"{EXPORT}, as triangles")
        starts = np.cumsum([0, *(len(vertices) for vertices, _ in self._pieces)])
        self.vertices = np.concatenate([vertices for vertices, _ in self._pieces])
        self.faces = np.concatenate(
            [faces + start for (_, faces), start in zip(self._pieces, starts, strict=False)]
        )
        used = self.vertices[np.unique(self.faces)]
        if not np.isfinite(used).all():
            raise self.refused("holds coordinates that are not numbers")
        if np.abs(used).max() > MAX_COORDINATE:
            remedy = f"move the mesh to its origin and {EXPORT}"
            raise self.refused(f"holds coordinates beyond {MAX_COORDINATE:g}", remedy)
        return self


def _reads_as(kind: Callable[[bytes], float], text: bytes) -> bool:
    try:
        kind(text)
    except ValueError:
        return False
    return b"_" not in text


def plain_content(path: Path) -> bytes:
    """All of a file, which must be plain and of no great size."""
    remedy = "name a mesh file that may be read, with 100,000 faces at most, which are plenty"
    content = read_plain(path, ModelError, remedy, MAX_BYTES)
    if not content.strip(b"\0 \r\n\t"):
        raise ModelError(f"{shown_name(path.name)}: the file is empty; {EXPORT}")
    return content
