"""The standard pig as named numbers.

Frame while sculpting: x forward, y left, z up; the soles stand on z = 0 and the
body's long axis lies in the plane y = 0. Lengths are in millimetres, as in the
YAML file; everything is multiplied by `scale` at the end.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any

from physim import config


@dataclass(frozen=True)
class PigShape:
    """What a sculptor would measure on the toy.

    Attributes:
        scale: factor on every length; 1 is the toy of about 40 mm.
        rump_x_mm, rump_z_mm, rump_length_mm, rump_width_mm, rump_height_mm: centre and full
            axes of the ellipsoid of the hind quarters.
        shoulder_x_mm, ...: the same for the fore quarters.
        head_x_mm, ...: the same for the head.
        snout_x_mm: where the flat disc stands.
        snout_z_mm: height of the disc's centre.
        snout_radius_mm: radius of the disc.
        snout_tilt_deg: the disc faces this much upwards.
        ear_root_x_mm, ear_root_y_mm, ear_root_z_mm: middle of the ear's root (left ear; the right
            one is its mirror image).
        ear_root_width_mm: length of the root.
        ear_turn_deg: turn of the root about the y axis; 0 lies along x, 90 upright.
        ear_tip_x_mm, ear_tip_y_mm, ear_tip_z_mm: middle of the blunt tip.
        ear_tip_width_mm: length of the tip's edge.
        left_ear_forward_mm, left_ear_out_mm, left_ear_up_mm: how the left tip differs from the
            right one's mirror image (an assumption: it makes the leaning jowler one-sided).
        ear_thickness_mm: of the flap.
        foot_radius_mm: of a sole.
        hip_radius_mm: of a leg where it enters the body.
        hip_z_mm: height of that place.
        hip_spread: y of the hips as a fraction of the feet's.
        front_left_x_mm, front_left_y_mm, ...: centres of the four soles; y is counted outwards.
        tail_x_mm, tail_z_mm: centre of the curl.
        tail_radius_mm: outer radius of the curl.
        dot_x_mm, dot_z_mm, dot_radius_mm: the coloured dot on the right flank, flush.
    """

    scale: float = 1.0
    rump_x_mm: float = -8.5
    rump_z_mm: float = 11.5
    rump_length_mm: float = 18.0
    rump_width_mm: float = 15.0
    rump_height_mm: float = 14.5
    shoulder_x_mm: float = 3.5
    shoulder_z_mm: float = 11.3
    shoulder_length_mm: float = 18.0
    shoulder_width_mm: float = 14.5
    shoulder_height_mm: float = 13.6
    head_x_mm: float = 11.5
    head_z_mm: float = 11.5
    head_length_mm: float = 12.0
    head_width_mm: float = 12.0
    head_height_mm: float = 11.5
    snout_x_mm: float = 20.5
    snout_z_mm: float = 9.5
    snout_radius_mm: float = 3.2
    snout_tilt_deg: float = 0.0
    ear_root_x_mm: float = 9.0
    ear_root_y_mm: float = 5.0
    ear_root_z_mm: float = 15.0
    ear_root_width_mm: float = 6.0
    ear_turn_deg: float = 30.0
    ear_tip_x_mm: float = 9.0
    ear_tip_y_mm: float = 11.0
    ear_tip_z_mm: float = 17.0
    ear_tip_width_mm: float = 2.5
    left_ear_forward_mm: float = 0.0
    left_ear_out_mm: float = 0.0
    left_ear_up_mm: float = 0.0
    ear_thickness_mm: float = 1.8
    foot_radius_mm: float = 1.8
    hip_radius_mm: float = 2.8
    hip_z_mm: float = 8.5
    hip_spread: float = 0.8
    front_left_x_mm: float = 4.5
    front_left_y_mm: float = 5.0
    front_right_x_mm: float = 8.0
    front_right_y_mm: float = 5.0
    hind_left_x_mm: float = -8.0
    hind_left_y_mm: float = 5.0
    hind_right_x_mm: float = -14.0
    hind_right_y_mm: float = 5.0
    tail_x_mm: float = -14.5
    tail_z_mm: float = 17.5
    tail_radius_mm: float = 1.7
    dot_x_mm: float = -3.0
    dot_z_mm: float = 12.0
    dot_radius_mm: float = 2.0

    def fingerprint(self) -> str:
        """Hash of all parameters; files built from other parameters have another one."""
        text = json.dumps({"sculptor": SCULPTOR, **asdict(self)}, sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()[:16]


SCULPTOR = 2  # raise when the same parameters give another form
SHAPE_KEYS = tuple(f.name for f in fields(PigShape))
_LIMIT_MM = 60.0  # a typing slip in a unit should fail here, not in the mesher
_RANGES = {
    "scale": (0.1, 50.0),
    "hip_z_mm": (3.0, _LIMIT_MM),  # above the feet, which are 2 mm high
    "hip_spread": (0.0, 3.0),
}


def shape_from_mapping(data: Mapping[str, Any], where: str) -> PigShape:
    """Reads the parameters; what is not given keeps its default.

    Raises:
        ConfigError: unknown keys, or values that are not usable numbers.
    """
    config.check_keys(data, SHAPE_KEYS, where)
    return PigShape(**{key: config.number_at(data, key, where, *shape_range(key)) for key in data})


def shape_range(key: str) -> tuple[float, float]:
    """The least and the largest value of a parameter."""
    if key in _RANGES:
        return _RANGES[key]
    if key.endswith("_deg"):
        return -180.0, 180.0
    size = key.endswith(("radius_mm", "length_mm", "width_mm", "height_mm", "thickness_mm"))
    return (0.2 if size else -_LIMIT_MM), _LIMIT_MM
