"""The bits that each candidate's Bloom filter sets in each cohort."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy import sparse

from hubbub_decoder.hashing import buckets, item_keys
from hubbub_registry import Metric


def candidate_bits(metric: Metric, candidates: Sequence[str]) -> sparse.csc_array:
    """A 0/1 matrix of shape (cohorts x bits, d): row ``cohort * bits + bit``. At most cohorts x hashes a column."""
    parameters = metric.device.parameters
    cohorts, hashes, bits = parameters["cohorts"], parameters["hashes"], parameters["bits"]
    keys = item_keys(candidates, parameters["salt"])
    index = np.arange(cohorts * hashes)
    # Hash functions cohort * hashes .. + hashes - 1 are the cohort's own, as in the client.
    rows = buckets(keys, parameters["salt"], index, parameters["bits_bits"]) + (index // hashes * bits)[:, np.newaxis]
    columns = np.broadcast_to(np.arange(len(candidates)), rows.shape)
    matrix = sparse.csc_array(
        (np.ones(rows.size), (rows.ravel(), columns.ravel())), shape=(cohorts * bits, len(candidates))
    )
    matrix.sum_duplicates()
    matrix.data[:] = 1.0  # two hash functions that hit one bit set it once
    return matrix
