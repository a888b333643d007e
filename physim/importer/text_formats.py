"""STL, OBJ, OFF and PLY: lists of vertices and of polygons.

Each reader adds what a file's content holds to a `RawMesh`. Text is read as bytes: names and
comments may be in any encoding. White space and line ends are of any kind.
"""

from __future__ import annotations

import io
import re
import struct
from array import array
from collections.abc import Iterator
from contextlib import suppress
from itertools import chain

import numpy as np

from physim.errors import ModelError, shown_name
from physim.importer.reading import EXPORT, RawMesh
from physim.types import FloatArray

_BLANK = b"\0 \t\r\n\x1a"

# --- STL -------------------------------------------------------------------------------------

_TRIANGLE = np.dtype([("normal", "<f4", 3), ("corners", "<f4", (3, 3)), ("attribute", "<u2")])
_HEAD = 84  # bytes: a text of 80, and the number of triangles
_FACET_START = rb"facet\s+normal\s+\S+\s+\S+\s+\S+\s+outer\s+loop\b"
_SOLID = re.compile(rb"\s*solid\b(?:(?!\s" + _FACET_START + rb")[^\r\n])*", re.I)
_FACET = re.compile(
    rb"\s*"
    + _FACET_START
    + 3 * rb"\s+vertex\s+(\S+)\s+(\S+)\s+(\S+)"
    + rb"\s+end\s?loop\s+end\s?facet(?!\S)",
    re.I,
)
_END_SOLID = re.compile(rb"\s*end\s?solid\b[^\r\n]*", re.I)


def is_binary_stl(content: bytes) -> bool:
    """Whether an STL file is just as long as its binary head says."""
    return len(content) >= _HEAD and len(content) == _announced_bytes(content)


def _announced_bytes(content: bytes) -> int:
    return _HEAD + _TRIANGLE.itemsize * int(struct.unpack_from("<I", content, 80)[0])


def read_stl(raw: RawMesh, content: bytes) -> None:
    """Binary or text; a text may hold several solids."""
    text = re.match(rb"\s*solid\b", content, re.I) and b"\0" not in content.rstrip(_BLANK)[:_HEAD]
    if text and not is_binary_stl(content):
        _read_stl_text(raw, content)
        return
    if len(content) < _HEAD:
        raise raw.refused("is no STL: neither a text nor long enough to be binary")
    end = _announced_bytes(content)
    if end > len(content):
        raise raw.refused(
            f"no STL, or cut off: it has {len(content)} bytes where its head promises {end}",
            f"{EXPORT} or copy it again",
        )
    count, rest = (end - _HEAD) // _TRIANGLE.itemsize, content[end:]
    raw.refuse_many(count)
    if rest.strip(_BLANK) and (len(rest) % _TRIANGLE.itemsize == 0 or is_binary_stl(rest)):
        raise raw.refused(
            f"its head announces {count:,} faces, but more data of faces follow ({len(rest)} bytes)"
        )
    if rest:
        raw.note("spare bytes", f"{len(rest)} behind the last face", "left out")
    corners = np.frombuffer(content, _TRIANGLE, count, _HEAD)["corners"].reshape(-1, 3)
    raw.add(corners.astype(np.float64), np.arange(3 * count).reshape(-1, 3))


def _read_stl_text(raw: RawMesh, content: bytes) -> None:
    coordinates = array("d")
    at = solids = 0
    while begin := _SOLID.match(content, at):
        solids += 1
        at = begin.end()
        while facet := _FACET.match(content, at):
            coordinates.extend(raw.numbers(iter(facet.groups()), 9, "vertices"))
            at = facet.end()
        end = _END_SOLID.match(content, at)
        if end is None:
            line = 1 + len(re.findall(rb"\r\n|\n|\r", content[:at]))
            rest = content[at:].strip()
            if len(rest) < 400 and not re.search(rb"end\s?solid", rest, re.I):
                raise raw.cut_off(f"solid number {solids} has no `endsolid`")
            raise raw.refused(
                f"after line {line} comes neither a facet of three vertices nor `endsolid`"
            )
        at = end.end()
    rest = content[at:].strip(_BLANK)
    if b"facet" in rest.lower() or b"solid".startswith(rest[:5].lower() or b"?"):
        raise raw.cut_off("more follows the last `endsolid`, and is no whole solid")
    if rest:
        raw.note("spare bytes", f"{len(rest)} behind the last `endsolid`", "left out")
    corners = np.array(coordinates).reshape(-1, 3)
    raw.add(corners, np.arange(len(corners)).reshape(-1, 3))


