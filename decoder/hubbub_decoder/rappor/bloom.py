"""The bits that each candidate's Bloom filter sets in each cohort."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
from scipy import sparse

from hubbub_decoder.counting.hashing import Keys, buckets, item_keys
from hubbub_decoder.errors import CandidateError
from hubbub_registry import Metric

# Set bits of all candidates in all cohorts: 1 GB of memory.
MAX_PLACES = 1 << 26
_AT_ONCE = 1 << 22


def candidate_bits(metric: Metric, candidates: Sequence[str]) -> sparse.csc_array:
    """A 0/1 matrix of shape (cohorts x bits, d): row ``cohort * bits + bit``. At most cohorts x hashes a column.

    Raises CandidateError for a list that is too long to hold in memory.
    """
    parameters = metric.device.parameters
    cohorts, hashes, bits = parameters["cohorts"], parameters["hashes"], parameters["bits"]
    check_places(f"metric {metric.name}", len(candidates), cohorts * hashes)
    keys = item_keys(candidates, parameters["salt"])
    index = np.arange(cohorts * hashes)
    rows = np.empty((len(candidates), len(index)), np.int32)
    block = max(1, _AT_ONCE // len(index))
    for start in range(0, len(candidates), block):
        part = Keys(keys.first[start : start + block], keys.second[start : start + block])
        # Hash functions cohort * hashes .. + hashes - 1 are the cohort's own, as in the client.
        place = buckets(part, parameters["salt"], index, parameters["bits_bits"])
        rows[start : start + block] = (place + (index // hashes * bits)[:, np.newaxis]).T
    return from_places(rows, cohorts * bits)


def check_places(what: str, candidates: int, each: int) -> None:
    """Raises CandidateError where ``candidates`` with up to ``each`` set bits do not fit in memory."""
    if candidates * each > MAX_PLACES:
        raise CandidateError(
            f"{what}: {candidates:,} candidates with {each:,} bits each; {MAX_PLACES // each:,} are as many as can be "
            "decoded at a time. Leave out those that cannot be frequent"
        )


def from_places(rows: npt.NDArray[np.int32], height: int) -> sparse.csc_array:
    """The 0/1 matrix (height, d) whose column v holds 1 in ``rows[v]``; sorts ``rows``, which may repeat a number."""
    rows.sort(axis=1)
    # Two hash functions that hit one bit set it once.
    new = np.ones(rows.shape, np.bool_)
    new[:, 1:] = rows[:, 1:] != rows[:, :-1]
    starts = np.concatenate([[0], np.cumsum(new.sum(axis=1))]).astype(np.int32)
    places = rows[new]
    return sparse.csc_array((np.ones(len(places)), places, starts), shape=(height, len(rows)))
