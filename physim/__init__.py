"""A physics-based simulator of Pass the Pigs."""
