"""The empirical audit: a lower bound of epsilon from real reports of any encoder, by a likelihood-ratio attack.

The reports of each value are cut in four. On the first quarter statistics are fitted; on the second the pair of
values, the statistic and the threshold that promise most are chosen; on the other half, which nothing was chosen on,
the event "the score is at or above the threshold" is counted. Only that one event is tested, so nothing is to be
corrected for the many that were considered.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import permutations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hubbub_client.errors import HubbubError
from hubbub_simulations.audit.bounds import epsilon_at_least, most_that_can_be_shown
from hubbub_simulations.audit.errors import AuditError
from hubbub_simulations.audit.scores import Score, scores
from hubbub_simulations.audit.views import View, view

CONFIDENCE = 1 - 1e-6
FEWEST_REPORTS = 100
_THRESHOLDS = 64

Target = Callable[[str], Any]


@dataclass(frozen=True)
class EmpiricalAudit:
    """What reports of ``likelier`` and ``rarer`` prove about epsilon, beside the epsilon that was claimed."""

    claimed: float
    bound: float
    """Epsilon is at least this, at ``confidence``; 0 where nothing was shown."""
    could_show: float
    """The largest bound that so many reports could have shown."""
    likelier: str
    rarer: str
    statistic: str
    hits: int
    misses: int
    tested: int
    """Reports of each of the two values that were counted: half of those made."""
    reports: int
    """Reports made of each value."""
    confidence: float

    @property
    def refuted(self) -> bool:
        """Whether the claimed epsilon is wrong, at ``confidence``."""
        return self.bound > self.claimed


@dataclass(frozen=True)
class _Event:
    promise: float
    likelier: int
    rarer: int
    name: str
    score: Score
    threshold: float


def audit_empirically(
    target: Target,
    values: Sequence[str],
    claimed: float,
    reports: int,
    confidence: float = CONFIDENCE,
    progress: Callable[[float], None] = lambda _share: None,
) -> EmpiricalAudit:
    """Attacks ``target`` with ``reports`` reports of each of ``values``; ``claimed`` is its epsilon.

    Raises AuditError for fewer than two values, too few reports, reports of a kind that cannot be compared, or a target
    that fails.
    """
    if len(set(values)) < 2:
        raise AuditError("an audit compares reports of different values: name at least two")
    if reports < FEWEST_REPORTS:
        raise AuditError(f"{reports} reports show nothing; make at least {FEWEST_REPORTS} of each value")
    made = []
    for number, value in enumerate(values):
        for report in range(reports):
            made.append(_report(target, value))
            if report % 1024 == 0:
                progress((number + report / reports) / len(values))
    every = view(made)  # of all at once: what some reports lack is no view of any
    quarter = reports // 4
    starts = range(0, len(made), reports)
    fit = [every.cut(start, start + quarter) for start in starts]
    choose = [every.cut(start + quarter, start + 2 * quarter) for start in starts]
    test = [every.cut(start + 2 * quarter, start + reports) for start in starts]
    event = _best(fit, choose, confidence)
    hits = int((event.score(test[event.likelier]) >= event.threshold).sum())
    misses = int((event.score(test[event.rarer]) >= event.threshold).sum())
    tested = len(test[0].symbols)
    bound = float(epsilon_at_least(hits, tested, misses, tested, confidence))
    return EmpiricalAudit(
        claimed,
        max(0.0, bound),
        most_that_can_be_shown(tested, confidence),
        values[event.likelier],
        values[event.rarer],
        event.name,
        hits,
        misses,
        tested,
        reports,
        confidence,
    )


def _report(target: Target, value: str) -> Any:
    """One report. Raises AuditError where the target fails, without what it said, which may hold the value."""
    try:
        return target(value)
    except HubbubError:
        raise
    except Exception as error:  # noqa: BLE001 - whatever another's encoder raises
        raise AuditError(
            f"the target raised {type(error).__name__} for one of its values; call it by hand to see why"
        ) from None


def _best(fit: Sequence[View], choose: Sequence[View], confidence: float) -> _Event:
    """The event that promises the largest bound on the reports that no score was fitted on."""
    best: _Event | None = None
    for likelier, rarer in permutations(range(len(fit)), 2):
        for name, score in scores(fit[likelier], fit[rarer]).items():
            here, there = score(choose[likelier]), score(choose[rarer])
            thresholds = _thresholds(here)
            hits = _at_or_above(here, thresholds)
            misses = _at_or_above(there, thresholds)
            promised = epsilon_at_least(hits, len(here), misses, len(there), confidence)
            top = int(np.argmax(promised))
            if best is None or promised[top] > best.promise:
                best = _Event(float(promised[top]), likelier, rarer, name, score, float(thresholds[top]))
    assert best is not None  # noqa: S101 - there are two values, and every report has a whole
    return best


def _thresholds(found: NDArray[np.float64]) -> NDArray[np.float64]:
    """Scores to cut at: all that there are, or evenly many of each share of the reports, and more at the top."""
    distinct: NDArray[np.float64] = np.unique(found)
    if len(distinct) <= _THRESHOLDS:
        return distinct
    shares = [*np.linspace(0, 1, _THRESHOLDS // 2, endpoint=False), *(1 - 0.5 ** np.arange(1, _THRESHOLDS // 4))]
    return np.unique(np.quantile(found, shares, method="higher"))


def _at_or_above(found: NDArray[np.float64], thresholds: NDArray[np.float64]) -> NDArray[np.int64]:
    return len(found) - np.searchsorted(np.sort(found), thresholds, side="left")
