"""`physim model`: the pig models that there are, and what physics knows of them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from physim.arguments import hint
from physim.cli.options import json_option
from physim.cli.output import clean_stdout, print_json

if TYPE_CHECKING:
    from physim.pigs.model import LoadedModel
    from physim.rests import RestTable

_MOST_RESTS = 20  # in the text
_ASTRAY = 0.05  # of the length: how far apart the middles of parts and mesh may be


@click.group()
def model() -> None:
    """Pig models: list, show, check and add a mesh of your own, build, export."""


@model.command("list")
@json_option
def list_models(as_json: bool) -> None:
    """List the models that come with physim, and your own."""
    with clean_stdout() as stdout:
        from physim.pigs.library import model_names, own_names

        names = [*model_names(), *own_names()]
        if as_json:
            print_json(names, stdout)
        else:
            stdout.write("".join(f"{name}\n" for name in names))


@model.command()
@click.argument("name", metavar="NAME|FOLDER")
@json_option
def show(name: str, as_json: bool) -> None:
    """Show a model's size, mass, inertia, friction and stable rests."""
    with clean_stdout() as stdout:
        from physim.pigs.library import load_all
        from physim.rests import RestTable

        loaded = load_all(name)
        shown = model_to_json(loaded, RestTable.of(loaded.model))
        if as_json:
            print_json(shown, stdout)
        else:
            stdout.write(model_text(shown) + "\n")


@model.command()
@click.argument("folder", metavar="NAME|FOLDER")
def build(folder: str) -> None:
    """Make the files of a sculpted model, or the parts of an added one, anew from its YAML."""
    with clean_stdout() as stdout:
        from physim.pigs.library import build_model, load_all, model_folder
        from physim.pigs.modelfile import read_model_file
        from physim.prepared import keep

        if read_model_file(model_folder(folder)).landmarks is not None:
            from physim.importer.folder import rebuild_parts
            from physim.importer.report import parts_lines, problem_lines, problems_to_json

            parts = rebuild_parts(model_folder(folder))
            lines = [*parts_lines(parts), *problem_lines(problems_to_json(parts.problems))]
            stdout.write("".join(f"{line}\n" for line in lines))
            stdout.write(f"{load_all(folder).settings.parts}\n")
            return
        built = build_model(folder)
        stdout.write(f"{built.settings.mesh}\n{built.settings.parts}\n{keep(folder)}\n")


@model.command()
@click.argument("name", metavar="NAME|FOLDER")
@click.argument("folder", metavar="OUT", type=click.Path(path_type=Path))
def urdf(name: str, folder: Path) -> None:
    """Write a model as URDF with its meshes, in metres, into the folder OUT."""
    with clean_stdout() as stdout:
        from physim.pigs.library import load_all
        from physim.pigs.urdf import write_urdf

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
        "lateral_friction": pig.lateral_friction,
        "restitution": pig.restitution,
        "rolling_friction": pig.rolling_friction,
        "spinning_friction": pig.spinning_friction,
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
    size = " x ".join(f"{length:.1f}" for length in shown["size_mm"])
    center = ", ".join(f"{c:.2f}" for c in shown["center_of_mass_mm"])
    more = shown["parts_volume_mm3"] / shown["volume_mm3"] - 1.0
    lines = [
        f"{shown['name']}: {size} mm, {shown['parts']} convex parts, dot on the "
        f"{shown['dot_side']} flank",
        f"mass {shown['mass_g']:.3f} g, volume {shown['volume_mm3']:.0f} mm3, "
        f"of the parts together {shown['parts_volume_mm3']:.0f} ({more:+.1%})",
        *(f"warning: {warning}" for warning in shown["warnings"]),
        f"centre of mass ({center}) mm in the mesh's frame",
        "inertia about it, in the pig frame (g mm2):",
        *("  " + " ".join(f"{value:10.2f}" for value in row) for row in shown["inertia_g_mm2"]),
        *(
            f"{name.replace('_', ' ')} {shown[name]:g}"
            for name in (
                "lateral_friction",
                "restitution",
                "rolling_friction",
                "spinning_friction",
            )
        ),
        *_soft(shown["contact_stiffness_n_m"]),
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

    from physim.names import BODY_PARTS
    from physim.pigs.model import ANOTHER_PIG

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


def _soft(stiffness_n_m: float) -> list[str]:
    if not stiffness_n_m:
        return []
    return [f"soft: {stiffness_n_m:g} N/m at each point of contact"]
