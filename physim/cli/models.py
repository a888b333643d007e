"""`physim model`: pig models, what physics knows of them, and meshes of one's own."""

from __future__ import annotations

import io
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from physim.cli.options import decimal_number, file_path, json_option, printed, stacked
from physim.cli.output import clean_stdout, print_json
from physim.errors import ConfigError, ModelError, hint
from physim.files import scratch

if TYPE_CHECKING:
    from physim.importer.build import Options
    from physim.pigs.model import LoadedModel
    from physim.simulator import RestTable

_MOST_RESTS = 20  # in the text
_CONTACT = ("lateral_friction", "restitution", "rolling_friction", "spinning_friction")
_ASTRAY = 0.05  # of the length: how far apart the middles of parts and mesh may be


@click.group()
def model() -> None:
    """Pig models: list, show, check and add a mesh of your own, build, export."""


@model.command("list")
@printed
def list_models() -> tuple[Any, str]:
    """List the models that come with physim, and your own."""
    from physim.pigs.model_file import model_names, own_names

    names = [*model_names(), *own_names()]
    return names, "\n".join(names)


@model.command()
@click.argument("name", metavar="NAME|FOLDER")
@printed
def show(name: str) -> tuple[Any, str]:
    """Show a model's size, mass, inertia, friction and stable rests."""
    from physim.pigs.model import load_all
    from physim.simulator import RestTable

    loaded = load_all(name)
    shown = model_to_json(loaded, RestTable.of(loaded.model))
    return shown, model_text(shown)


@model.command()
@click.argument("folder", metavar="NAME|FOLDER")
def build(folder: str) -> None:
    """Make the files of a sculpted model, or the parts of an added one, anew from its YAML."""
    with clean_stdout() as stdout:
        from physim.pigs.model import build_model, load_all
        from physim.pigs.model_file import model_folder, read_model_file
        from physim.simulator import write_precomputed

        lines: list[object]
        if read_model_file(model_folder(folder)).landmarks is None:
            settings = build_model(folder).settings
            lines = [settings.mesh, settings.parts, write_precomputed(folder)]
        else:
            from physim.importer import folder as importer

            parts = importer.rebuild_parts(model_folder(folder))
            problems = importer.problem_lines(importer.problems_to_json(parts.problems))
            lines = [*importer.parts_lines(parts), *problems, load_all(folder).settings.parts]
        stdout.write("".join(f"{line}\n" for line in lines))


@model.command()
@click.argument("name", metavar="NAME|FOLDER")
@click.argument("folder", metavar="OUT", type=click.Path(path_type=Path))
def urdf(name: str, folder: Path) -> None:
    """Write a model as URDF with its meshes, in metres, into the folder OUT."""
    with clean_stdout() as stdout:
        from physim.pigs.model import load_all, write_urdf

        stdout.write(f"{write_urdf(load_all(name), folder)}\n")


def model_to_json(loaded: LoadedModel, rests: RestTable) -> dict[str, Any]:
    """A model as plain values, lengths in mm, masses in g."""
    pig, mass = loaded.model, loaded.mass
    corners = pig.vertices_m
    size_m = corners.max(axis=0) - corners.min(axis=0)
    return {
        "name": pig.name,
        "size_mm": [1e3 * float(length) for length in size_m],
        "mass_g": 1e3 * mass.mass_kg,
        "volume_mm3": 1e9 * mass.volume_m3,
        "center_of_mass_mm": [1e3 * float(c) for c in mass.center_of_mass_m],
        "inertia_g_mm2": [[1e9 * float(c) for c in row] for row in pig.inertia_kg_m2],
        "parts": len(pig.parts),
        "parts_volume_mm3": 1e9 * loaded.parts_union[0],
        "warnings": _warnings(loaded),
        "dot_side": pig.dot_side,
        **{name: getattr(pig, name) for name in _CONTACT},
        "contact_stiffness_n_m": pig.contact_stiffness_n_m,
        "stable": [
            {
                "rest": named.rest.index,
                "pose": named.pose.value,
                "probability": named.rest.probability,
                "margin": float(named.margin),
                "height_mm": 1e3 * named.rest.height_m,
                "supports": list(dict.fromkeys(named.rest.supports)),
            }
            for named in rests.rests
        ],
    }


