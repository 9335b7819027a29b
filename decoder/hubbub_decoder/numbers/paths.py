"""The moments of the weights of all buckets, or of the shares below them, at once: what ``Tree.weights`` tells of one.

Only nodes on the way from the root to the bucket, and their siblings, have weights of their own: any other has the
weight that its ancestor among those siblings brings. So on level l there are 2 l + 3 different weights at most.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from hubbub_decoder.consistent import FloatArray
from hubbub_decoder.numbers.levels import Level
from hubbub_decoder.numbers.moments import WeightMoments
from hubbub_decoder.numbers.tree import Tree

Positions = npt.NDArray[np.int64]


def path_moments(
    tree: Tree, levels: Sequence[Level], bucket: Positions, below: FloatArray, *, prefix: bool
) -> list[WeightMoments]:
    """For each level the moments of its weights, with arrays of the shape of ``bucket``.

    Asked is each bucket's own share, or with ``prefix`` that of all buckets below it. ``below`` (buckets + 1,) is the
    share of values below each bucket, as far as is known: it never falls, from 0 to 1.
    """
    buckets = len(below) - 1
    sizes = [buckets // level.nodes for level in levels]
    # How much of the share of the node on the way is asked: evenly spread, if nothing but that share were known.
    asked = [(bucket % size if prefix else np.ones_like(bucket)) / size for size in (buckets, *sizes)]
    found = []
    for at in range(len(levels)):
        carry = [float(np.prod([1 - own for own in tree.own[j:at]])) for j in range(at + 1)]
        moments = WeightMoments.none(bucket.shape)
        own = np.zeros(bucket.shape)
        for j in range(at + 1):
            size, above = sizes[j], (buckets, *sizes)[j]
            start, parent = bucket // size * size, bucket // above * above
            scale = sizes[j] // sizes[at]
            for first, last, whole in ((parent, start, float(prefix)), (start + size, parent + above, 0.0)):
                weight = tree.own[at] * (own + carry[j] * (whole - asked[j]))
                moments.add(weight, (last - first) // size * scale, below[last] - below[first])
            own = own + carry[j] * (asked[j + 1] - asked[j])
        start = bucket // sizes[at] * sizes[at]
        moments.own = tree.own[at] * own
        moments.add(moments.own, np.ones_like(bucket), below[start + sizes[at]] - below[start])
        found.append(moments)
    return found
