"""The names on the wire: of pigs, body parts, poses, outcomes, and of what physics did."""

from __future__ import annotations

from enum import Enum

BLACK, PINK = "black", "pink"
PIG_NAMES = (BLACK, PINK)
TABLE = "table"
FEET = ("front_left_foot", "front_right_foot", "hind_left_foot", "hind_right_foot")
BODY_PARTS = (
    "snout",
    "head",
    "left_ear",
    "right_ear",
    "shoulders",
    "trunk",
    "rump",
    "tail",
    *FEET,
    "front_left_leg",
    "front_right_leg",
    "hind_left_leg",
    "hind_right_leg",
)


class Pose(str, Enum):
    """How one pig lies. `OTHER` is a rest that the rules do not name."""

    SIDE_DOT_UP = "side_dot_up"
    SIDE_DOT_DOWN = "side_dot_down"
    TROTTER = "trotter"
    RAZORBACK = "razorback"
    SNOUTER = "snouter"
    LEANING_JOWLER = "leaning_jowler"
    OTHER = "other"


class Outcome(str, Enum):
    """What a roll of two pigs is called; the last three are not in the rules."""

    SIDER = "sider"
    PIG_OUT = "pig_out"
    TROTTER = "trotter"
    DOUBLE_TROTTER = "double_trotter"
    RAZORBACK = "razorback"
    DOUBLE_RAZORBACK = "double_razorback"
    SNOUTER = "snouter"
    DOUBLE_SNOUTER = "double_snouter"
    LEANING_JOWLER = "leaning_jowler"
    DOUBLE_LEANING_JOWLER = "double_leaning_jowler"
    MIXED_COMBO = "mixed_combo"
    OINKER = "oinker"
    PIGGYBACK = "piggyback"
    OFF_TABLE = "off_table"
    UNSETTLED = "unsettled"
    AMBIGUOUS = "ambiguous"


class Status(str, Enum):
    """What physics did with a roll."""

    OK = "ok"
    OFF_TABLE = "off_table"
    UNSETTLED = "unsettled"


class Ended(str, Enum):
    """Why the simulation of a roll stopped."""

    REST = "rest"
    CERTAIN = "certain"
