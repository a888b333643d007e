"""`physim model check`, `add` and `export`: a mesh of one's own, and a mesh of a model."""

from __future__ import annotations

import io
import re
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

import click

from physim.arguments import number
from physim.cli.model import model_text, model_to_json
from physim.cli.options import file_path, json_option
from physim.cli.output import clean_stdout, print_json
from physim.errors import ConfigError, ModelError
from physim.files import scratch

if TYPE_CHECKING:
    from physim.importer.build import Imported, Options

AXES = ("x", "-x", "y", "-y", "z", "-z")
_positive = click.FloatRange(1e-3, 1e4)  # g or g/cm3; the model file has its own limits
_OPTIONS = (
    click.option(
        "--unit",
        type=click.Choice(["mm", "cm", "inch", "m"]),
        help="Of the file. Without it: as the file says, or guessed from the size.",
    ),
    click.option(
        "--length-mm", type=click.FloatRange(5, 1999), metavar="MM", help="Scale to this length."
    ),
    click.option("--force", is_flag=True, help="Take an unlikely size, from 5 mm to 2 m."),
    click.option("--forward", type=click.Choice(AXES), help="The snout's axis in the file."),
    click.option("--up", type=click.Choice(AXES), help="The back's axis in the file."),
    click.option("--dot-side", type=click.Choice(["right", "left"]), help="The dotted flank."),
    click.option(
        "--mass-g",
        type=click.FloatRange(0.01, 1e4),
        metavar="G",
        help="Without it, from the density.",
    ),
    click.option(
        "--density-g-cm3",
        type=_positive,
        default=0.96,
        show_default=True,
        metavar="D",
        help="Of the material, evenly filled.",
    ),
    click.option(
        "--center-of-mass-offset-mm",
        "offset_mm",
        type=float,
        nargs=3,
        default=(0.0, 0.0, 0.0),
        metavar="X Y Z",
        help="Of the centre of mass from the centroid: forward, left, up.",
    ),
    click.option("--largest", is_flag=True, help="Keep only the largest of several loose bodies."),
)


