"""Rolls that no fit has seen, beside real ones and finer ones; and what each parameter does."""
