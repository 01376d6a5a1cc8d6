"""No positional encoding: nothing is added anywhere."""
SEED = 1000
