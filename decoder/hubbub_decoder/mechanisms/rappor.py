"""Decodes RAPPOR (Erlingsson, Pihur, Korolova, CCS 2014, section 4): per-cohort bit counts, then regression.

Basic (one-hot) RAPPOR needs no regression: its bits are the values. For Bloom filters, see ``rappor.bloom`` (the
design) and ``rappor.regression`` (the fit).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from hubbub_decoder.counting.bit_sums import grouped_bit_sums
from hubbub_decoder.counting.records import Records
from hubbub_decoder.counting.state import State, merge
from hubbub_decoder.estimates import Estimates
from hubbub_decoder.rappor.bloom import candidate_bits
from hubbub_decoder.rappor.outcome import estimates_of
from hubbub_decoder.rappor.rates import bit_rates
from hubbub_decoder.rappor.regression import BitRates, fit
from hubbub_decoder.support.two_rates import estimate_support
from hubbub_registry import Metric

__all__ = ["bit_rates", "estimate", "merge", "partial"]


def partial(metric: Metric, records: Records) -> State:
    """``sums`` (cohorts, bits): the reports with each bit set in each cohort; ``reports`` (cohorts,)."""
    sums, reports = grouped_bit_sums(metric, records, metric.device.parameters["cohorts"])
    return State.of(metric, len(records), sums=sums, reports=reports)


def estimate(metric: Metric, state: State, candidates: Sequence[str]) -> Estimates:
    """Counts by support where values have bits of their own, else by regression on the candidates' filters."""
    one, zero = bit_rates(metric)
    sums, reports = state.arrays["sums"], state.arrays["reports"]
    if not metric.device.parameters["hashes"]:
        return estimate_support(metric, state.n, sums[0], candidates, one, zero)
    rates = BitRates(float(one), float(zero), background=_background(metric))
    fitted = fit(candidate_bits(metric, candidates), sums.astype(np.float64), reports.astype(np.float64), rates)
    return estimates_of(fitted, metric, state.n, candidates)


def _background(metric: Metric) -> float:
    """The chance that a value that is not among the candidates sets a given bit."""
    parameters = metric.device.parameters
    return float(1 - (1 - 1 / parameters["bits"]) ** parameters["hashes"])