# --- OBJ -------------------------------------------------------------------------------------

_NO_SHAPE = frozenset(
    b"vt vn vp g o s mg usemtl mtllib usemap maplib bevel c_interp d_interp lod shadow_obj "
    b"trace_obj".split()
)
_NAMES = frozenset(b"g o usemtl mtllib usemap maplib".split())  # may end with a backslash
_CURVED = frozenset(
    b"cstype deg bmat step curv curv2 surf parm trim hole scrv sp end con ctech stech bsp bzp cdc "
    b"cdp res".split()
)


def read_obj(raw: RawMesh, content: bytes) -> None:
    """Polygons; materials are of no use here."""
    coordinates, corners, sizes = array("d"), array("q"), array("q")
    for number, fields in _statements(content):
        word, count = fields[0].lower(), len(fields) - 1
        if word == b"v":
            if count not in (3, 4, 6, 7):  # with a weight, a colour, or both
                raise raw.refused(f"line {number}: a vertex of {count} numbers")
            if count in (4, 7) and raw.numbers(iter(fields[4:]), 1, "weights") != [1.0]:
                what = "a vertex with a weight, as of free-form surfaces"
                raise raw.refused(f"line {number}: {what}", "export it as polygons")
            coordinates.extend(raw.numbers(iter(fields[1:]), 3, "vertices"))
        elif word in (b"f", b"fo"):
            names = (field.partition(b"/")[0] for field in fields[1:])
            so_far = len(coordinates) // 3
            for index in raw.numbers(names, count, f"face of line {number}", int):
                corner = int(index) - 1 if index > 0 else so_far + int(index)  # or back from there
                if index == 0 or corner < 0:
                    raise raw.refused(
                        f"line {number}: a face names vertex {index}, which is missing; the first "
                        "is 1"
                    )
                corners.append(corner)
            sizes.append(count)
        elif word in (b"l", b"p"):
            raw.leave_out("lines" if word == b"l" else "points", "they are no faces")
        elif word in _CURVED:
            what = f"`{word.decode()}`, a free-form curve or surface"
            raise raw.refused(f"line {number}: {what}", "export it as polygons")
        elif word not in _NO_SHAPE:
            shown = shown_name(word.decode("utf-8", errors="replace")[:30])
            raise raw.refused(f"line {number}: {shown} is no statement of an OBJ file")
    vertices = np.array(coordinates).reshape(-1, 3)
    raw.add_polygons(vertices, np.array(corners, np.int64), np.array(sizes, np.int64))


def _statements(content: bytes) -> Iterator[tuple[int, list[bytes]]]:
    """Numbers and fields of lines; a backslash at its end joins a line to the next."""
    before: list[bytes] = []
    for number, line in enumerate(_lines_of(content), 1):
        text = line.partition(b"#")[0]
        fields = before + text.split()
        before = []
        if b"\\" in text and text.rstrip().endswith(b"\\") and fields[0].lower() not in _NAMES:
            fields[-1] = fields[-1][:-1]
            before = [field for field in fields if field]
        elif fields:
            yield number, fields
    if before:
        yield number, before


def _lines_of(content: bytes) -> Iterator[bytes]:
    """The lines of a text, whatever they end with."""
    return io.BytesIO(content.replace(b"\r\n", b"\n").replace(b"\r", b"\n"))


# --- Elements of named properties: PLY, and OFF as one of its kind ----------------------------

_TYPES = {
    name: code
    for names, code in {
        "char int8": "b",
        "uchar uint8": "B",
        "short int16": "h",
        "ushort uint16": "H",
        "int int32": "i",
        "uint uint32": "I",
        "float float32": "f",
        "double float64": "d",
    }.items()
    for name in names.split()
}
_ORDERS = {"ascii": "", "binary_little_endian": "<", "binary_big_endian": ">"}
_INDICES = ("vertex_indices", "vertex_index")
Property = tuple[str, str, str]  # name, code of its type, code of its list's length or ""
_POLYGON: list[Property] = [("vertex_indices", "i", "B")]


