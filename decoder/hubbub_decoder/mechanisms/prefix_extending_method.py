"""Decodes the prefix extending method: what beginnings lead to, and counts from the reports that show all of a string.

Source: Wang, Li, Jha, "Locally differentially private heavy hitter identification", TDSC 2019; docs/discovery.md.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from hubbub_decoder.consistent import FloatArray, within_simplex
from hubbub_decoder.counting.records import Records, as_integers, check_domain, check_shape, chunks
from hubbub_decoder.counting.state import IntArray, State, merge
from hubbub_decoder.discovery.found import Found, Options
from hubbub_decoder.discovery.parts import Part
from hubbub_decoder.discovery.pooled import Pool, PooledLaw, first_counted
from hubbub_decoder.errors import EstimateError
from hubbub_decoder.estimates import Estimates
from hubbub_registry import Metric

__all__ = ["discover", "estimate", "merge", "partial"]


def partial(metric: Metric, records: Records) -> State:
    """``counts`` (parts, families, functions, width): the reports of each part, hash function and bucket.

    As narrow integers as hold the largest: 8 MiB for 7 levels and the 2**20 cells of a default plan.
    """
    check_shape(metric, records)
    parameters = metric.device.parameters
    bits, slots_bits = parameters["width_bits"], parameters["slots_bits"]
    shape = (
        1 << bits,
        1 << (bits * (parameters["dimension"] - 1)),
        1 << parameters["families_bits"],
        parameters["levels"] + 1,
    )
    counts: IntArray = np.zeros(int(np.prod(shape)), np.uint32 if len(records) < 1 << 32 else np.uint64)
    one = counts.dtype.type(1)
    for chunk in chunks(records):
        record = as_integers(chunk)
        slot = record & ((1 << slots_bits) - 1)
        cell = (record >> slots_bits) * shape[-1] + (slot * shape[-1] >> slots_bits)
        check_domain(metric, cell, len(counts), "padding")
        np.add.at(counts, cell, one)
    # A record has its bucket in the highest bits, and here the part in place of the slot in the lowest.
    by_part = counts.reshape(shape).T
    return State.of(metric, len(records), counts=by_part.astype(np.min_scalar_type(int(counts.max())), order="C"))


def estimate(metric: Metric, state: State, candidates: Sequence[str]) -> Estimates:
    """What the reports that show all of a candidate say, but for those it is found in (``pooled``), for all reports.

    Which part a report is of is drawn, so these are a random sample: with M of them among n reports, the variance of a
    count is (n/M)**2 times that among the M, and n (n/M - 1) f (1 - f) for the sampling; see docs/estimators.md.
    Raises EstimateError where there is no such report.
    """
    parameters = metric.device.parameters
    whole = parameters["levels"]
    first = np.array([first_counted(len(value.encode()), parameters) for value in candidates], np.int64)
    parts = {number: Part.of(metric, state, number) for number in range(min(first.tolist(), default=whole), whole + 1)}
    moments = np.zeros((5, len(candidates)))
    support = np.stack([np.zeros(len(candidates), np.int64), first], axis=1)
    laws, step = {}, 0.0
    for start in sorted(set(first.tolist())):
        pool = Pool(tuple(parts[number] for number in range(start, whole + 1)))
        if not pool.reports:
            raise EstimateError(
                f"metric {metric.name}: none of the {state.n} reports is of a whole value; collect more reports"
            )
        of = np.flatnonzero(first == start)
        support[of, 0] = pool.supporting([candidates[i] for i in of.tolist()], parameters)
        laws[start] = pool.law()
        moments[:, of] = _moments(state.n, pool, support[of, 0])
        step = max(step, state.n / pool.reports / (pool.parts[0].p - pool.parts[0].q))
    return Estimates.of(
        metric,
        state.n,
        candidates,
        count=moments[0],
        null_variance=moments[1],
        slope=moments[2],
        null_third=moments[3],
        third_slope=moments[4],
        step=step,
        support=support,
        null_law=PooledLaw(laws),
        projected=within_simplex(moments[0], state.n),
    )


def _moments(n: int, pool: Pool, support: npt.NDArray[np.int64]) -> FloatArray:
    """Of strings that are counted in ``pool`` (5, d): counts, ``null_variance``, ``slope``, and the third moment's two.

    Collisions are in the variance, but not in the third moment: a value shares an item with another once in thousands,
    and is then far off, which is no matter of how the others' errors lean.
    """
    p, q, reports = pool.parts[0].p, pool.parts[0].q, pool.reports
    gain, scale = p - q, n / reports
    count = np.asarray(scale * (support - reports * q) / gain, np.float64)
    others = 1 - np.clip(count / n, 0, 1)
    slope = (p * (1 - p) - q * (1 - q)) / gain**2  # of the noise's variance, for each holder among the reports
    # How many of the holders are among them is hypergeometric; its second and third moments, for each of these.
    drawn = others * (1 - reports / n)
    skewed = drawn * ((2 * others - 1) * (1 - 2 * reports / n) + 3 * slope)
    null_variance = np.full(len(count), scale**2 * pool.null_variance() / gain**2)
    null_third = np.full(len(count), scale**3 * reports * _third(q) / gain**3)
    third_slope = scale**2 * ((_third(p) - _third(q)) / gain**3 + skewed)
    return np.stack([count, null_variance, scale * (slope + drawn), null_third, third_slope])


def _third(rate: float) -> float:
    """The third central moment of one report's support."""
    return rate * (1 - rate) * (1 - 2 * rate)


def discover(metric: Metric, state: State, options: Options) -> Found:
    """The strings whose beginnings are frequent up to their end; none is looked at in the reports that count it."""
    from hubbub_decoder.discovery.prefixes import search  # loads what only a search needs

    return search(metric, state, options)
