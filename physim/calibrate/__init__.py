"""Parameters that agree with real rolls: what may be fitted, how far off it is, and the search."""
