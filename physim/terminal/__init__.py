"""People at a terminal: games with bots, the score pad for real pigs, the score sheet on paper."""
