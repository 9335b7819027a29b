"""Likelihoods of RAPPOR's Bloom filters: how many of a candidate's bits a report shows.

Given the cohort, a report's bits are independent: 1 with q* where the filter holds 1, with p* where it holds 0. Against
an empty filter, each of a candidate's bits that shows 1 makes it likelier by q*/p*, each other by (1 - q*)/(1 - p*).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
from scipy import special

from hubbub_decoder.counting.hashing import buckets, item_keys
from hubbub_decoder.counting.records import Records
from hubbub_decoder.joint.support import Codes, bit_vector
from hubbub_decoder.mechanisms.rappor import bit_rates
from hubbub_decoder.screen.fields import numbers
from hubbub_registry import Metric

FloatArray = npt.NDArray[np.float64]


def bloom_codes(part: Metric, records: Records, candidates: Sequence[str]) -> Codes:
    """For each record and candidate (h + 1) s + c: s of the c bits that the candidate sets show 1; shape (n, d)."""
    hashes = part.device.parameters["hashes"]
    cohort, which = np.unique(numbers(part, records, 0), return_inverse=True)
    places = np.sort(filter_places(part, cohort, candidates), axis=1)
    new = np.ones(places.shape, np.bool_)  # two hash functions that hit one bit set it once
    new[:, 1:] = places[:, 1:] != places[:, :-1]
    bits = bit_vector(part, records)
    code: Codes = new.sum(axis=1, dtype=np.uint8)[which]
    for i in range(hashes):
        shown = np.take_along_axis(bits, places[:, i][which], axis=1)
        code += np.uint8(hashes + 1) * (shown & new[:, i][which])
    return code


def filter_places(part: Metric, cohort: npt.NDArray[np.int64], candidates: Sequence[str]) -> npt.NDArray[np.int64]:
    """The bit that each hash function of each cohort hits, for every candidate; shape (cohorts, hashes, d)."""
    p = part.device.parameters
    index = (cohort[:, np.newaxis] * p["hashes"] + np.arange(p["hashes"])).ravel()
    places = buckets(item_keys(candidates, p["salt"]), p["salt"], index, p["bits_bits"])
    return places.reshape(len(cohort), p["hashes"], len(candidates))


def bloom_table(part: Metric) -> FloatArray:
    """The likelihood of each code, against an empty filter."""
    hashes = part.device.parameters["hashes"]
    one, zero = (float(rate) for rate in bit_rates(part))
    shown, held = np.divmod(np.arange((hashes + 1) ** 2), hashes + 1)
    likelihood: FloatArray = (one / zero) ** shown * ((1 - one) / (1 - zero)) ** (held - shown)
    return np.where(shown <= held, likelihood, 0.0)


def bloom_other(part: Metric, records: Records) -> FloatArray:
    """The likelihood of a value that is not listed: the mean over all that its hash functions can hit; shape (n,).

    c different bits of k are a uniform set, of which s show 1 by the hypergeometric law.
    """
    p = part.device.parameters
    bits, hashes = p["bits"], p["hashes"]
    different = _occupancy(hashes, bits)
    table = bloom_table(part).reshape(hashes + 1, hashes + 1)
    shown = np.arange(bits + 1)
    mean = np.zeros(bits + 1)
    for held in range(1, hashes + 1):
        for ones in range(held + 1):
            ways = special.comb(shown, ones) * special.comb(bits - shown, held - ones)
            mean += different[held] * table[ones, held] * ways / special.comb(bits, held)
    return np.asarray(mean[bit_vector(part, records).sum(axis=1)])


def _occupancy(hashes: int, bits: int) -> FloatArray:
    """The chance that ``hashes`` uniform hits among ``bits`` set 0, 1, 2, ... different ones."""
    chance = np.zeros(hashes + 1)
    chance[0] = 1.0
    held = np.arange(hashes + 1)
    for _ in range(hashes):
        moved = chance * (1 - held / bits)
        chance = chance * held / bits
        chance[1:] += moved[:-1]
    return chance
