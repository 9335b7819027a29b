"""What is asked of a metric's reports: checked once, before hours of reading, and then put to one state or to many."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from hubbub_decoder.arguments import check_metric
from hubbub_decoder.counting.state import State
from hubbub_decoder.decode import choose_candidates, estimate, estimate_mean, gives_mean
from hubbub_decoder.errors import CandidateError, EstimateError
from hubbub_decoder.estimates import Estimates
from hubbub_decoder.joint.decode import choose_lists, estimate_joint
from hubbub_decoder.joint.estimates import JointEstimates
from hubbub_decoder.mean import Mean
from hubbub_decoder.numbers import Quantiles, Ranges
from hubbub_decoder.numbers import decode as numbers
from hubbub_decoder.numbers.quantiles import check_probabilities
from hubbub_decoder.numbers.ranges import checked_ranges
from hubbub_registry import Metric

Result = Estimates | Mean | Quantiles | Ranges | JointEstimates
Ask = Callable[[State], Result]
"""From the state of some reports to the figures that were asked for; it raises EstimateError for too few of them."""


def asked(
    metric: Metric, candidates: Iterable[str] | None = None, *, second: Iterable[str] | None = None,
    quantiles: Iterable[float] | None = None, ranges: Iterable[tuple[int, int]] | None = None,
) -> Ask:  # fmt: skip
    """The table of a joint metric, the mean of one that gives it, else counts of ``candidates``.

    ``second`` are candidates of a joint metric's second side. A metric that gives them is asked for its ``quantiles``
    at these probabilities, or for the counts of ``ranges``, where one of them is named. Raises CandidateError,
    EstimateError for what the metric does not give, and ArgumentError.
    """
    check_metric("asked", metric)
    if quantiles is not None or ranges is not None:
        return _of_numbers(metric, candidates, quantiles, ranges)
    if metric.parts:
        sides = choose_lists(metric, candidates, second)
        return lambda state: estimate_joint(metric, state, *sides)
    if second is not None:
        raise CandidateError(f"metric {metric.name} reports one value, not two; leave the second list out")
    if gives_mean(metric) and candidates is None:
        return lambda state: estimate_mean(metric, state)
    chosen = choose_candidates(metric, candidates)
    return lambda state: estimate(metric, state, chosen)


def _of_numbers(
    metric: Metric, candidates: object, quantiles: Iterable[float] | None, ranges: Iterable[tuple[int, int]] | None
) -> Ask:
    numbers.check_gives_ranges(metric)
    if candidates is not None or (quantiles is not None and ranges is not None):
        raise EstimateError(f"metric {metric.name}: ask for candidates, for quantiles, or for ranges; one at a time")
    if quantiles is not None:
        probabilities = check_probabilities(metric.name, quantiles)
        return lambda state: numbers.quantiles(metric, state, probabilities)
    pairs = checked_ranges(metric, ranges)
    return lambda state: numbers.ranges(metric, state, pairs)
