"""Decodes RAPPOR (Erlingsson, Pihur, Korolova, CCS 2014, section 4): per-cohort bit counts, then regression.

Basic (one-hot) RAPPOR needs no regression: its bits are the values. For Bloom filters, see ``hubbub_decoder.bloom``
(the design) and ``hubbub_decoder.regression`` (the fit).
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from hubbub_decoder.bit_sums import grouped_bit_sums
from hubbub_decoder.bloom import candidate_bits
from hubbub_decoder.consistent import within_simplex
from hubbub_decoder.errors import CandidateError
from hubbub_decoder.estimates import Estimates
from hubbub_decoder.records import Records
from hubbub_decoder.regression import BitRates, Fit, fit
from hubbub_decoder.state import State, merge
from hubbub_decoder.support import estimate_support
from hubbub_registry import Metric

__all__ = ["bit_rates", "estimate", "merge", "partial"]

# The regression holds a matrix of candidates x candidates in memory: 800 MB at this many.
MAX_CANDIDATES = 10_000

# In standard errors: a list that leaves nothing out gets the note once in 30,000 decodes.
_BEYOND_CHANCE = 4.0


def partial(metric: Metric, records: Records) -> State:
    """``sums`` (cohorts, bits): the reports with each bit set in each cohort; ``reports`` (cohorts,)."""
    sums, reports = grouped_bit_sums(metric, records, metric.device.parameters["cohorts"])
    return State.of(metric, len(records), sums=sums, reports=reports)


def bit_rates(metric: Metric) -> tuple[Fraction, Fraction]:
    """(q*, p*): the chance that a report shows 1 where the filter holds 1, and where it holds 0; exact.

    The paper's section 3, with its f/2 the permanent response's flip probability.
    """
    parameters = metric.device.parameters
    flip = Fraction(parameters["prr_threshold"], 1 << parameters["prr_precision"])
    if not parameters["irr_precision"]:
        return 1 - flip, flip
    whole = 1 << parameters["irr_precision"]
    q, p = Fraction(parameters["irr_q"], whole), Fraction(parameters["irr_p"], whole)
    return (1 - flip) * q + flip * p, flip * q + (1 - flip) * p


def estimate(metric: Metric, state: State, candidates: Sequence[str]) -> Estimates:
    """Counts by support where values have bits of their own, else by regression on the candidates' filters."""
    one, zero = bit_rates(metric)
    sums, reports = state.arrays["sums"], state.arrays["reports"]
    if not metric.device.parameters["hashes"]:
        return estimate_support(metric, state.n, sums[0], candidates, one, zero)
    if len(candidates) > MAX_CANDIDATES:
        raise CandidateError(
            f"metric {metric.name}: RAPPOR regression takes {MAX_CANDIDATES} candidates, here {len(candidates)}; leave "
            "out those that cannot be frequent"
        )
    rates = BitRates(float(one), float(zero), background=_background(metric))
    fitted = fit(candidate_bits(metric, candidates), sums.astype(np.float64), reports.astype(np.float64), rates)
    n = state.n
    return Estimates.of(
        metric,
        n,
        candidates,
        count=n * fitted.share,
        null_variance=n * n * fitted.variance,
        slope=0.0,
        projected=within_simplex(n * fitted.non_negative, n),
        notes=(*(note.text([candidates[i] for i in note.members]) for note in fitted.notes), *_unlisted(fitted)),
    )


def _unlisted(fitted: Fit) -> tuple[str, ...]:
    """A note where the candidates leave more unexplained than chance does."""
    if fitted.unexplained <= _BEYOND_CHANCE * fitted.unexplained_error:
        return ()
    return (
        f"the candidates leave {fitted.unexplained:.1%} (standard error {fitted.unexplained_error:.1%}) of the reports "
        "unexplained: values that are not in the list hold them. Candidates that share bits with a frequent one of "
        "those are off by more than is stated here; add the frequent values to the list",
    )


def _background(metric: Metric) -> float:
    """The chance that a value that is not among the candidates sets a given bit."""
    parameters = metric.device.parameters
    return float(1 - (1 - 1 / parameters["bits"]) ** parameters["hashes"])
