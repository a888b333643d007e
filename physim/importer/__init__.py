"""A mesh of one's own: from a file of a 3D program to a model folder.

`formats` reads and writes, `repair` closes and joins, `landmarks` finds snout, back and body parts,
`convex_parts` cuts and decomposes; `build` does it all, in child processes with limits (`child`)
where a stranger's file is read; `folder` writes the model and tells what was found.
"""
