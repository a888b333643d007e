"""3MF: an archive of models in XML. What is to be printed is read; support and modifiers are not.

Of the standard: the core, and of the production extension items and components in other parts.
Of slicers: what PrusaSlicer, Bambu Studio and Cura note of volumes that are no part of the model.
"""

from __future__ import annotations

import io
import zipfile
from collections import defaultdict
from collections.abc import Callable, Iterable
from pathlib import PurePosixPath
from urllib.parse import unquote
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

import numpy as np

from physim.errors import shown_name
from physim.importer.reading import EXPORT, MAX_BYTES, RawMesh
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
_KNOWN = {"mesh", "components", "vertices", "triangles", "component", "metadatagroup"}
_CURA = ("infill_mesh", "cutting_mesh", "anti_overhang_mesh", "support_mesh")
Key = tuple[str, str]  # path of a part, id of an object


class _Object:
    """An object of a model part; its kind is "model" where it is to be printed."""

    def __init__(self, kind: str) -> None:
        self.kind = kind
        self.vertices: FloatArray = np.zeros((0, 3))
        self.triangles: IntArray = np.zeros((0, 3), dtype=np.int64)
        self.components: list[tuple[Key, FloatArray]] = []  # and their places (4, 4)


def read_3mf(raw: RawMesh, content: bytes) -> None:
    """Adds what the build holds."""
    package = _Package(raw, content)
    items = package.read_part(package.root)
    raw.unit = package.unit
    for key, matrix, printed in items:
        if printed:
            package.add(key, matrix, ())
        else:
            package.used.add(key)
            raw.leave_out("items", "they are not to be printed")
    if package.objects and not items:
        raise raw.refused("its build is empty: it has objects, but none is to be printed")
    if unused := len(set(package.objects) - package.used):
        raw.leave_out("objects", "they are not in the build", unused)


