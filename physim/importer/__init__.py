"""A mesh of one's own: from a file of a 3D program to a model folder.

`formats` reads, `scale` finds the unit, `repair` closes and joins, `orient` finds snout and back,
`landmarks` the body parts, `parts` cuts into convex parts; `build` does it all in child processes
with limits (`child`), `folder` writes the model, `report` tells what was found.
"""
