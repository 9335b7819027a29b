"""Solving the sequence fragment puzzle: from the sketch of fragments to strings that are worth counting.

For every position the sketch says which fragments occur together with which puzzle piece; fragments of one piece are
put together, and what they spell must have that piece as its own hash.
"""

from hubbub_decoder.puzzle.solve import solve

__all__ = ["solve"]