class _Package:
    """The archive, and those of its parts that were read."""

    def __init__(self, raw: RawMesh, content: bytes) -> None:
        self._raw = raw
        if not zipfile.is_zipfile(io.BytesIO(content)):
            raise raw.cut_off("it is no whole ZIP archive, as a 3MF is")
        self._archive = zipfile.ZipFile(io.BytesIO(content))
        entries = self._archive.infolist()
        names = [entry.filename.replace("\\", "/") for entry in entries]
        self._entries = {_path(n): e for n, e in zip(names, entries, strict=True)}
        if sum(entry.file_size for entry in entries) > MAX_BYTES or len(entries) > 1000:
            unpacked = f"{MAX_BYTES // 10**6} MB or 1,000 files"
            raise raw.refused(f"unpacks to more than {unpacked}; no pig does")
        if any(name.startswith("/") or ".." in PurePosixPath(name).parts for name in names):
            raise raw.refused("an entry leads out of the archive")
        if any(entry.compress_type not in _PACKED for entry in entries):
            raise raw.refused("an entry is packed otherwise than by deflate, as 3MF has it")
        if len(self._entries) < len(entries):
            raise raw.refused("two entries of the archive have one name")
        locked = any(entry.flag_bits & 1 for entry in entries)
        if locked or any(name.endswith("keystore.xml") for name in self._entries):
            raise raw.refused("is encrypted (secure content)", f"{EXPORT} without a password")
        self.unit = ""
        self.objects: dict[Key, _Object] = {}
        self.used: set[Key] = set()
        self._parts: set[str] = set()
        self._instances = 0
        self._other_parts: dict[tuple[Key, str], str] = {}  # object, id of a component
        self._other_triangles: dict[Key, list[tuple[int, int, str]]] = defaultdict(list)
        self.root = "3d/3dmodel.model"
        if "_rels/.rels" in self._entries:
            for relation in self._parsed("_rels/.rels")[0].iter():
                if relation.get("Type") == _MODEL_RELATION:
                    self.root = _path(relation.attrib["Target"])
                    break
        if self.root not in self._entries:
            raise raw.refused("an archive without a 3D model", f"{EXPORT} as 3MF")
        self._read_slicers()

    def add(self, key: Key, matrix: FloatArray, above: tuple[Key, ...]) -> None:
        """Adds an object and its components.

        Args:
            key: of the object.
            matrix: (4, 4) its place, for columns.
            above: the objects that it is a component of.
        """
        raw = self._raw
        self._instances += 1
        if key in above or self._instances > MAX_INSTANCES:
            raise raw.refused("an object holds itself, or far too many others")
        if key[0] not in self._parts:
            self.read_part(key[0])
        found = self.objects.get(key)
        if found is None:
            raise raw.refused(f"names object {shown_name(key[1])}, which is missing")
        self.used.add(key)
        noted = {inner for inner, _ in found.components if (key, inner[1]) in self._other_parts}
        if len(noted) > len({number for _, number in noted}):
            raise raw.refused("a slicer's note of a part may be of two, of the same number")
        what = found.kind
        if what == "model" and above:
            what = self._other_parts.get((above[-1], key[1]), what)
        if what != "model":
            self._leave_out(what)
            self.used |= {inner for inner, _ in found.components}
            return
        kept = np.ones(len(found.triangles), dtype=bool)
        for first, last, kind in self._other_triangles.get(key, ()):
            self._leave_out(kind)
            kept[first : last + 1] = False
        raw.add(found.vertices, found.triangles[kept], matrix)
        for inner, place in found.components:
            self.add(inner, matrix @ place, (*above, key))

    def _leave_out(self, kind: str) -> None:
        if "negative" in kind.lower():
            what = "a slicer's negative volume is to be cut out of it"
            raise self._raw.refused(what, "cut it out, and export again")
        self._raw.leave_out(f"objects of the type {shown_name(kind)}", "no part of the model")

    def _read_slicers(self) -> None:
        """What slicers note of volumes that are not part of the model, by ids of the root."""
        for path, name in (
            ("metadata/model_settings.config", "part"),  # Bambu Studio and its kin
            ("metadata/slic3r_pe_model.config", "volume"),  # PrusaSlicer: parts of one mesh
        ):
            if path not in self._entries:
                continue
            for one in self._parsed(path)[0].iter("object"):
                key = self.root, one.attrib["id"]
                for part in one.iter(name):
                    if name == "part" and part.get("subtype", "normal_part") != "normal_part":
                        self._other_parts[key, part.attrib["id"]] = part.attrib["subtype"]
                    notes = {n.get("key"): n.get("value") for n in part.iter("metadata")}
                    kind = notes.get("volume_type") or "ModelPart"
                    if notes.get("modifier") == "1" and kind == "ModelPart":
                        kind = "ParameterModifier"
                    if name == "volume" and kind != "ModelPart":
                        span = int(part.attrib["firstid"]), int(part.attrib["lastid"])
                        self._other_triangles[key].append((*span, kind))

    def _parsed(self, path: str) -> tuple[Element, dict[str, str]]:
        """A part's XML; its namespaces by prefix."""
        if path not in self._entries:
            raise self._raw.refused(f"its part {shown_name(path)} is missing")
        content = self._archive.read(self._entries[path])
        if b"<!DOCTYPE" in content.replace(b"\0", b""):  # whose entities could take all memory
            raise self._raw.refused("its XML has a document type, which 3MF forbids")
        reader = ElementTree.iterparse(io.BytesIO(content), ("start-ns",))
        spaces = {prefix: uri for _, (prefix, uri) in reader}
        root: Element = reader.root  # type: ignore[attr-defined]  # there is one at its end
        return root, spaces

    def read_part(self, path: str) -> list[tuple[Key, FloatArray, bool]]:
        """Reads the objects of a model part; returns its items and whether they are printed."""
        root, spaces = self._parsed(path)
        self._parts.add(path)
        if _name(root) != "model":
            raise self._raw.refused("its 3D model is no `model`")
        for prefix in root.get("requiredextensions", "").split():
            uri = spaces.get(prefix, prefix)
            if uri not in _READ:
                what = f"needs the extension {shown_name(prefix)} ({shown_name(uri)})"
                raise self._raw.refused(f"{what}, which is not understood", f"{EXPORT} without it")
        unit = root.get("unit", "millimeter").strip().lower()
        if unit not in UNITS:
            raise self._raw.refused(f"its unit {shown_name(unit)} is none of {', '.join(UNITS)}")
        if self.unit not in ("", UNITS[unit]):
            raise self._raw.refused(f"has parts in different units ({self.unit}, {UNITS[unit]})")
        self.unit = UNITS[unit]
        items = []
        for element in root.iter():
            if _name(element) == "object":
                key = path, element.attrib["id"]
                if key in self.objects:
                    raise self._raw.refused(f"has two objects of the number {shown_name(key[1])}")
                self.objects[key] = self._object(path, element)
            elif _name(element) == "item":
                printed = element.get("printable", "1").strip().lower() not in ("0", "false")
                items.append((*self._reference(path, element), printed))
        return items

    def _object(self, path: str, element: Element) -> _Object:
        if any(name.endswith("}slicestackid") for name in element.attrib):
            what = "holds an object made of slices, which is not understood"
            raise self._raw.refused(what, f"{EXPORT} as triangles")
        made = _Object(element.get("type", "model"))
        inner = [one for one in element if _name(one) in ("mesh", "components")]
        for one in (child for parent in (element, *inner) for child in parent):
            name, space = _name(one), one.tag[1:].partition("}")[0]
            if name not in _KNOWN and space not in _READ:
                what = f"holds `{shown_name(name.rpartition('}')[2])}`, which is not understood"
                raise self._raw.refused(what, f"{EXPORT} as plain triangles")
            if name == "vertices":
                points = np.array(self._rows(one, "vertex", "xyz", float))
                made.vertices = np.concatenate([made.vertices, points.reshape(-1, 3)])
            elif name == "triangles":
                numbers = self._rows(one, "triangle", ("v1", "v2", "v3"), int)
                triangles = np.array(numbers, np.int64).reshape(-1, 3)
                made.triangles = np.concatenate([made.triangles, triangles])
            elif name == "component":
                made.components.append(self._reference(path, one))
        for note in element.iter():  # Cura notes what an object is for
            mark = note.get("name", "").rpartition(":")[2]
            said = (note.text or "").strip().lower() in ("true", "1")
            if _name(note) == "metadata" and mark in _CURA and said:
                made.kind = mark
        return made

    def _rows(
        self, element: Element, row: str, columns: Iterable[str], kind: Callable[[bytes], float]
    ) -> list[float]:
        """The numbers of a list, which loses its rows, of which there may be a million."""
        rows = (one for one in element if _name(one) == row)
        texts = [one.get(column, "").encode() for one in rows for column in columns]
        what = _name(element)
        element.clear()
        return self._raw.numbers(iter(texts), len(texts), what, kind)

    def _reference(self, path: str, element: Element) -> tuple[Key, FloatArray]:
        """The object that is named, perhaps of another part, and its place (4, 4) for columns."""
        paths = [_path(text) for name, text in element.attrib.items() if name.endswith("}path")]
        matrix = np.eye(4)
        fields = element.get("transform", "").encode().split()
        if fields:
            if len(fields) != 12:
                raise self._raw.refused(f"a transform of {len(fields)} numbers, not 12")
            numbers = self._raw.numbers(iter(fields), 12, "transform")
            matrix[:3] = np.reshape(numbers, (4, 3)).T
        return ((paths or [path])[0], element.attrib["objectid"]), matrix


def _name(element: Element) -> str:
    """Of an element of the core standard; of another one its namespace too."""
    return element.tag.removeprefix("{" + _CORE + "}")


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
