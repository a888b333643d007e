"""3MF: an archive of models in XML. What is to be printed is read; support and modifiers are not.

Of the standard: the core, and of the production extension items and components in other parts.
Of slicers: what PrusaSlicer, Bambu Studio and Cura note of volumes that are no part of the model.
"""

from __future__ import annotations

import io
import zipfile
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import Any
from urllib.parse import unquote
from xml.etree import ElementTree

import numpy as np

from physim.errors import shown_name
from physim.importer.reading import EXPORT, MAX_BYTES, Reading
from physim.importer.solids import IntArray
from physim.types import FloatArray

UNITS = {
    "micron": "micron",
    "millimeter": "mm",
    "centimeter": "cm",
    "inch": "inch",
    "foot": "foot",
    "meter": "m",
}
MAX_INSTANCES = 10_000
_PACKED = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
_CORE = "http://schemas.microsoft.com/3dmanufacturing/core/2015/02"
_READ = {  # namespaces of extensions that hold nothing else of the shape, or are read
    "http://schemas.microsoft.com/3dmanufacturing/production/2015/06",
    "http://schemas.microsoft.com/3dmanufacturing/material/2015/02",
    "http://schemas.microsoft.com/3dmanufacturing/trianglesets/2021/07",
}
_MODEL_RELATION = "http://schemas.microsoft.com/3dmanufacturing/2013/01/3dmodel"
_KNOWN = ["mesh", "components", "vertices", "triangles", "component", "metadatagroup"]
_CURA = ("infill_mesh", "cutting_mesh", "anti_overhang_mesh", "support_mesh")
Key = tuple[str, str]  # path of a part, id of an object


@dataclass
class _Object:
    """An object of a model part.

    Attributes:
        kind: its type, "model" where it is to be printed.
        vertices: (n, 3).
        triangles: (m, 3).
        components: keys of other objects, and their places (4, 4).
    """

    kind: str
    vertices: FloatArray = field(default_factory=lambda: np.zeros((0, 3)))
    triangles: IntArray = field(default_factory=lambda: np.zeros((0, 3), dtype=np.int64))
    components: list[tuple[Key, FloatArray]] = field(default_factory=list)


def read_3mf(reading: Reading, content: bytes) -> None:
    """Adds what the build holds."""
    package = _Package(reading, content)
    root = package.part(package.root)
    reading.unit = UNITS[root.unit]
    for key, matrix, printed in root.items:
        if printed:
            package.add(key, matrix, ())
        else:
            package.used.add(key)
            reading.leave_out("items", "they are not to be printed")
    if root.objects and not root.items:
        raise reading.refused("its build is empty: it has objects, but none is to be printed")
    unused = sum(key not in package.used for part in package.parts.values() for key in part.objects)
    if unused:
        reading.leave_out("objects", "they are not in the build", unused)


