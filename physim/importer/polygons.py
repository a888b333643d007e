"""STL, OBJ, OFF and PLY: lists of vertices and of polygons.

Each reader gets the content of a file and adds what it holds to a `Reading`. Text is read as bytes:
names and comments may be in any encoding. White space and line ends are of any kind.
"""

from __future__ import annotations

import io
import re
import struct
from array import array
from collections.abc import Iterator
from itertools import chain, islice

import numpy as np
from numpy.typing import NDArray

from physim.arguments import shown_name
from physim.errors import ModelError
from physim.importer.reading import EXPORT, Reading
from physim.importer.solids import IntArray
from physim.values import FloatArray

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
_FIRST_LINE = re.compile(rb"\s*solid\b[^\r\n]*?[\r\n\s]\s*(facet\b|end\s?solid\b)", re.I)


def is_binary_stl(content: bytes) -> bool:
    """Whether an STL file is just as long as its binary head says."""
    return len(content) >= _HEAD and len(content) == _HEAD + _TRIANGLE.itemsize * _announced(
        content
    )


def _announced(content: bytes) -> int:
    """How many triangles a binary STL should have."""
    return int(struct.unpack_from("<I", content, 80)[0]) if len(content) >= _HEAD else 0


def read_stl(reading: Reading, content: bytes) -> None:
    """Binary or text; a text may hold several solids."""
    count, exact = _announced(content), is_binary_stl(content)
    if _FIRST_LINE.match(content) and not exact:
        _read_stl_text(reading, content)
        return
    if re.match(rb"\s*solid\b", content, re.I) and not exact and b"\0" not in content:
        raise reading.cut_off("it is an STL text without facets")
    if len(content) < _HEAD:
        raise reading.refused("is no STL: neither a text nor long enough to be binary")
    size = _TRIANGLE.itemsize * count
    if _HEAD + size > len(content):
        raise reading.refused(
            f"no STL, or cut off: it has {len(content)} bytes where its head promises "
            f"{_HEAD + size}",
            f"{EXPORT} or copy it again",
        )
    reading.refuse_many(count)
    rest = content[_HEAD + size :]
    if rest.strip(b"\0 \t\r\n") and _more_triangles(rest):
        raise reading.refused(
            f"its head announces {count:,} faces, but more data of faces follow ({len(rest)} bytes)"
        )
    if rest:
        reading.note("spare bytes", f"{len(rest)} behind the last face", "left out")
    triangles = np.frombuffer(content, _TRIANGLE, count, _HEAD)
    corners = triangles["corners"].reshape(-1, 3).astype(np.float64)
    reading.add(corners, np.arange(3 * count).reshape(-1, 3))


def _more_triangles(rest: bytes) -> bool:
    """Whether what follows the last face is a whole number of faces, or another file."""
    return len(rest) % _TRIANGLE.itemsize == 0 or is_binary_stl(rest)


def _read_stl_text(reading: Reading, content: bytes) -> None:
    coordinates: list[FloatArray] = []
    texts: list[bytes] = []
    at = solids = 0
    while begin := _SOLID.match(content, at):
        solids += 1
        at = begin.end()
        while facet := _FACET.match(content, at):
            texts += facet.groups()
            at = facet.end()
            if len(texts) > 900_000:  # so that the texts of a large file take no memory
                coordinates.append(reading.floats(iter(texts), len(texts), "vertices"))
                texts = []
        end = _END_SOLID.match(content, at)
        if end is None:
            line = 1 + len(re.findall(rb"\r\n|\n|\r", content[:at]))
            rest = content[at:].strip()
            if len(rest) < 400 and not re.search(rb"end\s?solid", rest, re.I):
                raise reading.cut_off(f"solid number {solids} has no `endsolid`")
            raise reading.refused(
                f"after line {line} comes neither a facet of three vertices nor `endsolid`"
            )
        at = end.end()
    rest = content[at:].strip(b"\0 \t\r\n\x1a")
    if b"facet" in rest.lower() or b"solid".startswith(rest[:5].lower() or b"?"):
        raise reading.cut_off("more follows the last `endsolid`, and is no whole solid")
    if rest:
        reading.note("spare bytes", f"{len(rest)} behind the last `endsolid`", "left out")
    coordinates.append(reading.floats(iter(texts), len(texts), "vertices"))
    corners = np.concatenate(coordinates).reshape(-1, 3)
    reading.add(corners, np.arange(len(corners)).reshape(-1, 3))


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