def mesh_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """What a user may say of a mesh."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


@click.command()
@click.argument("file", type=file_path)
@mesh_options
@click.option("--picture", type=file_path, metavar="PNG", help="Draw the ways it can lie.")
@json_option
def check(file: Path, picture: Path | None, as_json: bool, **given: Any) -> None:
    """Tell what physim makes of a mesh: STL, OBJ, PLY, GLB, glTF, 3MF or OFF.

    Size, mass, stable rests and poses, and each problem with what was done about it or what to
    do. Exit code 2 where the mesh cannot be used as it is.
    """
    with clean_stdout() as stdout, scratch() as folder:
        _add(file, _options(given), folder / "model", file.stem, picture, as_json, stdout)


@click.command()
@click.argument("file", type=file_path)
@click.option(
    "--out", type=file_path, metavar="FOLDER", help="The new model; else kept under its name."
)
@click.option("--name", help="Of the model; else the file's, without what no name may hold.")
@mesh_options
@click.option("--picture", type=file_path, metavar="PNG", help="Draw the ways it can lie.")
@json_option
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
    with clean_stdout() as stdout:
        from physim.importer.folder import refuse_taken
        from physim.pigs.library import own_folder

        if out is None:
            name = _name_of(file) if name is None else name
            out = own_folder(name)
        refuse_taken(out)
        _add(file, _options(given), out, name or file.stem, picture, as_json, stdout)
        if not as_json:
            stdout.write(f"the model: {out}; its landmarks and friction: {out / 'model.yaml'}\n")


@click.command()
@click.argument("name", metavar="NAME|FOLDER")
@click.argument("file", type=file_path)
@click.option("--drawn", is_flag=True, help="The finer mesh of the pictures.")
@click.option("--force", is_flag=True, help="Write over a file that is there.")
@json_option
def export(name: str, file: Path, drawn: bool, force: bool, as_json: bool) -> None:
    """Write a model as STL, OBJ, PLY, GLB, 3MF or OFF, to print it.

    It is the solid that is thrown: the union of the convex parts. In mm (GLB: metres), snout
    along x, back along z (GLB: y), the centre of mass at the origin.
    """
    with clean_stdout() as stdout:
        from physim.importer.export import export as write
        from physim.pigs.library import load_all

        if file.exists() and not force:
            raise ConfigError(f"{file}: is there already; choose another name, or give --force")
        made = write(load_all(name), file, drawn)
        if as_json:
            shown = {"file": str(file), "faces": made.faces, "volume_mm3": made.volume_mm3}
            offset = [float(c) for c in made.offset_mm]
            print_json(shown | {"mass_g": made.mass_g, "center_of_mass_offset_mm": offset}, stdout)
            return
        x, y, z = made.offset_mm
        stdout.write(
            f"{file}: {made.faces:,} faces, {made.volume_mm3:.0f} mm3\n"
            f"its centre of mass is not the centroid; `physim model add` brings it back with "
            f"--mass-g {made.mass_g:g} --center-of-mass-offset-mm {x:.4f} {y:.4f} {z:.4f}\n"
        )


def _name_of(file: Path) -> str:
    """A model's name made of a file's."""
    name = re.sub(r"[^\w.-]+", "-", file.stem).strip("-_.")[:64]
    if not name:
        raise ConfigError(f"{file}: no name for the model can be made of the file's; give --name")
    return name


def _options(given: dict[str, Any]) -> Options:
    from physim.importer.build import Options
    from physim.pigs.modelfile import MOST_OFFSET_MM

    for name in ("length_mm", "mass_g", "density_g_cm3"):
        if given[name] is not None:
            number(f"--{name.replace('_', '-')}", given[name])  # no range holds NaN off
    offset = tuple(given.pop("offset_mm"))
    if not all(abs(c) <= MOST_OFFSET_MM for c in offset):  # NaN too
        raise ConfigError(
            f"--center-of-mass-offset-mm must be three numbers up to {MOST_OFFSET_MM:g}"
        )
    forward, up = given["forward"], given["up"]
    if forward and up and forward[-1] == up[-1]:
        raise ConfigError(f"--forward {forward} and --up {up} name one axis; give two")
    return Options(**given, offset_mm=offset)


def _add(
    file: Path,
    options: Options,
    folder: Path,
    name: str,
    picture: Path | None,
    as_json: bool,
    stdout: TextIO,
) -> None:
    from physim.importer.build import RefusedMeshError, import_mesh
    from physim.importer.folder import write_folder
    from physim.importer.report import problem_lines, problems_to_json, text

    if picture is not None and (picture.is_dir() or not picture.parent.is_dir()):
        raise ConfigError(f"{picture}: no place for a file; choose another --picture")
    try:
        imported = import_mesh(file, options)
    except (ModelError, ConfigError) as error:
        if not isinstance(error, RefusedMeshError):
            if as_json:
                problem = {"kind": "refused", "where": str(file), "action": str(error)}
                print_json({"ok": False, "file": str(file), "problems": [problem]}, stdout)
            raise
        found = problems_to_json(error.problems)
        if as_json:
            print_json({"ok": False, "file": str(file), "problems": found}, stdout)
        else:
            stdout.write("\n".join([f"{file}: cannot be used", *problem_lines(found)]) + "\n")
        raise
    write_folder(imported, folder, name)
    report = _report(imported, folder, name)
    if picture is not None:
        try:
            _draw(folder, name, picture)
        except ConfigError as error:
            raise ConfigError(f"{error}; the model was made: {folder}") from error
    if as_json:
        print_json(report, stdout)
    else:
        stdout.write(f"{model_text(report)}\n\n{text(report)}\n")


def _draw(folder: Path, name: str, picture: Path) -> None:
    from physim.files import told, write_whole
    from physim.view.gallery import rest_sheet

    content = io.BytesIO()
    rest_sheet(str(folder), name=name).save(content, "PNG")
    with told(ConfigError, f"{picture}: cannot be written", "choose another --picture"):
        write_whole(picture, content.getvalue())


def _report(imported: Imported, folder: Path, name: str) -> dict[str, Any]:
    from physim.importer.report import to_json
    from physim.pigs.library import load_all
    from physim.rests import RestTable

    loaded = load_all(folder)
    rests = RestTable.of(loaded.model)
    shown = model_to_json(loaded, rests) | {"name": name}
    center = imported.mesh.axes.T @ (1e3 * loaded.mass.center_of_mass_m)
    shown["center_of_mass_mm"] = (center + imported.mesh.middle_mm).tolist()  # the file's axes
    return shown | to_json(imported, rests)
