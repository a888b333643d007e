"""STL, OBJ and OFF: lists of vertices and of polygons.

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

from physim.errors import shown_name
from physim.importer.reading import EXPORT, WHOLE, Reading
from physim.types import FloatArray

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
    coordinates: list[bytes] = []
    named: list[bytes] = []
    faces: list[tuple[int, int, int]] = []  # line, corners, vertices so far
    for number, fields in _statements(content):
        word = fields[0].lower()
        if word == b"v":
            if len(fields) - 1 not in (3, 4, 6, 7):  # with a weight, a colour, or both
                raise reading.refused(f"line {number}: a vertex of {len(fields) - 1} numbers")
            if len(fields) in (5, 8) and reading.floats(iter(fields[4:]), 1, "weights")[0] != 1:
                raise reading.refused(
                    f"line {number}: a vertex with a weight, as of free-form surfaces",
                    "export it as polygons",
                )
            coordinates += fields[1:4]
        elif word in (b"f", b"fo"):
            named += fields[1:]
            faces.append((number, len(fields) - 1, len(coordinates) // 3))
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
    vertices = reading.floats(iter(coordinates), len(coordinates), "vertices").reshape(-1, 3)
    lines, sizes, so_far = np.array(faces, dtype=np.int64).reshape(-1, 3).T
    lines, so_far = np.repeat(lines, sizes), np.repeat(so_far, sizes)
    indices = [name.partition(b"/")[0] for name in named]
    if not all(map(WHOLE.fullmatch, indices)):
        at = next(k for k, index in enumerate(indices) if not WHOLE.fullmatch(index))
        raise reading.no_number(indices[at:], f"face of line {lines[at]}", whole=True)
    given = np.array(list(map(int, indices)), dtype=np.int64)
    corners = np.where(given > 0, given - 1, given + so_far)  # below 0: back from the last so far
    wrong = (corners < 0) | (corners >= len(vertices)) | (given == 0)
    if wrong.any():
        at = int(wrong.argmax())
        raise reading.refused(
            f"line {lines[at]}: a face names vertex {indices[at].decode()}, which is missing; the "
            f"first is 1, the last {len(vertices)}"
        )
    reading.add_polygons(vertices, corners, sizes)


def lines_of(content: bytes) -> Iterator[bytes]:
    """The lines of a text, whatever they end with."""
    return io.BytesIO(content.replace(b"\r\n", b"\n").replace(b"\r", b"\n"))


def _statements(content: bytes) -> Iterator[tuple[int, list[bytes]]]:
    """Numbers and fields of lines; a backslash at its end joins a line to the next."""
    before: list[bytes] = []
    for number, line in enumerate(lines_of(content), 1):
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

_OFF = re.compile(rb"((?:ST)?C?N?)(4?n?)OFF|[Cc]?[Oo]ff")


def read_off(reading: Reading, content: bytes) -> None:
    """Text of GeomView's kind, with or without colours and normals."""
    rows = [row for row in (line.partition(b"#")[0].split() for line in lines_of(content)) if row]
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
        found = next_polygon(reading, tokens)
        if found is None:
            raise reading.cut_off(f"{announced}, and has {len(sizes):,} whole faces")
        corners.extend(found)
        sizes.append(len(found))
    if not in_lines and min(sizes, default=3) < 3:  # so it was not without lines
        raise reading.cut_off(f"{announced}, and has {len(rest):,} lines")
    tell_rest(reading, list(chain.from_iterable(left)) if in_lines else list(tokens), announced)
    reading.add_polygons(points, np.array(corners, dtype=np.int64), np.array(sizes, dtype=np.int64))


def next_polygon(reading: Reading, tokens: Iterator[bytes]) -> list[int] | None:
    """Vertex indices of the next polygon, after their number; None at the end of the text."""
    fields = list(islice(tokens, 1))
    if fields and fields[0].isdigit():
        size = int(fields[0])
        fields = list(islice(tokens, size))
        if not all(map(WHOLE.fullmatch, fields)):
            raise reading.no_number(fields, "faces", whole=True)
        return list(map(int, fields)) if len(fields) == size else None
    if fields:
        raise reading.refused(f"a face of {fields[0].decode(errors='replace')[:30]} corners")
    return None


def tell_rest(reading: Reading, rest: list[bytes], announced: str) -> None:
    """What follows the last face is left out, unless it looks as if there were more faces."""
    rest = [field for field in rest if field.strip(b"\0\x1a")]
    if rest and all(re.fullmatch(rb"[-+.\deE]+", field) for field in rest[:4]):
        raise reading.refused(f"{announced}, but more numbers follow")
    if rest and re.fullmatch(rb"(?:ST)?C?N?OFF|ply", rest[0], re.I):
        raise reading.refused("another mesh follows its end", "save each in a file of its own")
    if rest:
        reading.note("spare text", f"{len(rest)} words behind the last face", "left out")