def read_obj(reading: Reading, content: bytes) -> None:
    """Polygons; materials are of no use here."""
    coordinates, corners, sizes = array("d"), array("q"), array("q")
    for number, fields in _statements(content):
        word = fields[0].lower()
        if word == b"v":
            if not 4 <= len(fields) <= 8:
                raise reading.refused(f"line {number}: a vertex of {len(fields) - 1} numbers")
            place = reading.floats(iter(fields[1:]), len(fields) - 1, f"vertex of line {number}")
            if len(place) == 4 and place[3] != 1:
                raise reading.refused(
                    f"line {number}: a vertex with a weight, as of free-form surfaces",
                    "export it as polygons",
                )
            coordinates.extend(place[:3].tolist())
        elif word in (b"f", b"fo"):
            sizes.append(len(fields) - 1)
            corners.extend(_corners(reading, number, fields[1:], len(coordinates) // 3))
        elif word in (b"l", b"p"):
            reading.leave_out("lines" if word == b"l" else "points", "they are no faces")
        elif word in _CURVED:
            raise reading.refused(
                f"line {number}: `{word.decode()}`, a free-form curve or surface",
                "export it as polygons",
            )
        elif word not in _NO_SHAPE:
            shown = shown_name(word.decode("utf-8", errors="replace")[:30])
            raise reading.refused(f"line {number}: {shown} is no statement of an OBJ file")
    reading.add_polygons(
        np.array(coordinates).reshape(-1, 3),
        np.array(corners, dtype=np.int64),
        np.array(sizes, dtype=np.int64),
    )


def _corners(reading: Reading, number: int, fields: list[bytes], count: int) -> list[int]:
    """Vertex indices from 0 of a face; those below 0 count back from the last vertex so far."""
    try:
        given = [int(field.partition(b"/")[0]) for field in fields]
    except ValueError:
        raise reading.no_number(fields, f"face of line {number}") from None
    if 0 in given or min(given, default=1) < -count:
        raise reading.refused(
            f"line {number}: a face names a vertex that is missing ({min(given, key=abs)} of "
            f"{count}; the first is 1)"
        )
    return [index - 1 if index > 0 else index + count for index in given]


def _lines(content: bytes) -> Iterator[bytes]:
    return io.BytesIO(content.replace(b"\r\n", b"\n").replace(b"\r", b"\n"))


def _statements(content: bytes) -> Iterator[tuple[int, list[bytes]]]:
    """Numbers and fields of lines; a backslash at its end joins a line to the next."""
    before: list[bytes] = []
    for number, line in enumerate(_lines(content), 1):
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


# --- OFF -------------------------------------------------------------------------------------

_OFF = re.compile(rb"((?:ST)?C?N?)(4?n?)OFF|c?off")


def read_off(reading: Reading, content: bytes) -> None:
    """Text of GeomView's kind, with or without colours and normals."""
    rows = [row for row in (line.partition(b"#")[0].split() for line in _lines(content)) if row]
    head = _OFF.fullmatch(rows[0][0])
    plain = head is None or not head[1]
    if head is not None:
        rows[0] = rows[0][1:]
        if head[2] or b"BINARY" in (row[0].upper() for row in rows[:2] if row):
            what = "has points of other than three dimensions" if head[2] else "is a binary OFF"
            raise reading.refused(what, "export it as OFF text, or as STL")
        rows = rows if rows[0] else rows[1:]
    if not rows or not all(text.isdigit() for text in rows[0][:2]) or len(rows[0]) < 2:
        raise reading.refused("no OFF: it does not begin with its numbers of vertices and faces")
    vertices, faces = int(rows[0][0]), int(rows[0][1])
    reading.refuse_many(faces)
    rest = [rows[0][3:], *rows[1:]] if rows[0][3:] else rows[1:]
    announced = f"it announces {vertices:,} vertices and {faces:,} faces"
    in_lines = len(rest) >= vertices + faces and all(len(row) >= 3 for row in rest[:vertices])
    if not in_lines and not plain:
        raise reading.cut_off(f"{announced}, and has {len(rest):,} lines")
    tokens: Iterator[bytes] = chain.from_iterable(
        [row[:3] for row in rest[:vertices]] if in_lines else rest
    )
    points = reading.floats(tokens, 3 * vertices, "vertices").reshape(-1, 3)
    corners, sizes = array("q"), array("q")
    left = iter(rest[vertices:])
    for _ in range(faces):
        if in_lines:
            tokens = iter(next(left))
        found = _polygon(reading, tokens)
        if found is None:
            raise reading.cut_off(f"{announced}, and has {len(sizes):,} whole faces")
        corners.extend(found)
        sizes.append(len(found))
    _tell_rest(reading, list(chain.from_iterable(left)) if in_lines else list(tokens), announced)
    reading.add_polygons(points, np.array(corners, dtype=np.int64), np.array(sizes, dtype=np.int64))


def _polygon(reading: Reading, tokens: Iterator[bytes]) -> list[int] | None:
    """Vertex indices of the next polygon, after their number; None at the end of the text."""
    fields = list(islice(tokens, 1))
    try:
        if fields:
            size = int(fields[0])
            fields = list(islice(tokens, size))
            found = [int(field) for field in fields]
            return found if len(found) == size else None
    except ValueError:
        raise reading.no_number(fields, "faces") from None
    return None


def _tell_rest(reading: Reading, rest: list[bytes], announced: str) -> None:
    """What follows the last face is left out, unless it looks as if there were more faces."""
    rest = [field for field in rest if field.strip(b"\0\x1a")]
    if len(rest) > 3 and all(re.fullmatch(rb"[-+.\deE]+", field) for field in rest[:4]):
        raise reading.refused(f"{announced}, but more numbers follow")
    if rest:
        reading.note("spare text", f"{len(rest)} words behind the last face", "left out")


# --- PLY -------------------------------------------------------------------------------------

_TYPES = {
    name: code
    for names, code in {
        "char int8": "i1",
        "uchar uint8": "u1",
        "short int16": "i2",
        "ushort uint16": "u2",
        "int int32": "i4",
        "uint uint32": "u4",
        "float float32": "f4",
        "double float64": "f8",
    }.items()
    for name in names.split()
}
_ORDERS = {"ascii": "", "binary_little_endian": "<", "binary_big_endian": ">"}
_INDICES = ("vertex_indices", "vertex_index")
Property = tuple[str, str, str]  # name, code of its type, code of its list's length or ""
Element = tuple[str, int, list[Property]]


def read_ply(reading: Reading, content: bytes) -> None:
    """Text or binary, of either order of bytes."""
    first = re.match(rb"ply[ \t]*(\r\n|\n|\r)", content, re.I)
    if first is None:
        raise reading.refused("no PLY: it does not begin with `ply`")
    last = re.search(rb"[\r\n][ \t]*end_header[ \t]*(" + first[1] + rb"|$)", content, re.I)
    if last is None:
        raise reading.cut_off("its head has no end")
    order, elements = _ply_head(reading, content[first.end() : last.start()])
    announced = "it announces " + ", ".join(f"{count:,} of {name}" for name, count, _ in elements)
    data: _Text | _Binary
    if order:
        data = _Binary(reading, announced, content[last.end() :], order)
    else:
        data = _Text(reading, announced, content[last.end() :])
    points: FloatArray | None = None
    polygons: tuple[IntArray, IntArray] | None = None
    for name, count, properties in elements:
        names = [p[0] for p in properties]
        if name == "vertex":
            if not {"x", "y", "z"} <= set(names):
                raise reading.refused("its vertices have no x, y and z")
            points = data.table(count, properties, [names.index(axis) for axis in "xyz"])
        elif name == "face":
            wanted = [k for k, p in enumerate(properties) if p[0] in _INDICES and p[2]]
            if len(wanted) != 1:
                raise reading.refused("its faces have no list `vertex_indices`")
            reading.refuse_many(count)
            polygons = data.lists(count, properties, wanted[0])
        elif any(p[2] and p[0] in _INDICES for p in properties):
            raise reading.refused(f"holds `{name}`, which are not understood", "export it as faces")
        else:
            reading.leave_out(f"`{shown_name(name)}`", "they are no faces", count)
            data.lists(count, properties, None)
    data.tell_rest()
    if points is not None and polygons is not None:
        reading.add_polygons(points, *polygons)


def _ply_head(reading: Reading, head: bytes) -> tuple[str, list[Element]]:
    order: str | None = None
    elements: list[Element] = []
    for line in head.splitlines():
        fields = line.decode("utf-8", errors="replace").lower().split()
        match fields or ["comment"]:
            case ["comment" | "obj_info", *_]:
                pass
            case ["format", kind, "1.0"] if kind in _ORDERS:
                order = _ORDERS[kind]
            case ["element", name, count] if count.isdecimal():
                if name in (element[0] for element in elements):
                    raise reading.refused(f"announces `{shown_name(name)}` twice")
                elements.append((name, int(count), []))
            case ["property", "list", length, kind, name] if elements:
                codes = _TYPES.get(kind, ""), _TYPES.get(length, "")
                if not all(codes) or codes[1][0] == "f":
                    shown = shown_name(f"{length} {kind}"[:60])
                    raise reading.refused(f"a list of types that are not known: {shown}")
                elements[-1][2].append((name, *codes))
            case ["property", kind, name] if elements and kind in _TYPES:
                elements[-1][2].append((name, _TYPES[kind], ""))
            case _:
                shown = shown_name(" ".join(fields)[:60])
                raise reading.refused(f"its head has a line that is not understood: {shown}")
    if order is None:
        raise reading.refused("its head names no format")
    return order, elements


class _Text:
    """The data of a PLY text."""

    def __init__(self, reading: Reading, announced: str, content: bytes) -> None:
        self._reading, self._announced = reading, announced
        self._fields = chain.from_iterable(map(bytes.split, _lines(content)))

    def table(self, count: int, properties: list[Property], columns: list[int]) -> FloatArray:
        """(count, k) the chosen columns of an element without lists."""
        if any(p[2] for p in properties):
            raise self._reading.refused("its vertices hold lists")
        size = count * len(properties)
        numbers = self._reading.floats(self._fields, size, f"vertices ({self._announced})")
        return numbers.reshape(count, len(properties))[:, columns]

    def lists(
        self, count: int, properties: list[Property], wanted: int | None
    ) -> tuple[IntArray, IntArray]:
        """All entries of one list of an element, one after the other; and its lengths (count,)."""
        values, sizes = array("q"), array("q")
        for row in range(count):
            for k, (_, _, length) in enumerate(properties):
                if not length:
                    whole = len(list(islice(self._fields, 1))) == 1
                elif k == wanted:
                    found = _polygon(self._reading, self._fields)
                    whole = found is not None
                    values.extend(found or ())
                    sizes.append(len(found or ()))
                else:
                    number = int(self._reading.floats(self._fields, 1, "lists")[0])
                    whole = len(list(islice(self._fields, number))) == number
                if not whole:
                    raise self._reading.cut_off(f"{self._announced}; it ends after {row:,} rows")
        return np.array(values, dtype=np.int64), np.array(sizes, dtype=np.int64)

    def tell_rest(self) -> None:
        """What follows the last element."""
        _tell_rest(self._reading, list(self._fields), self._announced)


class _Binary:
    """The data of a binary PLY."""

    def __init__(self, reading: Reading, announced: str, content: bytes, order: str) -> None:
        self._reading, self._announced = reading, announced
        self._content, self._order, self._at = content, order, 0
        self._last_row = b""

    def table(self, count: int, properties: list[Property], columns: list[int]) -> FloatArray:
        """(count, k) the chosen columns of an element without lists."""
        if any(p[2] for p in properties):
            raise self._reading.refused("its vertices hold lists")
        rows = self._rows(count, properties, [1] * len(properties))
        if rows is None:
            raise self._cut_off()
        return np.column_stack([rows[f"v{k}"][:, 0].astype(np.float64) for k in columns])

    def lists(
        self, count: int, properties: list[Property], wanted: int | None
    ) -> tuple[IntArray, IntArray]:
        """All entries of one list of an element, one after the other; and its lengths (count,)."""
        start = self._at
        values, sizes, first = array("q"), array("q"), [1] * len(properties)
        for row in range(count):
            for k, (_, code, length) in enumerate(properties):
                number = int(self._take(length, 1)[0]) if length else 1
                found = self._take(code, number)
                if row == 0:
                    first[k] = number
                if k == wanted:
                    values.extend(map(int, found))
                    sizes.append(number)
            if row == 0:  # most often all rows are alike, and are read in one go
                after, self._at = self._at, start
                rows = self._rows(count, properties, first)
                if rows is not None and wanted is not None:
                    flat = rows[f"v{wanted}"].astype(np.int64).reshape(-1)
                    return flat, np.full(count, first[wanted], dtype=np.int64)
                if rows is not None:
                    break
                self._at = after
        return np.array(values, dtype=np.int64), np.array(sizes, dtype=np.int64)

    def _rows(
        self, count: int, properties: list[Property], sizes: list[int]
    ) -> NDArray[np.void] | None:
        """The next rows, if they are there and all their lists have these lengths."""
        fields: list[tuple[str, str, tuple[int]]] = []
        for k, ((_, code, length), size) in enumerate(zip(properties, sizes, strict=True)):
            if length:
                fields.append((f"n{k}", self._order + length, (1,)))
            fields.append((f"v{k}", self._order + code, (size,)))
        row = np.dtype(fields)
        if self._at + count * row.itemsize > len(self._content):
            return None
        rows = np.frombuffer(self._content, row, count, self._at)
        if any((rows[f"n{k}"] != size).any() for k, size in enumerate(sizes) if properties[k][2]):
            return None
        self._at += rows.nbytes
        self._last_row = rows[-1:].tobytes()
        return rows

    def _take(self, code: str, number: int) -> tuple[float, ...]:
        """The next numbers of one type."""
        kind = np.dtype(code)
        end = self._at + number * kind.itemsize
        if not self._at <= end <= len(self._content):
            raise self._cut_off()
        found = struct.unpack_from(f"{self._order}{number}{kind.char}", self._content, self._at)
        self._at = end
        return found

    def _cut_off(self) -> ModelError:
        return self._reading.cut_off(f"{self._announced}, and has {len(self._content):,} bytes")

    def tell_rest(self) -> None:
        """What follows the last element."""
        rest = self._content[self._at :]
        row = self._last_row
        if row and rest and len(rest) % len(row) == 0 and rest[:1] == row[:1]:
            raise self._reading.refused(f"{self._announced}, but more follow")
        if rest:
            self._reading.note("spare bytes", f"{len(rest)} behind the last element", "left out")
