"""What a roll is worth and what the rules of a game are: no physics and no mesh library in here."""
