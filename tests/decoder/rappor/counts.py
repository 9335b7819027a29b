"""RAPPOR bit counts drawn from their exact law, for tests that need many: no report is made one by one."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from scipy import sparse

from hubbub_decoder.consistent import FloatArray
from hubbub_decoder.rappor.observed import BitRates


def draw(
    design: sparse.csc_array, cohorts: int, holders: npt.NDArray[np.int64], rates: BitRates, source: np.random.Generator
) -> tuple[FloatArray, FloatArray]:
    """``sums`` (cohorts, bits) and ``reports`` (cohorts,): given the devices in a cohort, its bits are independent."""
    bits = design.shape[0] // cohorts
    held = source.multinomial(holders, np.full(cohorts, 1 / cohorts))
    reports = held.sum(axis=0)
    filters = design.toarray().reshape(cohorts, bits, -1)
    set_in = np.einsum("cbv,vc->cb", filters, held).astype(np.int64)
    ones = source.binomial(set_in, rates.one) + source.binomial(reports[:, np.newaxis] - set_in, rates.zero)
    return ones.astype(np.float64), reports.astype(np.float64)


def random_design(
    cohorts: int, bits: int, hashes: int, candidates: int, source: np.random.Generator
) -> sparse.csc_array:
    """Candidates whose hash functions are uniform and independent."""
    place = source.integers(0, bits, (candidates, cohorts, hashes)) + np.arange(cohorts)[:, np.newaxis] * bits
    dense = np.zeros((cohorts * bits, candidates))
    dense[place.reshape(candidates, -1).T, np.arange(candidates)] = 1
    return sparse.csc_array(dense)
