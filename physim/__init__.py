"""A physics-based simulator of Pass the Pigs."""

__version__ = "0.1.0"
