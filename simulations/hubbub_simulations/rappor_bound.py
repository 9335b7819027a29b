"""What no unbiased estimate from RAPPOR's reports can beat: from whole reports (Cramer-Rao), and from bit counts."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from hubbub_decoder.mechanisms.rappor import bit_rates
from hubbub_decoder.rappor.bloom import candidate_bits
from hubbub_registry import Metric
from hubbub_simulations.bits import Bytes, Floats


def bound(metric: Metric, values: Sequence[str], holders: NDArray[np.int64], records: Bytes) -> Floats:
    """The bound on the standard error of each value's count among these reports, ``(d,)``; for one or two hashes.

    The likelihood of a report is a mixture over values, with what candidates leave over held by values whose bits are
    random: the model that the decoder fits. Its information is the mean outer product of the scores, over ``records``
    themselves (a sample from the true law; an inverse of d parameters from n of them is (d/n) too large). The
    inverse bounds the error about a superpopulation's shares; the counts are of the devices that reported, so what
    drawing them adds, f (1 - f), is taken off.
    """
    p = metric.device.parameters
    n, share = int(holders.sum()), holders / holders.sum()
    one, zero = (float(rate) for rate in bit_rates(metric))
    if_set, if_not = np.log(one / zero), np.log((1 - one) / (1 - zero))
    filters = candidate_bits(metric, values).toarray().reshape(p["cohorts"], p["bits"], len(values))
    cohort, reported = _unpack(metric, records)
    information = np.zeros((len(values), len(values)))
    for number in range(p["cohorts"]):
        gain = np.where(reported[cohort == number], if_set, if_not)
        ratio = np.exp(gain @ filters[number])
        other = _random_bits(np.exp(gain), p["hashes"])
        mixture = ratio @ share + other * (1 - share.sum())
        score = (ratio - other[:, np.newaxis]) / mixture[:, np.newaxis]
        information += score.T @ score
    variance = np.diag(np.linalg.inv(information / len(records)))
    return np.asarray(np.sqrt(n * (variance - share * (1 - share))))


def counts_bound(metric: Metric, values: Sequence[str], holders: NDArray[np.int64]) -> Floats:
    """The same bound for estimates from bit counts, ``(d,)``: of least squares with the exact covariance of the counts.

    Bits of one report are correlated, since one value set them, so a cohort's counts are. For values that are all that
    devices hold.
    """
    p = metric.device.parameters
    n, share = int(holders.sum()), holders / holders.sum()
    one, zero = (float(rate) for rate in bit_rates(metric))
    filters = candidate_bits(metric, values).toarray().reshape(p["cohorts"], p["bits"], len(values))
    background = 1 - (1 - 1 / p["bits"]) ** p["hashes"]
    information = np.zeros((len(values), len(values)))
    for held in filters:
        is_set = held @ share
        rate = zero + (one - zero) * is_set
        covariance = (held * share) @ held.T - np.outer(is_set, is_set)
        np.fill_diagonal(covariance, rate * (1 - rate) / (one - zero) ** 2)
        design = held - background
        information += design.T @ np.linalg.solve(covariance, design) / p["cohorts"]
    variance = np.diag(np.linalg.inv(information))
    return np.asarray(np.sqrt(n * (variance - share * (1 - share))))


def _random_bits(ratio: Floats, hashes: int) -> Floats:
    """The mean likelihood ratio over all filters: hash functions are independent, and may hit one bit together."""
    bits = ratio.shape[1]
    first = ratio.sum(axis=1)
    if hashes == 1:
        return np.asarray(first / bits)
    if hashes == 2:
        return np.asarray((first**2 - (ratio**2).sum(axis=1) + first) / bits**2)
    raise ValueError(f"{hashes} hash functions: the bound is written out for one and two")


def _unpack(metric: Metric, records: Bytes) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    unpacked = np.unpackbits(records, axis=1, bitorder="little")
    width = metric.device.fields[0][1]
    cohort = unpacked[:, :width] @ (1 << np.arange(width))
    return cohort, unpacked[:, width : width + metric.device.parameters["bits"]].astype(np.bool_)
