"""Whether the mechanism fits what is asked of it."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date

from hubbub_registry.lints.finding import Finding, error, warning
from hubbub_registry.mechanisms import SPELLING
from hubbub_registry.metric import Metric


def better_mechanism(metric: Metric, _today: date) -> Iterator[Finding]:
    """``better-mechanism``: k-RR's variance grows with the number of values, others' does not.

    n Var of a rare value is (d - 2 + E) / (E - 1)^2 for k-RR and 4 E / (E - 1)^2 for unary encoding (Wang et al. 2017,
    section 4); they meet at d = 3 E + 2.
    """
    if metric.mechanism != "randomized-response":
        return
    domain, ratio = len(metric.values), metric.ratio
    if domain > 3 * ratio + 2:
        yield warning(
            metric,
            "better-mechanism",
            "mechanism",
            f"with {domain} values at this epsilon its variance is {float((domain - 2 + ratio) / (4 * ratio)):.3g} "
            "times what unary-encoding has",
            "choose projective-geometry-response (two bytes), or ask hubbub check --advise",
        )


def memoisation(metric: Metric, _today: date) -> Iterator[Finding]:
    """``memoisation``: permanent noise protects a value that stays, not the fact that it changed.

    An error where one period has several reports: then even the figure per period is no bound between a value that
    changes within the period and one that stays.
    """
    if metric.permanent_ratio is None:
        return
    key = "reports" if "reports" in metric.settings else "mechanism"
    what = (
        "the permanent noise is drawn anew where a value changes, so whether it CHANGED between two reports is not "
        "protected by any figure here"
    )
    remedy = "use it for values that seldom change, and say so in the reason that silences this"
    if metric.reports_per_period == 1:
        yield warning(metric, "memoisation", key, what, remedy)
    else:
        what += f"; with {metric.reports_per_period} reports a period that holds for the figure per period too"
        yield error(metric, "memoisation", key, what, f"set reports_per_period to 1, or {remedy}")


def no_candidates(metric: Metric, _today: date) -> Iterator[Finding]:
    """``no-candidates``: reports of an open domain are counted for the values somebody names."""
    if metric.mechanism in SPELLING:
        return
    if not metric.closed and not metric.numeric and not metric.candidates and not metric.parts:
        yield warning(
            metric,
            "no-candidates",
            "candidates",
            "any value can be reported, and none is named to look for",
            "name a list of candidates, or bring one when decoding",
        )


def cohorts(metric: Metric, _today: date) -> Iterator[Finding]:
    """``cohorts``: with one cohort two values that share their bits share them for every device."""
    if metric.mechanism == "rappor" and not metric.closed and metric.settings["cohorts"] == 1:
        yield warning(
            metric,
            "cohorts",
            "cohorts",
            "with one cohort, values that collide in the filter can never be told apart",
            "use several, such as 32",
        )
