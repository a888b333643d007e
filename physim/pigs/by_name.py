"""The pig models by name: those under `meshes/`, any folder with a `model.yaml`, the user's own."""

from __future__ import annotations

import re
from functools import lru_cache
from pathlib import Path

from physim.config import text
from physim.errors import ConfigError, hint, shown_name
from physim.files import data_folder, own_models
from physim.pigs.model import LoadedModel, VisualMesh, build_folder, load_folder
from physim.pigs.model_file import FILE_NAME
from physim.types import PigModel

_NAME = re.compile(r"[^\W_][\w.-]{0,63}")


def model_names() -> tuple[str, ...]:
    """Names of the models that come with physim."""
    return tuple(sorted(path.parent.name for path in data_folder("meshes").glob(f"*/{FILE_NAME}")))


def own_names() -> tuple[str, ...]:
    """Names of the models that the user added by name."""
    try:
        found = sorted(path.parent.name for path in own_models().glob(f"*/{FILE_NAME}"))
    except (OSError, RuntimeError):  # not readable, or a user without a home
        return ()
    return tuple(name for name in found if _NAME.fullmatch(name))


def own_folder(name: str) -> Path:
    """Where a model of the user's is, or would be, kept under a name.

    Raises:
        ConfigError: no name for a model, or one that comes with physim.
    """
    if not _NAME.fullmatch(name):
        raise ConfigError(
            f"model name `{shown_name(name)}`: must be up to 64 letters, digits, `_`, `-` and `.`, "
            "and begin with a letter or digit"
        )
    if name in model_names():
        raise ConfigError(f"model name `{name}`: comes with physim; choose another name")
    try:
        return own_models() / name
    except RuntimeError as error:
        raise ConfigError(f"no home folder to keep the model in ({error}); give --out") from error


def model_folder(name_or_path: str | Path) -> Path:
    """The folder of a model.

    What comes with physim goes before a folder of that name, and that before the user's own.

    Raises:
        ConfigError: neither a known name nor a folder with a `model.yaml`.
    """
    name = text("model", name_or_path)
    if name in model_names():
        return data_folder("meshes") / name
    try:
        if (Path(name) / FILE_NAME).is_file():
            return Path(name)
    except OSError:  # such as a name too long for a path
        pass
    own = own_names()
    if name in own:
        return own_models() / name
    every = (*model_names(), *own)
    raise ConfigError(
        f"model `{shown_name(name)}`: neither a folder with a {FILE_NAME} nor one of "
        f"{', '.join(every)}{hint(name, every)}"
    )


def load_all(name_or_path: str | Path) -> LoadedModel:
    """The model with its visual mesh and mass properties.

    Raises:
        ConfigError: unknown name or unusable YAML.
        ModelError: missing, stale or unusable mesh files.
    """
    folder = model_folder(name_or_path)
    stamps = tuple(
        (path.name, path.stat().st_mtime_ns) for path in sorted(folder.iterdir()) if path.is_file()
    )
    return _load(folder, str(name_or_path), stamps)


@lru_cache(maxsize=8)
def _load(folder: Path, name: str, stamps: tuple[tuple[str, int], ...]) -> LoadedModel:
    del stamps  # only makes an edited file a different key
    return load_folder(folder, name)


def load_model(name_or_path: str | Path) -> PigModel:
    """The model as physics sees it; raises as `load_all`."""
    return load_all(name_or_path).model


def visual_mesh(name_or_path: str | Path) -> VisualMesh:
    """The model as it looks; raises as `load_all`."""
    return load_all(name_or_path).visual


def build_model(name_or_path: str | Path) -> LoadedModel:
    """Makes a sculpted model's mesh files anew from its YAML, and loads them.

    Raises:
        ConfigError: unknown name or unusable YAML.
        ModelError: a model without `shape`, or a folder that cannot be written to.
    """
    build_folder(model_folder(name_or_path))
    return load_all(name_or_path)
