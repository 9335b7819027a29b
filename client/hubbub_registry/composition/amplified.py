"""What an independent shuffler adds: one report, the batches of a metric, and everything over the horizon."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from hubbub_registry.accounting import reports_within
from hubbub_registry.composition.clones import clones, closed_form
from hubbub_registry.composition.losses import pld
from hubbub_registry.composition.part import largest_variation, pure
from hubbub_registry.composition.parts import any_history
from hubbub_registry.composition.question import Question
from hubbub_registry.composition.shuffle import Randomizer, shuffled_delta, shuffled_epsilon
from hubbub_registry.composition.variation import variation
from hubbub_registry.exact import float_up
from hubbub_registry.metric import Metric

_HALVINGS = 40


@dataclass(frozen=True)
class Amplified:
    """Epsilon of one device's report in its batch: by the mechanism's own parameters, and by coarser analyses.

    ``general`` uses epsilon alone; ``clones`` and ``closed_form`` are the earlier bounds of Feldman, McMillan, Talwar.
    """

    own: float
    general: float
    clones: float
    closed_form: float


def refusal(metric: Metric) -> str | None:
    """Why shuffling cannot be counted on for ``metric``; None where it can."""
    if metric.permanent_ratio is not None:
        return "its permanent noise is the same in every batch, so its batches are not independent"
    if any(each.settings.get("cohorts", 1) != 1 for each in (metric, *metric.parts)):
        return "a device keeps its cohort, so a report hides only among those of its cohort"
    if metric.dimension is not None:
        return (
            f"its public {metric.dimension.name} is sent in the clear, so a report hides only among those of its cell, "
            "and nobody promises how many they are"
        )
    return None


def randomizer(metric: Metric) -> Randomizer:
    """The mechanism of ``metric``, with its own total variation."""
    ratio = float_up(metric.ratio)
    return Randomizer(ratio, float_up(variation(metric)), ratio)


def one_report(metric: Metric, batch: int, delta: Fraction) -> Amplified:
    """One report of one device, shuffled with those of ``batch`` - 1 other devices."""
    ratio = float_up(metric.ratio)
    general = Randomizer(ratio, float_up(largest_variation(metric.ratio)), ratio)
    return Amplified(
        shuffled_epsilon(randomizer(metric), batch, delta),
        shuffled_epsilon(general, batch, delta),
        shuffled_epsilon(clones(ratio), batch, delta),
        closed_form(float_up(metric.exact_epsilon), batch, delta),
    )


def over_horizon(metrics: Sequence[Metric], question: Question, batch: int) -> float:
    """Epsilon at the question's delta of everything a household sends, batch by batch; at most that of no shuffler.

    Half of delta is shared among the batches, the other half is the composition's. A metric for which shuffling cannot
    be counted on enters with its local figure.
    """
    local = pld(any_history(metrics, question), question.delta)
    shuffled = [metric for metric in metrics if refusal(metric) is None]
    others = [metric for metric in metrics if refusal(metric) is not None]
    batches = {
        metric.name: -(-reports_within(metric, question.horizon) // metric.reports_per_period) for metric in shuffled
    }
    if not sum(batches.values()):
        return local
    each = question.delta / (2 * sum(batches.values()))
    parts = any_history(others, question)
    for metric in shuffled:
        together = metric.reports_per_period * question.household
        epsilon = group_epsilon(randomizer(metric), batch, together, each)
        parts.append(pure(Fraction(min(epsilon, together * float_up(metric.exact_epsilon))), batches[metric.name]))
    return min(local, pld(parts, question.delta / 2))


def group_epsilon(mechanism: Randomizer, batch: int, together: int, delta: Fraction) -> float:
    """Epsilon at ``delta`` where ``together`` reports of one batch change at once.

    They change one after the other, each hidden by the ``batch`` - ``together`` reports of everybody else: k steps of
    (e, d) give (k e, d (1 + E + .. + E^(k-1))). Where the batch is no larger than that, nothing is gained.
    """
    highest = math.nextafter(math.log(mechanism.ratio), math.inf)
    devices = batch - together + 1
    if devices < 2:
        return together * highest
    if together == 1:
        return shuffled_epsilon(mechanism, devices, delta)
    low, high = 0.0, highest
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        growth = math.log(math.expm1(together * middle) / math.expm1(middle)) if together * middle < 700 else math.inf
        one = shuffled_delta(mechanism, devices, middle)
        if one == 0 or math.log(one) + growth <= math.log(float(delta)) - 1e-12:
            high = middle
        else:
            low = middle
        if high - low <= 1e-9 * high:
            break
    return together * high
