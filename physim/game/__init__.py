"""The game: turns, scores and Hog Calls as an event log. Takes any source of outcomes."""
