"""How fast physim is: rolls a second of one core, beside other ways to roll the same pigs."""
