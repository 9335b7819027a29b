"""From the metrics of a registry to the parts of a composition."""

from __future__ import annotations

from collections.abc import Iterable

from hubbub_registry.accounting import epsilon_of, reports_within
from hubbub_registry.composition.part import Part, pure
from hubbub_registry.composition.question import Question
from hubbub_registry.composition.variation import variation
from hubbub_registry.longitudinal import one_value_epsilon
from hubbub_registry.metric import Metric


def any_history(metrics: Iterable[Metric], question: Question) -> list[Part]:
    """What the devices of a household send over the horizon, whatever values they hold.

    Reports of different devices are independent, and so are all reports of a metric that draws its noise anew. Reports
    that share permanent noise are not, and which do is not known: they count as ONE run, of the sum of their epsilons.
    That holds however the values fall together, where a composition of that many separate reports would not. As every
    figure of permanent noise, it is between two histories that change at the same reports.
    """
    return [part for metric in metrics if (part := _part(metric, question)).count]


def unchanging(metrics: Iterable[Metric], question: Question) -> list[Part]:
    """The same where no value of a metric with permanent noise ever changes: all its reports are one run of eps(t)."""
    parts = []
    for metric in metrics:
        number = reports_within(metric, question.horizon)
        if metric.permanent_ratio is None:
            parts += any_history([metric], question)
        elif number:
            parts.append(pure(one_value_epsilon(metric, number), question.household))
    return parts


def _part(metric: Metric, question: Question) -> Part:
    number = reports_within(metric, question.horizon)
    if metric.permanent_ratio is None:
        return Part(metric.exact_epsilon, variation(metric), number * question.household)
    return pure(epsilon_of(metric, number), question.household)