class _Package:
    """The archive, and those of its parts that were read."""

    def __init__(self, reading: Reading, content: bytes) -> None:
        self._reading = reading
        if not zipfile.is_zipfile(io.BytesIO(content)):
            raise reading.cut_off("it is no whole ZIP archive, as a 3MF is")
        self._archive = zipfile.ZipFile(io.BytesIO(content))
        entries = self._archive.infolist()
        if sum(entry.file_size for entry in entries) > MAX_BYTES or len(entries) > 1000:
            raise reading.refused(
                f"unpacks to more than {MAX_BYTES // 10**6} MB or 1,000 files; no pig does"
            )
        names = [entry.filename.replace("\\", "/") for entry in entries]
        if any(name.startswith("/") or ".." in PurePosixPath(name).parts for name in names):
            raise reading.refused("an entry leads out of the archive")
        if any(entry.flag_bits & 1 for entry in entries):
            raise reading.refused("is locked by a password", f"{EXPORT} without")
        if any(entry.compress_type not in _PACKED for entry in entries):
            raise reading.refused("an entry is packed otherwise than by deflate, as 3MF has it")
        self._entries = {_path(n): e for n, e in zip(names, entries, strict=True)}
        if len(self._entries) < len(entries):
            raise reading.refused("two entries of the archive have one name")
        if any(name.endswith("keystore.xml") for name in self._entries):
            raise reading.refused("is encrypted (secure content)", f"{EXPORT} without a key")
        self.parts: dict[str, _Part] = {}
        self.used: set[Key] = set()
        self._instances = 0
        self._other_parts: dict[tuple[Key, str], str] = {}  # object, id of a component
        self._other_triangles: dict[Key, list[tuple[int, int, str]]] = defaultdict(list)
        self.root = self._root_path()
        self._read_slicers()

    def _root_path(self) -> str:
        """The path of the model to begin with."""
        if "_rels/.rels" in self._entries:
            for relation in self._tree("_rels/.rels").iter():
                if relation.get("Type") == _MODEL_RELATION:
                    return _path(relation.attrib["Target"])
        if "3d/3dmodel.model" not in self._entries:
            raise self._reading.refused("an archive without a 3D model", f"{EXPORT} as 3MF")
        return "3d/3dmodel.model"

    def part(self, path: str) -> _Part:
        """A model part, read once."""
        if path not in self.parts:
            self.parts[path] = _Part(self._reading, path)
            self._parse(path, self.parts[path])
            units = sorted({part.unit for part in self.parts.values()})
            if len(units) > 1:
                raise self._reading.refused(f"has parts in different units ({', '.join(units)})")
        return self.parts[path]

    def add(self, key: Key, matrix: FloatArray, above: tuple[Key, ...]) -> None:
        """Adds an object and its components.

        Args:
            key: of the object.
            matrix: (4, 4) its place, for columns.
            above: the objects that it is a component of.
        """
        reading = self._reading
        self._instances += 1
        if key in above or self._instances > MAX_INSTANCES:
            raise reading.refused("an object holds itself, or far too many others")
        found = self.part(key[0]).objects.get(key)
        if found is None:
            raise reading.refused(f"names object {shown_name(key[1])}, which is missing")
        self.used.add(key)
        noted = {inner for inner, _ in found.components if (key, inner[1]) in self._other_parts}
        if len(noted) > len({number for _, number in noted}):
            raise reading.refused("a slicer's note of a part may be of two, of the same number")
        what = found.kind
        if what == "model" and above:
            what = self._other_parts.get((above[-1], key[1]), what)
        if what != "model":
            self._leave_out(what)
            for inner, _ in found.components:
                self.used.add(inner)
            return
        kept = np.ones(len(found.triangles), dtype=bool)
        for first, last, kind in self._other_triangles.get(key, ()):
            self._leave_out(kind)
            kept[first : last + 1] = False
        reading.add(found.vertices, found.triangles[kept], matrix)
        for inner, place in found.components:
            self.add(inner, matrix @ place, (*above, key))

    def _leave_out(self, kind: str) -> None:
        if "negative" in kind.lower():
            raise self._reading.refused(
                "a slicer's negative volume is to be cut out of it", "cut it out, and export again"
            )
        self._reading.leave_out(f"objects of the type {shown_name(kind)}", "no part of the model")

    def _read_slicers(self) -> None:
        """What slicers note of volumes that are not part of the model, by ids of the root."""
        if "metadata/model_settings.config" in self._entries:  # Bambu Studio and its kin
            for one in self._tree("metadata/model_settings.config").iter("object"):
                for part in one.iter("part"):
                    if part.get("subtype", "normal_part") != "normal_part":
                        key = self.root, one.attrib["id"]
                        self._other_parts[key, part.attrib["id"]] = part.attrib["subtype"]
        if "metadata/slic3r_pe_model.config" in self._entries:  # PrusaSlicer: parts of one mesh
            for one in self._tree("metadata/slic3r_pe_model.config").iter("object"):
                for volume in one.iter("volume"):
                    notes = {n.get("key"): n.get("value") for n in volume.iter("metadata")}
                    kind = notes.get("volume_type") or "ModelPart"
                    if notes.get("modifier") == "1" and kind == "ModelPart":
                        kind = "ParameterModifier"
                    if kind != "ModelPart":
                        key = self.root, one.attrib["id"]
                        span = int(volume.attrib["firstid"]), int(volume.attrib["lastid"])
                        self._other_triangles[key].append((*span, kind))

    def _tree(self, path: str) -> ElementTree.Element:
        tree: ElementTree.Element = self._parse(path, _Tree(self._reading))
        return tree

    def _parse(self, path: str, target: Any) -> Any:
        """What a target makes of a part's XML."""
        shown = shown_name(path)
        if path not in self._entries:
            raise self._reading.refused(f"its part {shown} is missing")
        content = self._archive.read(self._entries[path])
        if content[:4] in (b"\xff\xfe\0\0", b"\0\0\xfe\xff"):
            raise self._reading.refused(f"{shown} is UTF-32 text", "save it as UTF-8")
        parser = ElementTree.XMLParser(target=target)
        parser.feed(content)
        return parser.close()


