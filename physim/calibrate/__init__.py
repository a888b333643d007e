"""Makes the pigs agree with real ones: parameters, rolls, deviance, next parameters."""
