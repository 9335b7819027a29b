"""Several periods as one: what the error of figures over all of them is where devices come more than once."""

from __future__ import annotations

from dataclasses import replace

from hubbub_decoder.caveats import most_reports
from hubbub_decoder.errors import EstimateError
from hubbub_decoder.estimates import Estimates

__all__ = ["bounded", "most_reports", "widened"]


def bounded(reports: int) -> str:
    """The note beside figures that are ``widened``."""
    return (
        f"the errors are bounds: a device may be in these figures with {reports} reports that share permanent noise, "
        f"so they are {reports**0.5:.3g} times those of as many devices that come once"
    )


def widened(estimates: Estimates, reports: int) -> Estimates:
    """``estimates`` with errors that hold however devices repeat their noise, each at most ``reports`` times.

    The variance of the sum of c reports is at most c times the sum of their variances (Cauchy and Schwarz), and the
    third central moment at most c**2 times theirs; both are reached where all c are the same. So every variance is
    multiplied by c, and standard errors by its root: right for permanent noise without any fresh one, else too wide.
    p-values and intervals come from those moments. Raises EstimateError unless ``reports`` is at least 1.
    """
    if reports < 1:
        raise EstimateError(f"widened: {reports!r} reports a device; pass 1 or more, such as most_reports(...)")
    if reports == 1:
        return estimates
    return replace(
        estimates,
        null_variance=reports * estimates.null_variance,
        slope=reports * estimates.slope,
        null_third=reports**2 * estimates.null_third,
        null_third_least=reports**2 * estimates.null_third_least,
        third_slope=reports**2 * estimates.third_slope,
        step=reports * estimates.step,
        rates=None,
        support=None,
        null_law=None,
    )