class _TextData:
    """The numbers of a text, after its head."""

    def __init__(self, raw: RawMesh, announced: str, fields: Iterator[bytes]) -> None:
        self.raw, self.announced, self._fields = raw, announced, fields

    def take(self, code: str, count: int, what: str) -> list[float]:
        """The next numbers of one type."""
        kind = float if code in "fd" else int
        return self.raw.numbers(self._fields, count, f"{what} ({self.announced})", kind)

    def table(self, count: int, properties: list[Property], what: str) -> FloatArray:
        """(count, k) the next rows of an element without lists."""
        numbers = self.take("f", count * len(properties), what)
        return np.array(numbers).reshape(count, -1)

    def tell_rest(self, _: list[Property]) -> None:
        """Leaves out what follows, unless it looks as if there were more faces."""
        rest = [field for field in self._fields if field.strip(b"\0\x1a")]
        if rest and all(re.fullmatch(rb"[-+.\deE]+", field) for field in rest[:4]):
            raise self.raw.refused(f"{self.announced}, but more numbers follow")
        if rest and re.fullmatch(rb"(?:ST)?C?N?OFF|ply", rest[0], re.I):
            raise self.raw.refused("another mesh follows its end", "save each in an own file")
        if rest:
            self.raw.note("spare text", f"{len(rest)} words behind the last face", "left out")


class _BinaryData:
    """The numbers of a binary PLY, after its head."""

    def __init__(self, raw: RawMesh, announced: str, content: bytes, order: str) -> None:
        self.raw, self.announced = raw, announced
        self._content, self._order, self._at = content, order, 0

    def take(self, code: str, count: int, _: str) -> tuple[float, ...]:
        """The next numbers of one type."""
        numbers = f"{self._order}{count}{code}"
        start, self._at = self._at, self._at + struct.calcsize(numbers)
        if self._at > len(self._content):
            raise self.raw.cut_off(f"{self.announced}, and has {len(self._content):,} bytes")
        return struct.unpack_from(numbers, self._content, start)

    def table(self, count: int, properties: list[Property], what: str) -> FloatArray:
        """(count, k) the next rows of an element without lists."""
        row = np.dtype([(str(k), self._order + p[1]) for k, p in enumerate(properties)])
        start = self._at
        self.take("s", count * row.itemsize, what)
        rows = np.frombuffer(self._content, row, count, start)
        return np.column_stack([rows[name].astype(np.float64) for name in row.names or ()])

    def tell_rest(self, properties: list[Property]) -> None:
        """Leaves out what follows, unless it is whole rows of the last element."""
        start, end = self._at, len(self._content.rstrip(_BLANK))
        with suppress(ModelError):
            while properties and self._at < end:
                _row(self, properties, "")
        if start < self._at <= len(self._content):
            raise self.raw.refused(f"{self.announced}, but more follow")
        if rest := len(self._content) - start:
            self.raw.note("spare bytes", f"{rest} behind the last element", "left out")


_Data = _TextData | _BinaryData


def _row(data: _Data, properties: list[Property], name: str) -> list[list[float]]:
    """The numbers of each property of the next row."""
    row = []
    for _, code, length in properties:
        count = int(data.take(length, 1, name)[0]) if length else 1
        if count < 0:
            raise data.raw.refused(f"a list of {count} numbers in the {name}")
        row.append(list(data.take(code, count, name)))
    return row


def _add_polygons(
    data: _Data, points: FloatArray, count: int, properties: list[Property], wanted: int
) -> None:
    """Adds the next rows, faces whose vertices are named by the wanted property."""
    data.raw.refuse_many(count)
    corners, sizes = array("q"), array("q")
    for _ in range(count):
        found = _row(data, properties, "faces")[wanted]
        corners.extend(map(int, found))
        sizes.append(len(found))
    data.raw.add_polygons(points, np.array(corners, np.int64), np.array(sizes, np.int64))


_OFF = re.compile(rb"((?:ST)?C?N?)(4?n?)OFF|[Cc]?[Oo]ff")