class _Xml:
    """What is made of XML without a document type, whose entities could take all memory."""

    def __init__(self, reading: Reading) -> None:
        super().__init__()
        self._reading = reading

    def doctype(self, *_: object) -> None:
        """Refuses it."""
        raise self._reading.refused("its XML has a document type, which 3MF forbids")


class _Tree(_Xml, ElementTree.TreeBuilder):
    """Makes a tree."""


class _Part(_Xml):
    """A model part; the XML reader fills it as it goes, without a tree of a million elements."""

    def __init__(self, reading: Reading, path: str) -> None:
        super().__init__(reading)
        self._path = path
        self.unit = "millimeter"
        self.objects: dict[Key, _Object] = {}
        self.items: list[tuple[Key, FloatArray, bool]] = []
        self._object: _Object | None = None
        self._places: list[bytes] = []  # numbers of its vertices and triangles
        self._corners: list[bytes] = []
        self._outer: list[str] = []  # the names of the elements that are open
        self._prefixes: dict[str, str] = {}
        self._metadata = ""

    def start_ns(self, prefix: str, uri: str) -> None:
        """A namespace and its short name."""
        self._prefixes[prefix] = uri

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        """An element begins."""
        space, _, name = tag.rpartition("}")
        core = space in ("", "{" + _CORE)
        outer = self._outer[-1] if self._outer else ""
        self._outer.append(name if core else tag)
        if core and name == "vertex" and outer == "vertices" and self._object:
            self._places += [attributes.get(axis, "").encode() for axis in "xyz"]
        elif core and name == "triangle" and outer == "triangles" and self._object:
            self._corners += [attributes.get(k, "").encode() for k in ("v1", "v2", "v3")]
        elif core and name in ("model", "object", "item", "component"):
            getattr(self, f"_start_{name}")(attributes)
        elif core and name == "metadata":
            self._metadata = attributes.get("name", "")
        elif self._object is not None and outer in ("object", "mesh", "components"):
            known = core and name in _KNOWN
            if not known and space[1:] not in _READ:
                raise self._reading.refused(
                    f"holds `{shown_name(name)}`, which is not understood",
                    f"{EXPORT} as plain triangles",
                )
        elif not self._outer[1:]:
            raise self._reading.refused("its 3D model is no `model`")

    def data(self, text: str) -> None:
        """Text between elements: Cura notes in it what an object is for."""
        mark = self._metadata.rpartition(":")[2]
        if self._object is not None and mark in _CURA and text.strip().lower() in ("true", "1"):
            self._object.kind = mark

    def end(self, tag: str) -> None:
        """An element ends."""
        self._metadata = ""
        if self._outer.pop() == "object" and self._object is not None:
            texts = self._places, self._corners
            places, corners = (
                self._reading.floats(iter(numbers), len(numbers), what).reshape(-1, 3)
                for numbers, what in zip(texts, ("vertices", "triangles"), strict=True)
            )
            if (corners % 1).any():
                raise self._reading.refused("a triangle names a vertex by no whole number")
            self._object.vertices, self._object.triangles = places, corners.astype(np.int64)
            self._places, self._corners, self._object = [], [], None

    def close(self) -> None:
        """The end of the file."""

    def _start_model(self, attributes: dict[str, str]) -> None:
        self.unit = attributes.get("unit", "millimeter").strip().lower()
        if self.unit not in UNITS:
            raise self._reading.refused(
                f"its unit {shown_name(self.unit)} is none of {', '.join(UNITS)}"
            )
        for prefix in attributes.get("requiredextensions", "").split():
            uri = self._prefixes.get(prefix, prefix)
            if uri not in _READ:
                raise self._reading.refused(
                    f"needs the extension {shown_name(prefix)} ({shown_name(uri)}), which is not "
                    "understood",
                    f"{EXPORT} without it",
                )

    def _start_object(self, attributes: dict[str, str]) -> None:
        if any(name.endswith("}slicestackid") for name in attributes):
            raise self._reading.refused(
                "holds an object made of slices, which is not understood",
                f"{EXPORT} as triangles",
            )
        key = self._path, attributes["id"]
        if key in self.objects:
            raise self._reading.refused(f"has two objects of the number {shown_name(key[1])}")
        self._object = self.objects[key] = _Object(attributes.get("type", "model"))

    def _start_item(self, attributes: dict[str, str]) -> None:
        printed = attributes.get("printable", "1").strip().lower() not in ("0", "false")
        self.items.append((*self._reference(attributes), printed))

    def _start_component(self, attributes: dict[str, str]) -> None:
        if self._object is not None:
            self._object.components.append(self._reference(attributes))

    def _reference(self, attributes: dict[str, str]) -> tuple[Key, FloatArray]:
        """The object that is named, perhaps of another part, and its place (4, 4)."""
        paths = [value for name, value in attributes.items() if name.endswith("}path")]
        path = _path(paths[0]) if paths else self._path
        return (path, attributes["objectid"]), self._place(attributes.get("transform", ""))

    def _place(self, text: str) -> FloatArray:
        """(4, 4), for columns, of twelve numbers for rows."""
        matrix = np.eye(4)
        if text:
            fields = text.encode().split()
            numbers = self._reading.floats(iter(fields), len(fields), "transform")
            if len(numbers) != 12:
                raise self._reading.refused(f"a transform of {len(numbers)} numbers, not 12")
            matrix[:3] = numbers.reshape(4, 3).T
        return matrix


