"""Everything that ``hubbub check`` says of a question: local, composed and, where it is earned, amplified figures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from hubbub_registry.accounting import reports_within
from hubbub_registry.composition.amplified import (
    Amplified,
    group_epsilon,
    one_report,
    over_horizon,
    randomizer,
    refusal,
)
from hubbub_registry.composition.closed import advanced, basic
from hubbub_registry.composition.losses import pld
from hubbub_registry.composition.part import Part
from hubbub_registry.composition.parts import any_history, unchanging
from hubbub_registry.composition.prior import posterior
from hubbub_registry.composition.question import Question
from hubbub_registry.composition.renyi import rdp, zcdp
from hubbub_registry.metric import Metric
from hubbub_registry.registry import Registry

NO_SHUFFLER = (
    "hubbub's collector and sealer are one operator, who sees each upload before it is shuffled; "
    'state shuffler = "independent", shuffler_operator and shuffler_key under [registry] where somebody else shuffles '
    "reports that are sealed to the analyst"
)


@dataclass(frozen=True)
class Composed:
    """Epsilon over the horizon: ``basic`` at delta 0, the others at the question's delta. The last is the tightest."""

    basic: Fraction
    advanced: float
    rdp: float
    zcdp: float
    pld: float


@dataclass(frozen=True)
class Side:
    """The figures of one metric, or of all: one report of each device, the horizon, and where a prior can go.

    ``reports`` are those of all devices of the household. ``posteriors`` are (least, most) after one report and after
    the horizon, by ``local`` and by ``composed.basic``; None where no prior is given.
    """

    reports: int
    local: Fraction
    composed: Composed
    posteriors: tuple[tuple[float, float], tuple[float, float]] | None


@dataclass(frozen=True)
class Shuffled:
    """What a shuffler adds. ``shuffler`` is empty, and nothing else there, where amplification is not claimed.

    ``refused`` is metric -> why it cannot be counted on there; ``horizon`` is of all metrics.
    """

    batch: int
    shuffler: str
    one_report: Mapping[str, float]
    one_device: Mapping[str, Amplified]
    refused: Mapping[str, str]
    horizon: float | None


@dataclass(frozen=True)
class Answer:
    """``unchanging``: where no value of a metric with permanent noise ever changes; None where there is none such."""

    question: Question
    metrics: Mapping[str, Side]
    everything: Side
    unchanging: Composed | None
    shuffled: Shuffled | None


def answer(registry: Registry, question: Question) -> Answer:
    """Computes it all. Raises MissingExtraError, and AccountingError for a horizon of too many reports."""
    metrics = list(registry.metrics.values())
    permanent = any(metric.permanent_ratio is not None for metric in metrics)
    return Answer(
        question,
        {metric.name: _side([metric], question) for metric in metrics},
        _side(metrics, question),
        _compose(unchanging(metrics, question), question.delta) if permanent else None,
        None if question.batch is None else _shuffled(registry, question, question.batch),
    )


def _side(metrics: Sequence[Metric], question: Question) -> Side:
    reports = question.household * sum(reports_within(metric, question.horizon) for metric in metrics)
    local = question.household * sum((metric.exact_epsilon for metric in metrics), Fraction())
    composed = _compose(any_history(metrics, question), question.delta)
    posteriors = None
    if question.prior is not None:
        posteriors = posterior(question.prior, local), posterior(question.prior, composed.basic)
    return Side(reports, local, composed, posteriors)


def _compose(parts: Sequence[Part], delta: Fraction) -> Composed:
    return Composed(basic(parts), advanced(parts, delta), rdp(parts, delta), zcdp(parts, delta), pld(parts, delta))


def _shuffled(registry: Registry, question: Question, batch: int) -> Shuffled:
    if not registry.shuffler:
        return Shuffled(batch, "", {}, {}, {}, None)
    metrics = list(registry.metrics.values())
    counted = {metric.name: metric for metric in metrics if refusal(metric) is None}
    one_device = {name: one_report(metric, batch, question.delta) for name, metric in counted.items()}
    household = {name: report.own for name, report in one_device.items()}
    if question.household > 1:
        for name, metric in counted.items():
            household[name] = group_epsilon(randomizer(metric), batch, question.household, question.delta)
    return Shuffled(
        batch,
        registry.shuffler,
        household,
        one_device,
        {m.name: why for m in metrics if (why := refusal(m)) is not None},
        over_horizon(metrics, question, batch),
    )
