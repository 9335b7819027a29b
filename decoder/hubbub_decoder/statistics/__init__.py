"""How counts are distributed, and what follows: tails, intervals, tests and their corrections."""