def _path(name: str) -> str:
    """A part's path in the archive, for comparison: no matter of case."""
    return unquote(name).lstrip("/").lower()


def content_3mf(vertices_mm: FloatArray, faces: IntArray) -> bytes:
    """A 3MF of one object, the same bytes for the same mesh.

    Args:
        vertices_mm: (n, 3) [mm].
        faces: (m, 3) vertex indices.
    """
    corners = "".join(
        f'<vertex x="{x!r}" y="{y!r}" z="{z!r}"/>' for x, y, z in vertices_mm.tolist()
    )
    triangles = "".join(f'<triangle v1="{a}" v2="{b}" v3="{c}"/>' for a, b, c in faces.tolist())
    package = "http://schemas.openxmlformats.org/package/2006"
    entries = {
        "[Content_Types].xml": f'<Types xmlns="{package}/content-types"><Default Extension="rels" '
        'ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Default '
        'Extension="model" ContentType="application/vnd.ms-package.3dmanufacturing-3dmodel+xml"/>'
        "</Types>",
        "_rels/.rels": f'<Relationships xmlns="{package}/relationships"><Relationship Id="model" '
        f'Type="{_MODEL_RELATION}" Target="/3D/3dmodel.model"/></Relationships>',
        "3D/3dmodel.model": f'<model unit="millimeter" xmlns="{_CORE}"><resources><object id="1" '
        f'type="model"><mesh><vertices>{corners}</vertices><triangles>{triangles}</triangles>'
        '</mesh></object></resources><build><item objectid="1"/></build></model>',
    }
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for name, text in entries.items():
            content = '<?xml version="1.0" encoding="UTF-8"?>\n' + text
            archive.writestr(zipfile.ZipInfo(name), content, zipfile.ZIP_DEFLATED)
    return out.getvalue()
