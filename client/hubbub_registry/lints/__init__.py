"""Named checks over a registry that loads: each finds one kind of thing a reviewer would stop at.

A metric silences a check with a written reason (``[metrics.NAME.silence]``); what it found is then still shown.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from datetime import date

from hubbub_registry.lints.budget import budget
from hubbub_registry.lints.choice import better_mechanism, cohorts, memoisation, no_candidates
from hubbub_registry.lints.dimension import dimension
from hubbub_registry.lints.expiry import expiry
from hubbub_registry.lints.finding import Check, Finding
from hubbub_registry.lints.sketch import collision_floor
from hubbub_registry.metric import Metric

__all__ = ["CHECKS", "Finding", "lint"]

CHECKS: tuple[Check, ...] = (
    expiry,
    budget,
    collision_floor,
    better_mechanism,
    memoisation,
    no_candidates,
    cohorts,
    dimension,
)
# What is asked of each part of a joint metric too, where only the part has an answer.
OF_PARTS: tuple[Check, ...] = (collision_floor, better_mechanism, no_candidates, cohorts)


def lint(metrics: Iterable[Metric], today: date) -> list[Finding]:
    """Everything that the checks find in ``metrics`` on the day ``today`` (UTC), metric by metric."""
    return [
        replace(finding, silenced=metric.silenced.get(finding.lint))
        for metric in metrics
        for finding in _found(metric, today)
    ]


def _found(metric: Metric, today: date) -> Iterator[Finding]:
    for check in CHECKS:
        yield from check(metric, today)
    for part in metric.parts:
        for check in OF_PARTS:
            yield from check(part, today)
