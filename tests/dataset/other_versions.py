"""Loaded into a Dask worker (`--preload`), which then looks like one of another release."""

from importlib import metadata

_version = metadata.version
metadata.version = lambda name: "0.0" if name == "pybullet" else _version(name)
