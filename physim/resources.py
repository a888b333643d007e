"""Where the data folders `meshes/` and `calibration/` are.

In a checkout they lie beside the package; a wheel carries them inside it.
"""

from __future__ import annotations

from pathlib import Path

_PACKAGE = Path(__file__).resolve().parent


def data_folder(name: str) -> Path:
    """The folder `meshes` or `calibration`, in a checkout or an installed wheel."""
    packaged = _PACKAGE / "data" / name
    return packaged if packaged.is_dir() else _PACKAGE.parent / name
