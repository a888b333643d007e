"""Counts of many rolls, intervals, and the distance to a table of real rolls."""
