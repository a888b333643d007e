"""What is thrown: pig models, their shape, mass and stable rests."""

from physim.pigs.model import LoadedModel, VisualMesh, build_model, load_all, load_model
from physim.pigs.model_file import model_folder, model_names
from physim.pigs.stable_poses import StableRest, model_rests, stable_rests

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
]
