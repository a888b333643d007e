"""PLY: elements of named properties, as text or binary."""

from __future__ import annotations

import re
import struct
from array import array
from itertools import chain, islice

import numpy as np
from numpy.typing import NDArray

from physim.errors import ModelError, shown_name
from physim.importer.polygons import lines_of, next_polygon, tell_rest
from physim.importer.reading import Reading
from physim.importer.solids import IntArray
from physim.types import FloatArray

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
    # A head of which each line ends with CR may be followed by a number whose byte is an LF.
    end = rb"\r|\n" if first[1] == b"\r" else rb"\r\n|\r|\n"
    last = re.search(rb"[\r\n][ \t]*end_header[ \t]*(" + end + rb"|$)", content, re.I)
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
            if properties[wanted[0]][1][0] == "f":
                raise reading.refused("the `vertex_indices` of its faces are no whole numbers")
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
        self._fields = chain.from_iterable(map(bytes.split, lines_of(content)))

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
                    found = next_polygon(self._reading, self._fields)
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
        tell_rest(self._reading, list(self._fields), self._announced)


class _Binary:
    """The data of a binary PLY."""

    def __init__(self, reading: Reading, announced: str, content: bytes, order: str) -> None:
        self._reading, self._announced = reading, announced
        self._content, self._order, self._at = content, order, 0
        self._properties: list[Property] = []  # of the last element

    def table(self, count: int, properties: list[Property], columns: list[int]) -> FloatArray:
        """(count, k) the chosen columns of an element without lists."""
        if any(p[2] for p in properties):
            raise self._reading.refused("its vertices hold lists")
        self._properties = properties
        rows = self._rows(count, properties, [1] * len(properties))
        if rows is None:
            raise self._cut_off()
        return np.column_stack([rows[f"v{k}"][:, 0].astype(np.float64) for k in columns])

    def lists(
        self, count: int, properties: list[Property], wanted: int | None
    ) -> tuple[IntArray, IntArray]:
        """All entries of one list of an element, one after the other; and its lengths (count,)."""
        start, self._properties = self._at, properties
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
        at, end = self._at, len(self._content.rstrip(b"\0 \t\r\n\x1a"))
        while self._properties and at < end:
            at = self._row_end(at)
        if self._at < at <= len(self._content):
            raise self._reading.refused(f"{self._announced}, but more follow")
        rest = len(self._content) - self._at
        if rest:
            self._reading.note("spare bytes", f"{rest} behind the last element", "left out")

    def _row_end(self, at: int) -> int:
        """Where a row of the last element that begins here would end, perhaps behind the file."""
        for _, code, length in self._properties:
            number = 1
            if length:
                kind = np.dtype(length)
                field = self._content[at : at + kind.itemsize]
                number = int.from_bytes(field, "big" if self._order == ">" else "little")
                at += kind.itemsize
            at += number * np.dtype(code).itemsize
        return at
