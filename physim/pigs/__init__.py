"""What is thrown: pig models, their shape, mass and stable rests."""

from physim.pigs.by_name import (
    build_model,
    load_all,
    load_model,
    model_folder,
    model_names,
    visual_mesh,
)
from physim.pigs.model import LoadedModel, VisualMesh
from physim.pigs.stable_poses import (
    StableRest,
    model_rests,
    stable_rests,
)

__all__ = [
    "LoadedModel",
    "StableRest",
    "VisualMesh",
    "build_model",
    "load_all",
    "load_model",
    "model_folder",
    "model_names",
    "model_rests",
    "stable_rests",
    "visual_mesh",
]
