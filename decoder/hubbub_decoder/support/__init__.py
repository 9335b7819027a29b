"""Counts from how many reports support a value: at two rates, or with values that collide."""