def model_text(shown: dict[str, Any]) -> str:
    """What `model_to_json` gives, as a text of 80 columns or a little more."""
    soft = shown["contact_stiffness_n_m"]
    size = " x ".join(f"{length:.1f}" for length in shown["size_mm"])
    center = ", ".join(f"{c:.2f}" for c in shown["center_of_mass_mm"])
    more = shown["parts_volume_mm3"] / shown["volume_mm3"] - 1.0
    parts = f"{shown['parts']} convex part{'s' * (shown['parts'] != 1)}"
    lines = [
        f"{shown['name']}: {size} mm, {parts}, dot on the {shown['dot_side']} flank",
        f"mass {shown['mass_g']:.3f} g, volume {shown['volume_mm3']:.0f} mm3, "
        f"of the parts together {shown['parts_volume_mm3']:.0f} ({more:+.1%})",
        *(f"warning: {warning}" for warning in shown["warnings"]),
        f"centre of mass ({center}) mm in the mesh's frame",
        "inertia about it, in the pig frame (g mm2):",
        *("  " + " ".join(f"{value:10.2f}" for value in row) for row in shown["inertia_g_mm2"]),
        *(f"{name.replace('_', ' ')} {shown[name]:g}" for name in _CONTACT),
        *([f"soft: {soft:g} N/m at each point of contact"] if soft else []),
        "stable rests, from random orientations without speed:",
        f"{'rest':>4}  {'pose':16}{'probability':>11}{'height mm':>11}  supports",
    ]
    for rest in shown["stable"][:_MOST_RESTS]:
        lines.append(
            f"{rest['rest']:>4}  {rest['pose']:16}{rest['probability']:>11.4f}"
            f"{rest['height_mm']:>11.2f}  {', '.join(rest['supports'])}"
        )
    if more := shown["stable"][_MOST_RESTS:]:
        share = sum(rest["probability"] for rest in more)
        lines.append(f" ...  {len(more)} more, {share:.4f} together; --json tells them all")
    return "\n".join(lines)


def _warnings(loaded: LoadedModel) -> list[str]:
    """Where parts and mesh are not one and the same pig."""
    import numpy as np

    from physim.pigs.model import ANOTHER_PIG
    from physim.types import BODY_PARTS

    path, found = loaded.settings.parts, []
    volume_m3, middle_m = loaded.parts_union
    more = volume_m3 / loaded.mass.volume_m3 - 1.0
    if abs(more) > ANOTHER_PIG:
        found.append(
            f"{path}: the parts together have {abs(more):.0%} {'more' if more > 0 else 'less'} "
            "volume than the mesh, whose mass they carry; make them follow it"
        )
    offset_m = loaded.settings.axes @ loaded.settings.offset_m  # of the origin from the centroid
    astray_m = float(np.linalg.norm(middle_m + offset_m))
    if astray_m > _ASTRAY * loaded.model.length_m:
        found.append(
            f"{path}: the middle of the parts lies {1e3 * astray_m:.1f} mm from the mesh's; move "
            "them to where the mesh is"
        )
    unknown = {part.label for part in loaded.model.parts} - {*BODY_PARTS, "body", "solid"}
    for label in sorted(unknown):
        found.append(
            f"{path}: the part `{label}` is none of the body parts that poses are read from"
            f"{hint(label, BODY_PARTS)}"
        )
    for name, share in loaded.hulls.items():
        found.append(
            f"{path}: the part `{name}` is not convex or not closed; its hull stands for it, with "
            f"{share:.0%} more volume; cut it into convex parts"
        )
    return found


_AXIS = click.Choice(["x", "-x", "y", "-y", "z", "-z"])
_mesh_options = stacked(
    click.option(
        "--unit",
        type=click.Choice(["mm", "cm", "inch", "m"]),
        help="Unit of the file; without it as the file says, or guessed from the size.",
    ),
    click.option(
        "--length-mm", type=decimal_number(5, 1999), metavar="MM", help="Scale to this length."
    ),
    click.option("--force", is_flag=True, help="Take an unlikely size, from 5 mm to 2 m."),
    click.option("--forward", type=_AXIS, help="The snout's axis in the file."),
    click.option("--up", type=_AXIS, help="The back's axis in the file."),
    click.option("--dot-side", type=click.Choice(["right", "left"]), help="The dotted flank."),
    click.option(
        "--mass-g", type=decimal_number(0.01, 1e4), metavar="G", help="Else from the density."
    ),
    click.option(
        "--density-g-cm3",
        type=decimal_number(1e-3, 1e4),
        default=0.96,
        metavar="D",
        help="Density of the material, evenly filled.",
    ),
    click.option(
        "--center-of-mass-offset-mm",
        "offset_mm",
        type=(decimal_number(-100, 100),) * 3,
        default=(0.0, 0.0, 0.0),
        metavar="X Y Z",
        help="Of the centre of mass from the centroid: forward, left, up.",
    ),
    click.option("--largest", is_flag=True, help="Keep only the largest of several loose bodies."),
    click.option("--picture", type=file_path, metavar="PNG", help="Draw the ways it can lie."),
    json_option,
)


@model.command()
@click.argument("file", type=file_path)
@_mesh_options
def check(file: Path, picture: Path | None, as_json: bool, **given: Any) -> None:
    """Tell what physim makes of a mesh: STL, OBJ, PLY, GLB, glTF, 3MF or OFF.

    Size, mass, stable rests and poses, and each problem with what was done about it or what to
    do. Exit code 2 where the mesh cannot be used as it is.
    """
    with scratch() as folder:
        _add(file, _options(given), folder / "model", file.stem, picture, as_json)


