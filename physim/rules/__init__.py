"""What a roll is worth: no physics and no mesh library in here."""
