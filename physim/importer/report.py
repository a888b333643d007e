"""What `physim model check` and `physim model add` tell of a mesh."""

from __future__ import annotations

from typing import Any

import numpy as np

from physim.importer.build import Imported
from physim.importer.convex_parts import Parts
from physim.importer.orient import axes_text
from physim.importer.solids import Problem
from physim.simulator import RestTable
from physim.types import FloatArray, Pose

SYMMETRIC = 0.005  # of the length: mean distance between a mesh and its mirror image


def problems_to_json(problems: list[Problem]) -> list[dict[str, str]]:
    """As plain values."""
    return [{"kind": p.kind, "where": p.where, "action": p.action} for p in problems]


def to_json(imported: Imported, rests: RestTable) -> dict[str, Any]:
    """What the mesh's own folder does not tell: problems, symmetry, poses, parts' distance."""
    poses = {pose.value: 0.0 for pose in Pose}
    for named in rests.rests:
        poses[named.pose.value] += named.rest.probability
    held = {named.pose for named in rests.rests}
    share = asymmetry(imported.mesh.vertices_mm)
    return {
        "ok": True,
        "file": str(imported.path),
        "problems": problems_to_json(imported.problems),
        "axes": axes_text(imported.mesh.axes),
        "asymmetry": share,
        "symmetric": share < SYMMETRIC,
        "landmarks": {label: list(box) for label, box in imported.mesh.marks.items()},
        "parts_distance_mm": {
            "mesh_out_of_parts": imported.parts.uncovered_mm,
            "parts_out_of_mesh": imported.parts.bulge_mm,
        },
        "poses": poses,
        "cannot_hold": [pose.value for pose in Pose if pose is not Pose.OTHER and pose not in held],
    }


def asymmetry(vertices: FloatArray) -> float:
    """Mean distance of a pig's vertices (n, 3) from their mirror image, as a share of its length.

    The mirror is the plane between left and right through the middle of the bounding box.
    """
    from scipy.spatial import cKDTree

    middle = 0.5 * float(vertices[:, 1].min() + vertices[:, 1].max())
    mirrored = vertices * np.array([1.0, -1.0, 1.0]) + np.array([0.0, 2.0 * middle, 0.0])
    distance, _ = cKDTree(vertices).query(mirrored)
    return float(distance.mean() / np.ptp(vertices[:, 0]))


def text(report: dict[str, Any]) -> str:
    """The findings as lines of text."""
    lines = [f"{report['file']}: {report['axes']}"]
    mirror = "symmetric" if report["symmetric"] else "not symmetric"
    lines.append(f"left and right: {mirror} ({report['asymmetry']:.1%} of the length)")
    apart = report["parts_distance_mm"]
    lines.append(
        f"parts: the mesh reaches {apart['mesh_out_of_parts']:.2f} mm out of them, they "
        f"{apart['parts_out_of_mesh']:.2f} mm out of the mesh (over hollows), the most of all "
        "corners and some thousand points of each surface"
    )
    held = ", ".join(f"{name} {p:.1%}" for name, p in report["poses"].items() if p > 0)
    lines.append(f"poses it can hold, from random orientations without speed: {held or 'none'}")
    if report["cannot_hold"]:
        lines.append("poses of the rules that it cannot: " + ", ".join(report["cannot_hold"]))
    return "\n".join([*lines, *problem_lines(report["problems"])])


def parts_lines(parts: Parts) -> list[str]:
    """What each label took of the mesh."""
    labels = [label for label, _ in parts.corners]
    return [
        f"{label}: {share:.1%} of the volume, {count} part{'s' if count > 1 else ''}"
        for label, share in parts.shares.items()
        if (count := labels.count(label))
    ]


def problem_lines(problems: list[dict[str, str]]) -> list[str]:
    """One line a problem."""
    if not problems:
        return ["no problems"]
    return ["found:", *(f"  {p['kind']}: {p['where']}: {p['action']}" for p in problems)]
