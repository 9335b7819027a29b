"""How likely each candidate makes a part's record, from the plan's integers, and how likely a value not listed does.

Likelihoods are of one record across candidates, so a factor that a record has for all of them is left out.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from hubbub_client.mechanisms.projective_geometry_response import points_in
from hubbub_decoder.counting.records import Records, chunks
from hubbub_decoder.joint.bloom import FloatArray, bloom_codes, bloom_other, bloom_table
from hubbub_decoder.joint.support import Codes, bit_vector, supports
from hubbub_decoder.mechanisms.rappor import bit_rates
from hubbub_decoder.screen.fields import numbers
from hubbub_registry import Metric

# Hashes of so many candidates and records are in memory at a time.
_CELLS_AT_ONCE = 1 << 22


@dataclass(frozen=True, eq=False)
class Side:
    """The likelihoods of ``rows`` records: ``table[codes[row, v]]`` for candidate v, and ``other[row]`` behind them.

    ``codes`` has shape (rows, d), ``other`` (rows,); None where the domain is closed, and nothing is left out.
    """

    codes: Codes
    table: FloatArray
    other: FloatArray | None

    def __len__(self) -> int:
        return len(self.codes)

    @property
    def width(self) -> int:
        """How many classes there are, with the one for all others."""
        return int(self.codes.shape[1]) + (self.other is not None)

    def at(self, rows: slice | np.ndarray) -> FloatArray:
        """The likelihoods of these rows; shape (len(rows), width)."""
        listed = self.table[self.codes[rows]]
        return listed if self.other is None else np.column_stack([listed, self.other[rows]])


def side_of(part: Metric, records: Records, candidates: Sequence[str]) -> Side:
    """The likelihoods of records, uint8 (rows, record_bytes); of a closed domain ``candidates`` are all values."""
    bloom = is_bloom(part)
    code = bloom_codes if bloom else supports
    step = max(1, _CELLS_AT_ONCE // max(len(candidates), _bits(part)))
    codes = [code(part, chunk, candidates) for chunk in chunks(records, step)]
    others = [] if part.closed else [_other(part, chunk) for chunk in chunks(records, step)]
    return Side(
        np.concatenate(codes) if codes else np.zeros((0, len(candidates)), np.uint8),
        bloom_table(part) if bloom else np.array(levels(part)),
        None if part.closed else np.concatenate([np.zeros(0), *others]),
    )


def is_bloom(part: Metric) -> bool:
    """Whether values set several bits, or one that others may set too."""
    return part.mechanism == "rappor" and bool(part.device.parameters["hashes"])


def bit_chances(part: Metric) -> tuple[float, float] | None:
    """The chance that a report shows 1 where its value sets a bit, and where it does not; None where it has no such.

    Other bits are independent of these: not so for subset selection.
    """
    p = part.device.parameters
    if part.mechanism == "rappor":
        one, zero = (float(rate) for rate in bit_rates(part))
        return one, zero
    if part.mechanism not in ("unary-encoding", "count-mean-sketch"):
        return None
    zero = p["threshold"] / (1 << p["precision"])
    return 0.5 if part.mechanism == "unary-encoding" else 1 - zero, zero


def levels(part: Metric) -> tuple[float, float]:
    """The likelihood of a record that does not support a candidate, and of one that does."""
    p = part.device.parameters
    chances = bit_chances(part)
    if chances is not None:
        one, zero = chances
        return (1 - one) / (1 - zero), one / zero
    t = p["threshold"] / (1 << p["precision"])
    if part.mechanism == "hadamard-count-mean-sketch":
        return 1.0, (1 - t) / t
    odds = t / (1 - t)
    if part.mechanism == "subset-selection":
        return 1.0, odds * (p["domain"] - p["size"]) / p["size"]
    # The others keep with probability t, else draw from all outputs: a share of them is the value's own.
    if part.mechanism == "randomized-response":
        share = 1 / p["domain"]
    elif part.mechanism == "local-hashing":
        share = 1 / (1 << p["width_bits"])
    elif part.mechanism == "hadamard-response":
        share = 1 / (2 << p["blocks_bits"])
    else:
        share = points_in(p["order"], p["dimension"] - 1) / points_in(p["order"], p["dimension"])
    return 1.0, 1 + odds / share


def _other(part: Metric, records: Records) -> FloatArray:
    """The mean over all buckets that an unlisted value can fall into; shape (n,)."""
    if is_bloom(part):
        return bloom_other(part, records)
    low, high = levels(part)
    if part.mechanism == "count-mean-sketch":
        share = bit_vector(part, records).mean(axis=1)
    elif part.mechanism == "local-hashing":
        share = np.full(len(records), 1 / (1 << part.device.parameters["width_bits"]))
    else:
        # Row 0 of a Hadamard matrix is +1 everywhere; any other row in one half of the buckets.
        sign = 1.0 - numbers(part, records, 2)
        share = np.where(numbers(part, records, 1) == 0, sign, 0.5)
    return np.asarray(low + (high - low) * share)


def _bits(part: Metric) -> int:
    return sum(bits for _, bits, _ in part.device.fields)
