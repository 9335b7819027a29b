"""What values that are not listed add to the error, where they fall into the same buckets in every report.

The class for all others takes its value as falling anywhere. A value that many hold, and nobody listed, falls into one
bucket under each hash function (each cohort), so under some it looks like a candidate, under others unlike it: an error
that stays, however many report, and is 0 on average over hash functions. Where nothing of the kind is, the scores of
the reports of one hash function add up to what independent reports give; what they add up to beyond that is this error.
"""

from __future__ import annotations

import numpy as np

from hubbub_decoder.joint.bloom import FloatArray
from hubbub_decoder.joint.fit import Fit
from hubbub_decoder.joint.information import information
from hubbub_decoder.joint.pairs import IntArray, Pairs


def spread(pairs: Pairs, fit: Fit) -> FloatArray:
    """The variance of one report's influence on each cell, as the reports show it; (A, B)."""
    mean, inverse = fit.step.mean.ravel(), fit.step.inverse
    moments = information(pairs, fit.likeliest) - np.outer(mean, mean)
    return np.asarray(((inverse @ moments) * inverse).sum(axis=1).reshape(fit.free.shape))


def excess(pairs: Pairs, hash_index: IntArray, fit: Fit, alone: FloatArray, side: int) -> FloatArray:
    """The variance of each cell's share that reports of one hash function add; (A, B), and not negative.

    ``hash_index`` (u,) is that of ``side`` (0, 1) of ``pairs``, none of which are merged across hash functions;
    ``alone`` is what ``spread`` gives. A value falls on one candidate as likely as on another, so what it adds is the
    mean over all candidates of the side.
    """
    n = float(pairs.count.sum())
    used, group = np.unique(hash_index, return_inverse=True)
    sums = np.zeros((len(used), fit.likeliest.size))
    order = np.argsort(group, kind="stable")
    sorted_pairs = Pairs(pairs.first, pairs.second, pairs.i[order], pairs.j[order], pairs.count[order])
    at = 0
    for first, second, count in sorted_pairs.chunks():
        chance = np.einsum("ra,ra->r", first @ fit.likeliest, second)
        score = ((first / chance[:, np.newaxis])[:, :, np.newaxis] * second[:, np.newaxis, :]).reshape(len(first), -1)
        score -= fit.step.mean.ravel()
        groups = group[order[at : at + len(count)]]
        at += len(count)
        starts = np.flatnonzero(np.concatenate([[True], groups[1:] != groups[:-1]]))
        sums[groups[starts]] += np.add.reduceat(score * count[:, np.newaxis], starts, axis=0)
    together = ((sums @ fit.step.inverse) ** 2).sum(axis=0).reshape(alone.shape) / n**2
    more = np.moveaxis(together - alone / n, side, 0)
    more[:-1] = more[:-1].mean(axis=0)  # the last one is the class of all others
    return np.asarray(np.maximum(np.moveaxis(more, 0, side), 0.0))