@model.command()
@click.argument("file", type=file_path)
@click.option(
    "--out", type=file_path, metavar="FOLDER", help="The new model; else kept under its name."
)
@click.option("--name", help="Of the model; else the file's, without what no name may hold.")
@_mesh_options
def add(
    file: Path,
    out: Path | None,
    name: str | None,
    picture: Path | None,
    as_json: bool,
    **given: Any,
) -> None:
    """Make a model of a mesh, for `--model NAME` or `--model FOLDER` of every command.

    Without --out it is kept in the user's data folder, and known by its name everywhere.
    """
    from physim.importer.folder import refuse_taken
    from physim.pigs.model_file import own_folder

    if out is None:
        name = re.sub(r"[^\w.-]+", "-", file.stem).strip("-_.")[:64] if name is None else name
        if not name:
            raise ConfigError(f"{file}: no name for the model can be made of it; give --name")
        out = own_folder(name)
    refuse_taken(out)
    made = f"the model: {out}; its landmarks and friction: {out / 'model.yaml'}\n"
    _add(file, _options(given), out, name or file.stem, picture, as_json, made)


@model.command()
@click.argument("name", metavar="NAME|FOLDER")
@click.argument("file", type=file_path)
@click.option("--drawn", is_flag=True, help="The finer mesh of the pictures.")
@click.option("--force", is_flag=True, help="Write over a file that is there.")
@printed
def export(name: str, file: Path, drawn: bool, force: bool) -> tuple[Any, str]:
    """Write a model as STL, OBJ, PLY, GLB, 3MF or OFF, to print it.

    It is the solid that is thrown: the union of the convex parts. In mm (GLB: metres), snout
    along x, back along z (GLB: y), the centre of mass at the origin.
    """
    from physim.importer.formats import export as write
    from physim.pigs.model import load_all

    if file.exists() and not force:
        raise ConfigError(f"{file}: is there already; choose another name, or give --force")
    made = write(load_all(name), file, drawn)
    x, y, z = offset = [float(c) for c in made.offset_mm]
    plain = {
        "file": str(file),
        "faces": made.faces,
        "volume_mm3": made.volume_mm3,
        "mass_g": made.mass_g,
        "center_of_mass_offset_mm": offset,
    }
    return plain, (
        f"{file}: {made.faces:,} faces, {made.volume_mm3:.0f} mm3\n"
        f"its centre of mass is not the centroid; `physim model add` brings it back with "
        f"--mass-g {made.mass_g:g} --center-of-mass-offset-mm {x:.4f} {y:.4f} {z:.4f}"
    )


def _options(given: dict[str, Any]) -> Options:
    from physim.importer.build import Options

    forward, up = given["forward"], given["up"]
    if forward and up and forward[-1] == up[-1]:
        raise ConfigError(f"--forward {forward} and --up {up} name one axis; give two")
    return Options(**given)


def _add(
    file: Path,
    options: Options,
    folder: Path,
    name: str,
    picture: Path | None,
    as_json: bool,
    made: str = "",
) -> None:
    """Writes the model of a mesh into a folder, and what was found and made to stdout."""
    from physim.importer.build import RefusedMeshError, import_mesh
    from physim.importer.folder import problem_lines, problems_to_json, text, to_json, write_folder
    from physim.pigs.model import load_all
    from physim.simulator import RestTable

    if picture is not None and (picture.is_dir() or not picture.parent.is_dir()):
        raise ConfigError(f"{picture}: no place for a file; choose another --picture")
    with clean_stdout() as stdout:
        try:
            imported = import_mesh(file, options)
        except (ModelError, ConfigError) as error:
            found = [{"kind": "refused", "where": str(file), "action": str(error)}]
            if isinstance(error, RefusedMeshError):
                found = problems_to_json(error.problems)
            if as_json:
                print_json({"ok": False, "file": str(file), "problems": found}, stdout)
            elif isinstance(error, RefusedMeshError):
                stdout.write("\n".join([f"{file}: cannot be used", *problem_lines(found)]) + "\n")
            raise
        write_folder(imported, folder, name)
        loaded = load_all(folder)
        rests = RestTable.of(loaded.model)
        report = model_to_json(loaded, rests) | {"name": name} | to_json(imported, rests)
        center = imported.mesh.axes.T @ (1e3 * loaded.mass.center_of_mass_m)
        report["center_of_mass_mm"] = (center + imported.mesh.middle_mm).tolist()  # file's axes
        if picture is not None:
            try:
                _draw(folder, name, picture)
            except ConfigError as error:
                raise ConfigError(f"{error}; the model was made: {folder}") from error
        if as_json:
            print_json(report, stdout)
        else:
            stdout.write(f"{model_text(report)}\n\n{text(report)}\n{made}")


def _draw(folder: Path, name: str, picture: Path) -> None:
    from physim.files import told, write_whole
    from physim.render.gallery import rest_sheet

    content = io.BytesIO()
    rest_sheet(str(folder), name=name).save(content, "PNG")
    with told(ConfigError, f"{picture}: cannot be written", "choose another --picture"):
        write_whole(picture, content.getvalue())
