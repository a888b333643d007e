"""The one small tree of exceptions for what a user can put right.

The command line turns every `PhysimError` into one message on stderr and exit
code 2. What physics did (unsettled, off the table, ambiguous) is data, not an
error.
"""

from __future__ import annotations


class PhysimError(Exception):
    """Base class: says what is wrong, where, and what to do about it."""


class ConfigError(PhysimError):
    """A YAML file, a flag or an argument with an unusable value."""


class ModelError(PhysimError):
    """A pig model that cannot be loaded or built."""


class DatasetError(PhysimError):
    """A dataset folder that is missing, damaged, or of another configuration."""


class DisplayError(PhysimError):
    """No display where one is needed."""


class PhysicsError(PhysimError):
    """The engine produced states that are not numbers."""


class WorkerError(PhysimError):
    """Worker processes that died."""


class GameError(PhysimError):
    """A move that the rules do not allow now, or a saved game that cannot be used."""
