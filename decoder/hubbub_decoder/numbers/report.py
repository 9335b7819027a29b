"""The moments of what one report adds to an answer."""

from __future__ import annotations

from typing import NamedTuple

from hubbub_decoder.consistent import FloatArray


class ReportMoments(NamedTuple):
    """Of one report of a level, where the values are spread in a certain way: the means of what it adds to each of d
    answers, of the square of that, and of its cube; shape (d,), in shares."""

    first: FloatArray
    second: FloatArray
    third: FloatArray
