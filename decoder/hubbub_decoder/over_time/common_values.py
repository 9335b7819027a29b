"""Two periods' distributions of a number with the errors that go with the values of both: for tests of no change."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from hubbub_decoder.numbers import Distribution


def alike_buckets(before: Distribution, after: Distribution) -> bool:
    """Whether both have the same buckets."""
    return np.array_equal(before.first, after.first)


def with_common_values(before: Distribution, after: Distribution) -> tuple[Distribution, Distribution]:
    """Both, of the same buckets, as if the values were spread in either as in both together: their errors then are.

    At its own values a period of few reports may have next to no error, where by chance it has none of a kind.
    """
    likely = (before.n * before.likely + after.n * after.likely) / (before.n + after.n)
    return replace(before, likely=likely), replace(after, likely=likely)
