"""Regression of RAPPOR's bit counts on the candidates' bits: unbiased counts with calibrated errors.

The model. In cohort j with N_j reports, bit i is set in c_ij of them, and

    E[c_ij / N_j] = p* + (q* - p*) g_ij,      g_ij = sum_v A_ij,v f_v + r (1 - sum_v f_v),

with A the candidates' bits, f their shares, and r the chance that any other value sets a bit: values in no candidate
list lift all bits alike, so their share needs no unknown of its own. With y = (c/N - p*)/(q* - p*) - r that is the
linear model y = (A - r) f, whose least-squares solution is unbiased where the candidates are all there is, and on
average over hash salts where they are not. ``docs/estimators.md`` has the derivation and what it leaves out.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy import sparse, stats

from hubbub_decoder.consistent import FloatArray
from hubbub_decoder.errors import CandidateError
from hubbub_decoder.rappor.design import groups
from hubbub_decoder.rappor.diagnostics import Variances
from hubbub_decoder.rappor.joint import Joint
from hubbub_decoder.rappor.lines import Lines, lines
from hubbub_decoder.rappor.observed import BitRates, Observed
from hubbub_decoder.rappor.randomised import randomised_tail
from hubbub_decoder.rappor.screened import Screened
from hubbub_decoder.rappor.shrinkage import MOST_JOINTLY, shrunk, shrunk_jointly

__all__ = ["BitRates", "Fit", "Note", "fit"]

_NAMES_SHOWN = 5
# All candidates are fitted at once where they are at most this many, and at most this share of the equations: beyond
# it their errors are more than 1.4 times what they are beside the frequent candidates only.
_MOST_AT_ONCE = 2500
_OF_FREEDOM = 0.5
# With fewer equations than this, two candidates may set between them just the bits that two others set; so which of
# them are frequent cannot be guessed from what stands out.
_EQUATIONS = 100
# How often a list that leaves nothing out is taken for one that does: to make all its errors larger, and to test
# its candidates against random bits as well, which finds a little less in few cohorts or few reports.
_BEYOND_CHANCE = 1e-3
_SUSPECTED = 0.2
# With fewer equations than this beyond the candidates, missing values hardly show.
_TOO_FEW_LEFT = 30


@dataclass(frozen=True, eq=False)
class Note:
    """Candidates (by index; none: all) about whom the data cannot decide, and what was done."""

    members: npt.NDArray[np.int64]
    what: str

    def text(self, names: Sequence[str]) -> str:
        """The note in a sentence, with the first few of the members' ``names``."""
        if not len(self.members):
            return self.what
        more = f" and {len(self.members) - _NAMES_SHOWN} more" if len(self.members) > _NAMES_SHOWN else ""
        shown = ", ".join(repr(names[i]) for i in self.members[:_NAMES_SHOWN])
        return f"{shown}{more}: {self.what}"


@dataclass(frozen=True, eq=False)
class Fit:
    """Counts among n reports, each of shape (d,): unbiased, how they err, and the consistent ones.

    ``unexplained`` is the share of reports that no candidate explains (``screened``: no frequent one), and
    ``unexplained_error`` its standard error; both are 0 where the reports do not determine them.
    """

    count: FloatArray
    errors: Lines
    consistent: FloatArray
    tail: FloatArray | None
    """How likely each count is with random bits (``rappor.randomised``); None where all values seem to be listed."""
    unexplained: float
    unexplained_error: float
    variances: Variances
    screened: bool
    notes: tuple[Note, ...]


