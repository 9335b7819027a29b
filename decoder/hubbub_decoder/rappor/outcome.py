"""From a fit to the result object: counts, errors, diagnostics, and notes on what a reader must know."""

from __future__ import annotations

from collections.abc import Sequence

from hubbub_decoder.estimates import Described, Estimates
from hubbub_decoder.rappor.regression import Fit

# In standard errors: a list that leaves nothing out gets the note once in 30,000 decodes.
_BEYOND_CHANCE = 4.0


def estimates_of(fitted: Fit, of: Described, n: int, candidates: Sequence[str]) -> Estimates:
    """The estimates of ``candidates`` among ``n`` reports, with ``diagnostics``."""
    return Estimates.of(
        of,
        n,
        candidates,
        count=fitted.count,
        null_variance=fitted.errors.null_variance,
        slope=fitted.errors.slope,
        null_third=fitted.errors.null_third,
        third_slope=fitted.errors.third_slope,
        projected=fitted.consistent,
        least_p_value=fitted.tail,
        notes=(*(note.text(candidates) for note in fitted.notes), *_unlisted(fitted)),
        diagnostics={
            "explained_variance": fitted.variances.explained,
            "missing_variance": fitted.variances.missing,
            "noise_variance": fitted.variances.noise,
            "unallocated": fitted.unexplained,
            "unallocated_std_error": fitted.unexplained_error,
        },
    )


def _unlisted(fitted: Fit) -> tuple[str, ...]:
    """A note where the candidates leave more unexplained than chance does.

    Not beside a long list, whose rare members hold what its frequent ones do not explain.
    """
    if fitted.screened or fitted.unexplained <= _BEYOND_CHANCE * fitted.unexplained_error:
        return ()
    return (
        f"the candidates leave {fitted.unexplained:.1%} (standard error {fitted.unexplained_error:.1%}) of the reports "
        "unexplained: values that are not in the list hold them. Candidates that share bits with a frequent one of "
        "those are off by more than is stated here; add the frequent values to the list",
    )
