"""Where the data folders `meshes/` and `calibration/` are, and the user's own models.

In a checkout the data folders lie beside the package; a wheel carries them inside it.
"""

from __future__ import annotations

import os
from pathlib import Path

_PACKAGE = Path(__file__).resolve().parent


def data_folder(name: str) -> Path:
    """The folder `meshes` or `calibration`, in a checkout or an installed wheel."""
    packaged = _PACKAGE / "data" / name
    return packaged if packaged.is_dir() else _PACKAGE.parent / name


def own_models() -> Path:
    """The folder of the models that the user added by name; need not be there."""
    base = os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share"
    return Path(base) / "physim" / "models"
