"""Decodes d-bit flip: for each bucket, the ones of the reports that speak of it (Ding, Kulkarni, Yekhanin 2017,
section 4)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from hubbub_decoder.consistent import onto_simplex
from hubbub_decoder.counting.records import Records, bits_at, check_domain, check_shape, chunks
from hubbub_decoder.counting.state import State, merge
from hubbub_decoder.errors import RecordError
from hubbub_decoder.estimates import Estimates
from hubbub_decoder.permanent_bit import shown_rates
from hubbub_decoder.statistics.binomial import FalseSupportOfSome
from hubbub_registry import Metric

__all__ = ["estimate", "merge", "partial"]


def partial(metric: Metric, records: Records) -> State:
    """For each bucket how many reports speak of it, and how many of those with a 1.

    ``covering`` and ``ones`` have shape (buckets,). A bucket twice in one report, which no client sends and no range
    check can see, is counted twice: one bad report must not stop a decoder.
    """
    check_shape(metric, records)
    fields = metric.device.fields
    buckets, bits = metric.device.parameters["buckets"], metric.device.parameters["bits"]
    width, first_bit = fields[0][1], sum(field[1] for field in fields[:-1])
    covering, ones = np.zeros(buckets, np.int64), np.zeros(buckets, np.int64)
    for chunk in chunks(records):
        _check_padding(metric, chunk, first_bit + bits)
        for i in range(bits):
            bucket = bits_at(chunk, i * width, width)
            check_domain(metric, bucket, buckets, "bucket")
            covering += np.bincount(bucket, minlength=buckets)
            ones += np.bincount(bucket[bits_at(chunk, first_bit + i, 1) == 1], minlength=buckets)
    return State.of(metric, len(records), covering=covering, ones=ones)


def estimate(metric: Metric, state: State, candidates: Sequence[str]) -> Estimates:
    """A report adds (k/d) (bit - q) / (p - q) to each of its d of k buckets, so it expects to add 1 to its value's
    bucket and 0 to any other; that d of k are drawn is what the factor k/d undoes.

    The square of that expects to be (k/d) pq/(p-q)^2 for another bucket and, since p + q = 1, k/d more for the
    value's own; less the squared mean, the variance of a count with x true holders is exactly
    n (k/d) pq/(p-q)^2 + x (k/d - 1). The third central moment of one report is (k/d)^2 pq (1-2q)/(p-q)^3 for another
    bucket, and (k/d)^2 (p^2+q^2)/(p-q)^2 - 3 (k/d) (1-3pq)/(p-q)^2 + 2 for its own. Where nobody is in a bucket, the
    ones among the reports that speak of it are a binomial of rate q, whose exact tail is the p-value.
    """
    p, q = shown_rates(metric)
    gain = float(p - q)
    thinning = metric.device.parameters["buckets"] / metric.device.parameters["bits"]
    count = thinning * (state.arrays["ones"] - state.arrays["covering"] * float(q)) / gain
    projected = onto_simplex(count, state.n)
    third = thinning**2 * float(p * q * (1 - 2 * q) / (p - q) ** 3)
    own = thinning**2 * float((p * p + q * q) / (p - q) ** 2) - 3 * thinning * float((1 - 3 * p * q) / (p - q) ** 2) + 2
    place = {label: i for i, label in enumerate(metric.candidates)}
    chosen = [place[candidate] for candidate in candidates]
    return Estimates.of(
        metric,
        state.n,
        candidates,
        count=count[chosen],
        null_variance=np.full(len(chosen), state.n * thinning * float(p * q) / gain**2),
        slope=thinning - 1,
        null_third=state.n * third,
        third_slope=own - third,
        step=thinning / gain,
        support=np.column_stack([state.arrays["ones"], state.arrays["covering"]]).astype(np.int64)[chosen],
        null_law=FalseSupportOfSome(float(q)),
        projected=projected[chosen],
    )


def _check_padding(metric: Metric, records: Records, used: int) -> None:
    if used % 8 and (records[:, -1] >> np.uint8(used % 8)).any():
        raise RecordError(f"metric {metric.name}: a record's padding is not zero; another definition made it")