def fit(bits: sparse.csc_array, sums: FloatArray, reports: FloatArray, rates: BitRates) -> Fit:
    """Fits the shares of ``d`` candidates.

    ``bits`` (cohorts x bits, d) is 0/1, ``sums`` (cohorts, bits), ``reports`` (cohorts,). Candidates with the same
    bits in every cohort that reported are fitted as one, and share its count equally, with an error that admits that
    either may hold all of it. Others that the data do not determine get the smallest solution, with an error as large
    as the population. Both are named in ``notes``. Raises CandidateError for a long list beside few bit counts.
    """
    observed = Observed.of(sums, reports, rates)
    seen = sparse.csc_array(sparse.csr_array(bits)[observed.used]) if not observed.used.all() else bits
    group, size, first = groups(seen)
    design = sparse.csc_array(seen[:, first]) if len(first) < seen.shape[1] else seen
    few = len(first) <= min(_MOST_AT_ONCE, _OF_FREEDOM * observed.freedom)
    if few or (observed.freedom < _EQUATIONS and len(first) <= _MOST_AT_ONCE):
        return _fit_jointly(design, observed, group, size)
    if observed.freedom < _EQUATIONS:
        raise CandidateError(
            f"{len(first):,} candidates with bits of their own for {len(observed.share)} bit counts: these reports "
            f"cannot tell so many apart. Ask for {_MOST_AT_ONCE:,} at most"
        )
    return _fit_screened(design, observed, group, size)


def _fit_jointly(design: sparse.csc_array, observed: Observed, group: npt.NDArray[np.int64], size: FloatArray) -> Fit:
    # First with weights that do not depend on the outcome; then with the variances that the first fit implies, not with
    # the observed rates', whose noise would be correlated with y and bias the fit.
    flat = _flat(observed)
    guess = Joint.of(design, observed, flat)
    variance = observed.variance(observed.expected(design, guess.share))
    solution = Joint.of(design, observed, 1 / variance)
    square = observed.residual(design, solution.share) ** 2 / variance
    dispersion = _dispersion(square, len(size))
    if len(size) <= MOST_JOINTLY:
        consistent = shrunk_jointly(solution.normal / dispersion, solution.moment / dispersion)
    else:
        consistent = shrunk(solution.share, np.diag(solution.inverse) * dispersion + solution.undetermined)
    errors = lines(design, observed, consistent, solution.coefficients(design, observed, 1 / variance))
    determined = not solution.undetermined.any()
    tail = None
    if _beyond(square, len(size), _SUSPECTED):
        own = np.diag(guess.inverse)
        score = np.divide(guess.share, own, out=np.zeros_like(own), where=own > 0)
        left = observed.residual(design, guess.share) * flat
        tail = randomised_tail(observed, left, score, guess.coefficients(design, observed, flat))
    return Fit(
        count=observed.n * (solution.share / size)[group],
        errors=_of_members(errors, dispersion, solution.share, solution.undetermined, observed.n, group, size),
        consistent=observed.n * (consistent / size)[group],
        tail=None if tail is None else tail[group],
        unexplained=1 - float(solution.share.sum()) if determined else 0.0,
        unexplained_error=float(np.sqrt(solution.inverse.sum() * dispersion)) if determined else 0.0,
        variances=Variances.of(design, observed, solution.share, len(size), variance),
        screened=False,
        notes=(*_alike(group, size), *_undetermined(solution.undetermined[group]), *_unseen(observed, len(size))),
    )


def _fit_screened(design: sparse.csc_array, observed: Observed, group: npt.NDArray[np.int64], size: FloatArray) -> Fit:
    flat = _flat(observed)
    guess = Screened.of(design, observed, flat)
    variance = observed.variance(observed.expected(design, guess.adjusting_shares()))
    solution = guess.with_weights(design, observed, 1 / variance)
    dispersion = solution.dispersion(design, observed, 1 / variance)
    undetermined = (solution.precision == 0).astype(np.float64)
    own = dispersion / np.where(undetermined > 0, 1.0, solution.precision) + undetermined
    consistent = shrunk(solution.share, own)
    population = np.minimum(np.maximum(solution.adjusting_shares(), 0.0), 1.0)
    errors = lines(design, observed, population, solution.coefficients(design, observed, 1 / variance))
    adjusting = solution.adjusting_shares()
    tail = None
    if _beyond(observed.residual(design, adjusting) ** 2 / variance, len(solution.adjusters), _SUSPECTED):
        left = observed.residual(design, guess.adjusting_shares()) * flat
        fitted = guess.of_adjusters(design, observed, flat)
        tail = randomised_tail(observed, left, guess.share * guess.precision, fitted)
    return Fit(
        count=observed.n * (solution.share / size)[group],
        errors=_of_members(errors, dispersion, solution.share, undetermined, observed.n, group, size),
        consistent=observed.n * (consistent / size)[group],
        tail=None if tail is None else tail[group],
        unexplained=1 - float(adjusting.sum()),
        unexplained_error=float(np.sqrt(solution.variance_of_sum() * dispersion)),
        variances=Variances.of(design, observed, adjusting, len(solution.adjusters), variance),
        screened=True,
        notes=(*_alike(group, size), *_undetermined(undetermined[group]), *_too_many(solution, group)),
    )