def read_off(raw: RawMesh, content: bytes) -> None:
    """Text of GeomView's kind, with or without colours and normals."""
    rows = [row for row in (line.partition(b"#")[0].split() for line in _lines_of(content)) if row]
    head = _OFF.fullmatch(rows[0][0])
    if head is not None:
        rows[0] = rows[0][1:]
        if head[2] or b"BINARY" in (row[0].upper() for row in rows[:2] if row):
            what = "has points of other than three dimensions" if head[2] else "is a binary OFF"
            raise raw.refused(what, "export it as OFF text, or as STL")
        rows = rows if rows[0] else rows[1:]
    if not rows or not all(text.isdigit() for text in rows[0][:2]) or len(rows[0]) < 2:
        raise raw.refused("no OFF: it does not begin with its numbers of vertices and faces")
    vertices, faces = int(rows[0][0]), int(rows[0][1])
    rest = [rows[0][3:], *rows[1:]] if rows[0][3:] else rows[1:]
    announced = f"it announces {vertices:,} vertices and {faces:,} faces"
    in_lines = len(rest) >= vertices + faces and all(len(row) >= 3 for row in rest[:vertices])
    if in_lines:  # without colours and normals
        behind = vertices + faces
        rest = [
            *(row[:3] for row in rest[:vertices]),
            *(row[: int(row[0]) + 1] if row[0].isdigit() else row for row in rest[vertices:behind]),
            *rest[behind:],
        ]
    elif head is not None and head[1]:
        raise raw.cut_off(f"{announced}, and has {len(rest):,} lines")
    data = _TextData(raw, announced, chain.from_iterable(rest))
    points = np.array(data.take("f", 3 * vertices, "vertices"), np.float64).reshape(-1, 3)
    _add_polygons(data, points, faces, _POLYGON, 0)
    data.tell_rest([])


def read_ply(raw: RawMesh, content: bytes) -> None:
    """Text or binary, of either order of bytes."""
    first = re.match(rb"ply[ \t]*(\r\n|\n|\r)", content, re.I)
    if first is None:
        raise raw.refused("no PLY: it does not begin with `ply`")
    # A head of which each line ends with CR may be followed by a number whose byte is an LF.
    end = rb"\r|\n" if first[1] == b"\r" else rb"\r\n|\r|\n"
    last = re.search(rb"[\r\n][ \t]*end_header[ \t]*(" + end + rb"|$)", content, re.I)
    if last is None:
        raise raw.cut_off("its head has no end")
    order, elements = _ply_head(raw, content[first.end() : last.start()])
    counts = ((name, count) for name, (count, _) in elements.items())
    announced = "it announces " + ", ".join(f"{count:,} of {name}" for name, count in counts)
    body = content[last.end() :]
    data: _Data = _BinaryData(raw, announced, body, order)
    if not order:
        data = _TextData(raw, announced, chain.from_iterable(map(bytes.split, _lines_of(body))))
    points = None
    properties: list[Property] = []
    for name, (count, properties) in elements.items():
        names = [p[0] for p in properties]
        lists = [k for k, (name, _, length) in enumerate(properties) if length]
        wanted = [k for k in lists if names[k] in _INDICES]
        if name == "vertex":
            if lists or not {"x", "y", "z"} <= set(names):
                raise raw.refused("its vertices have no x, y and z, or hold lists")
            table = data.table(count, properties, "vertices")
            points = table[:, [names.index(axis) for axis in "xyz"]]
        elif name == "face" and points is not None:
            if len(wanted) != 1:
                raise raw.refused("its faces have no list `vertex_indices`")
            if properties[wanted[0]][1] in "fd":
                raise raw.refused("the `vertex_indices` of its faces are no whole numbers")
            _add_polygons(data, points, count, properties, wanted[0])
        elif wanted:
            raise raw.refused(f"holds `{name}`, which are not understood", "export it as faces")
        elif properties:
            raw.leave_out(f"`{shown_name(name)}`", "they are no faces", count)
            for _ in range(count):
                _row(data, properties, name)
    data.tell_rest(properties)


def _ply_head(raw: RawMesh, head: bytes) -> tuple[str, dict[str, tuple[int, list[Property]]]]:
    order: str | None = None
    elements: dict[str, tuple[int, list[Property]]] = {}
    properties: list[Property] = []
    for line in head.splitlines():
        fields = line.decode("utf-8", errors="replace").lower().split()
        match fields or ["comment"]:
            case ["comment" | "obj_info", *_]:
                pass
            case ["format", kind, "1.0"] if kind in _ORDERS:
                order = _ORDERS[kind]
            case ["element", name, count] if count.isdecimal() and name not in elements:
                properties = []
                elements[name] = int(count), properties
            case ["property", "list", length, kind, name] if (
                elements and kind in _TYPES and _TYPES.get(length, "f") not in "fd"
            ):
                properties.append((name, _TYPES[kind], _TYPES[length]))
            case ["property", kind, name] if elements and kind in _TYPES:
                properties.append((name, _TYPES[kind], ""))
            case _:
                shown = shown_name(" ".join(fields)[:60])
                raise raw.refused(f"its head has a line that is not understood: {shown}")
    if order is None:
        raise raw.refused("its head names no format")
    return order, elements
