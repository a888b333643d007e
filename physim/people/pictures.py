"""A throw as a small picture of letters that every terminal has."""

from __future__ import annotations

from physim.names import Pose
from physim.rules.throws import Throw

WIDTH = 26  # of one pig, for the longest caption

_STANDING = r"""
     ________/\
  ~ /          \__
   |          o __)
    \_________ /
     |_|   |_|
"""
_ON_BACK = r"""
     |"|   |"|
     _________
    /         \__
   |          o _)
  ~ \________ \/
"""
_DOT_UP = r"""

     ________/\
  ~ /   (*)    \__
   |          o __)
    \==______==/
"""
_DOT_DOWN = r"""

     ________/\
  ~ /          \__
   |          o __)
    \==______==/
"""
_ON_SNOUT = r"""
  ~ ___
   /   \_
  //     \_/\
   \\__     o\
       \|_|\__)
"""
_ON_JOWL = r"""
  ~ ____  //
   /    \_//
   \ |_    \_/\
    \|_\_  o   )
         \_|__/)
"""
_OTHER = r"""



        ?

"""


def _art(text: str) -> tuple[str, ...]:
    """The lines between the first and the last newline, all of one size."""
    lines = text.split("\n")[1:-1]
    return tuple(line.ljust(WIDTH) for line in lines)


_PICTURES = {
    Pose.SIDE_DOT_UP: _art(_DOT_UP),
    Pose.SIDE_DOT_DOWN: _art(_DOT_DOWN),
    Pose.TROTTER: _art(_STANDING),
    Pose.RAZORBACK: _art(_ON_BACK),
    Pose.SNOUTER: _art(_ON_SNOUT),
    Pose.LEANING_JOWLER: _art(_ON_JOWL),
    Pose.OTHER: _art(_OTHER),
}
_PIGS = ("black", "pink")


def picture(throw: Throw) -> list[str]:
    """Both pigs side by side with the names of their poses; empty where the poses are not known.

    Pigs that touch are drawn apart, as they would lie alone.
    """
    if throw.poses is None:
        return []
    rows = zip(*(_PICTURES[pose] for pose in throw.poses), strict=True)
    lines = ["".join(row).rstrip() for row in rows]
    while not lines[0]:
        del lines[0]
    captions = (f"  {name}: {pose.value}" for name, pose in zip(_PIGS, throw.poses, strict=True))
    return [*lines, "".join(caption.ljust(WIDTH) for caption in captions).rstrip()]
