"""What a metric of a number can be asked: its mean, its histogram, its ranges and quantiles; and how exact each is."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from fractions import Fraction

from hubbub_client.records import bits_for
from hubbub_registry.advice.answers import BELOW, BUCKET, MEAN, Answer, Candidate, answer, candidate
from hubbub_registry.advice.conditions import Conditions
from hubbub_registry.advice.tree import below_variance, bucket_variance
from hubbub_registry.metric import Metric

# Where the metric does not say: enough for a picture.
BUCKETS = 64
# d-bit flip takes no more bits.
_MOST_BITS = 64
_BEST_AT = {"one-bit-mean": MEAN, "d-bit-flip": BUCKET, "hierarchical-histogram": BELOW}

Parameters = Mapping[str, int]


def number_answers(metric: Metric, conditions: Conditions) -> tuple[Answer, ...]:
    """What there is for each question, at the metric's declared epsilon, with its range and its buckets."""
    limit = conditions.record_limit
    buckets = metric.settings.get("buckets") or min(BUCKETS, metric.device.parameters["span"] + 1)
    means, histograms = list(_means(metric)), list(_histograms(metric, buckets, limit))

    def answered(question: str, candidates: list[Candidate]) -> Answer:
        errors = [number_error(each.mechanism, each.parameters, question, conditions.reports) for each in candidates]
        return answer(question, map(Candidate.option, candidates, errors), limit)

    return answered(MEAN, means), answered(BUCKET, histograms), answered(BELOW, histograms)


def own_error(metric: Metric, reports: int) -> float:
    """The error of ``metric`` as it is, for what its mechanism is for."""
    return number_error(metric.mechanism, metric.device.parameters, _BEST_AT[metric.mechanism], reports)


def number_error(mechanism: str, parameters: Parameters, question: str, reports: int) -> float:
    """The standard error of the answer to ``question``: of a mean in the values' unit, else a share of all reports."""
    if mechanism == "one-bit-mean":
        # Where a report is as often 1 as 0, and varies most.
        variance = (parameters["span"] / 2 / _signal(parameters)) ** 2
    elif mechanism == "d-bit-flip":
        variance = _flips_variance(parameters, question)
    else:
        variance = (bucket_variance if question == BUCKET else below_variance)(parameters)
    return math.sqrt(variance / reports)


def _means(metric: Metric) -> Iterator[Candidate]:
    keys = {**_range(metric), "perturbation": metric.settings.get("perturbation")}
    yield from candidate(metric, "one-bit-mean", keys, ())


def _histograms(metric: Metric, buckets: int, limit: int | None) -> Iterator[Candidate]:
    """With as many bits as fit; and with buckets that can be halved, at least as many where the range has so many."""
    keys = {**_range(metric), "buckets": buckets, "perturbation": metric.settings.get("perturbation")}
    room = _MOST_BITS if limit is None else 8 * (limit - (metric.dimension is not None)) // (1 + bits_for(buckets))
    bits = min(buckets, _MOST_BITS, room)
    if bits > 0:
        yield from candidate(metric, "d-bit-flip", {**keys, "bits": bits}, ("buckets", "bits"))
    halved = 1 << bits_for(buckets)
    if halved > metric.device.parameters["span"] + 1:
        halved //= 2
    yield from candidate(metric, "hierarchical-histogram", {**_range(metric), "buckets": halved}, ("buckets",))


def _range(metric: Metric) -> dict[str, int]:
    return {key: metric.settings[key] for key in ("low", "high")}


def _signal(parameters: Parameters) -> float:
    """p - q: how much oftener a report shows a bit that is 1 than one that is 0."""
    flip = Fraction(parameters["threshold"], 1 << parameters["precision"])
    change = Fraction(parameters["perturbation"], 1 << parameters["perturbation_bits"])
    return float((1 - 2 * flip) * (1 - 2 * change))


def _flips_variance(parameters: Parameters, question: str) -> float:
    """n times the variance: of each bucket m p q / (p - q)**2, with m = k / d, and f (m - 1) of the share f they have.

    One bucket, of k; or on average the (k - 1) / 2 below one of them, whose noise adds up.
    """
    buckets, signal = parameters["buckets"], _signal(parameters)
    thinning = buckets / parameters["bits"]
    asked = 1 if question == BUCKET else (buckets - 1) / 2
    return asked * (thinning * (1 / signal**2 - 1) / 4 + (thinning - 1) / buckets)
