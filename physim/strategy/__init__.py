"""Who decides: strategies, the exact solution of the two-player game, and tournaments."""
