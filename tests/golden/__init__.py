"""A fixed small run, and every output of it in full."""