def _of_members(
    errors: Lines, dispersion: float, share: FloatArray, undetermined: FloatArray, n: float,
    group: npt.NDArray[np.int64], size: FloatArray,
) -> Lines:  # fmt: skip
    """The errors of candidates from those of the groups they are in, with what cannot be decided added."""
    alone = size == 1
    holders = np.clip(n * share, 0.0, n)
    # Where members cannot be told apart, each may hold all of the total or none of it.
    split = holders**2 * (size - 1)
    variance = dispersion * (errors.null_variance + np.where(alone, 0.0, errors.slope * holders)) + n * n * undetermined
    third = dispersion**1.5 * errors.null_third * (undetermined == 0)
    return Lines(
        null_variance=((np.maximum(variance, 0.0) + split) / size**2)[group],
        slope=(dispersion * errors.slope * alone)[group],
        null_third=(third * alone)[group],
        third_slope=(dispersion**1.5 * errors.third_slope * alone * (undetermined == 0))[group],
    )


def _dispersion(square: FloatArray, unknowns: int) -> float:
    """How much larger the residuals are than randomisation makes them, where that is beyond chance; else 1.

    Values that are in no candidate list collide with candidates' bits unevenly; the residuals show how unevenly.
    """
    return float(square.sum()) / (len(square) - unknowns) if _beyond(square, unknowns, _BEYOND_CHANCE) else 1.0


def _flat(observed: Observed) -> FloatArray:
    """Weights that do not depend on the outcome."""
    return 1 / observed.variance(np.full(len(observed.share), observed.rates.background))


def _beyond(square: FloatArray, unknowns: int, chance: float) -> bool:
    """Whether residuals are larger than randomisation makes them in this part of all decodes.

    Where every value is listed the sum of their squares, each over its variance, is a chi-squared variable.
    """
    freedom = len(square) - unknowns
    return freedom > 0 and float(square.sum()) > stats.chi2.isf(chance, freedom)


def _alike(group: npt.NDArray[np.int64], size: FloatArray) -> list[Note]:
    order = np.argsort(group, kind="stable")
    ends = np.cumsum(size).astype(np.int64)
    return [
        Note(
            order[ends[same] - int(size[same]) : ends[same]],
            "the same bits in every cohort; their common count is split equally",
        )
        for same in np.flatnonzero(size > 1)
    ]


def _undetermined(part: FloatArray) -> list[Note]:
    unknown = np.flatnonzero(part > 0)
    what = "the reports do not determine these separately; ask for fewer candidates, or use more cohorts"
    return [Note(unknown, what)] if len(unknown) else []


def _unseen(observed: Observed, unknowns: int) -> list[Note]:
    left = max(0, observed.freedom - unknowns)
    if not observed.rates.background or left >= _TOO_FEW_LEFT:
        return []
    what = (
        f"{len(observed.share)} bit counts for {unknowns} candidates are too few to show whether devices hold values "
        "that are not in the list; if they do, p-values and intervals claim too much. Use more cohorts or bits"
    )
    return [Note(np.empty(0, np.int64), what)]


def _too_many(solution: Screened, group: npt.NDArray[np.int64]) -> list[Note]:
    if not solution.full:
        return []
    what = "more candidates are frequent than these reports can tell apart; intervals cover less than they say"
    return [Note(np.flatnonzero(np.isin(group, solution.adjusters)), what)]
