"""The result of a joint question: a table of pairs, unbiased and with errors, and the table that is most likely."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import stats

from hubbub_decoder.arguments import check_open_unit
from hubbub_decoder.errors import EstimateError
from hubbub_decoder.estimates import ConfidenceInterval
from hubbub_decoder.joint.bloom import FloatArray
from hubbub_decoder.joint.independence import Independence
from hubbub_decoder.joint.question import OTHER
from hubbub_decoder.joint.shares import shares
from hubbub_decoder.output.frame import data_frame
from hubbub_decoder.statistics.significance import Correction, adjusted
from hubbub_registry.exact import float_up, ln_upper

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

__all__ = ["OTHER", "Independence", "JointEstimates", "Marginal"]


@dataclass(frozen=True, eq=False)
class Marginal:
    """One side by itself: its values, their counts, standard errors and intervals, in reports; arrays (d,)."""

    value: tuple[str, ...]
    count: FloatArray
    std_error: FloatArray
    low: FloatArray
    high: FloatArray


@dataclass(frozen=True, eq=False, repr=False)
class JointEstimates:
    """How many of ``n`` reports are of each pair of a value of ``first`` (A of them) and one of ``second`` (B).

    ``count``, ``std_error``, ``low``, ``high`` and ``likeliest`` are in reports and have shape (A, B). ``count`` is
    unbiased, adds up to ``n``, and may be negative; ``likeliest`` is the table that EM ends at: not negative, and
    beside the unbiased figures, never in place of them. Standard errors hold the noise of devices and what unlisted
    values that collide add.
    """

    metric: str
    mechanism: str
    ratio: Fraction
    """e^epsilon of one report, exactly."""
    n: int
    first: tuple[str, ...]
    second: tuple[str, ...]
    share: FloatArray
    """``count / n``."""
    likely_share: FloatArray
    """``likeliest / n``."""
    covariance: FloatArray
    """Of ``share`` where ``likely_share`` is true, flat, (A B, A B); each report's pair is drawn anew."""
    slope: FloatArray
    """How much the estimated variance of a count rises with the count, (A, B)."""
    independence: Independence
    """Whether the two sides are independent in the population that devices are drawn from."""
    level: float = 0.95
    notes: tuple[str, ...] = ()
    """What a reader must know to read the figures rightly; usually empty."""

    def __len__(self) -> int:
        return self.share.size

    @property
    def epsilon(self) -> float:
        """The exact epsilon of one report, as the smallest float that is not below it."""
        return float_up(ln_upper(self.ratio))

    @property
    def count(self) -> FloatArray:
        """The unbiased estimates."""
        return self.n * self.share

    @property
    def frequency(self) -> FloatArray:
        """``count / n``."""
        return self.share

    @property
    def likeliest(self) -> FloatArray:
        """The most likely counts that are not negative."""
        return self.n * self.likely_share

    @cached_property
    def noise(self) -> FloatArray:
        """The covariance of ``share`` for these very devices: without what drawing other devices would add."""
        flat = self.likely_share.ravel()
        drawn = (np.diag(flat) - np.outer(flat, flat)) / self.n
        return self.covariance - drawn

    @property
    def std_error(self) -> FloatArray:
        """The standard error of ``count`` as a count of these reports."""
        return self.n * np.sqrt(np.maximum(np.diag(self.noise), 0.0)).reshape(self.share.shape)

    @property
    def low(self) -> FloatArray:
        """The lower ends of the intervals at ``level``; may be negative."""
        return self.confidence_interval().low

    @property
    def high(self) -> FloatArray:
        """The upper ends of the intervals at ``level``."""
        return self.confidence_interval().high

    def confidence_interval(self, level: float | None = None) -> ConfidenceInterval:
        """All counts x within a normal quantile of the standard error that goes with x; (A, B) each.

        The more hold a pair the larger is the variance of its count, so at a count x it is what is estimated plus
        ``slope`` times x less ``likeliest``, of which the estimate is. Raises EstimateError for a level not between 0
        and 1.
        """
        level = self.level if level is None else level
        check_open_unit("level", level)
        square = _quantile(level) ** 2
        middle = square * self.slope / 2
        here = self.std_error**2 + self.slope * (self.count - self.likeliest)
        half = np.sqrt(np.maximum(middle**2 + square * here, 0.0))
        return ConfidenceInterval(self.count + middle - half, self.count + middle + half)

    @property
    def p_value(self) -> FloatArray:
        """One-sided: how likely a count this high is where nobody holds the pair; (A, B)."""
        # Nobody holds it, so drawing devices adds nothing to its variance.
        error = np.sqrt(np.maximum(np.diag(self.covariance), np.finfo(float).tiny)).reshape(self.share.shape)
        return np.asarray(stats.norm.sf(self.share / error))

    def significant(self, alpha: float = 0.05, correction: Correction = "holm") -> np.ndarray:
        """Which pairs are really there, at level ``alpha`` over the table; as ``Estimates.significant``."""
        check_open_unit("alpha", alpha)
        return adjusted(self.p_value.ravel(), correction).reshape(self.share.shape) <= alpha

    def at_level(self, level: float) -> JointEstimates:
        """The same estimates with ``low`` and ``high`` at another confidence level. Raises EstimateError."""
        check_open_unit("level", level)
        return replace(self, level=level)

    def marginal(self, side: str) -> Marginal:
        """``"first"`` or ``"second"`` by itself, summed over the other. Raises EstimateError for another side."""
        a, b = self.share.shape
        if side == "first":
            values, into = self.first, np.kron(np.eye(a), np.ones(b))
        elif side == "second":
            values, into = self.second, np.kron(np.ones(a), np.eye(b))
        else:
            raise EstimateError(f"side {side!r} is neither 'first' nor 'second'")
        count = self.n * (into @ self.share.ravel())
        error = self.n * np.sqrt(np.maximum(np.einsum("ij,jk,ik->i", into, self.noise, into), 0.0))
        half = _quantile(self.level) * error
        return Marginal(values, count, error, count - half, count + half)

    def given_first(self) -> tuple[FloatArray, FloatArray, FloatArray]:
        """P(second | first) with the ends of its intervals at ``level``, (A, B) each; see ``joint.shares``."""
        return shares(self.share, self.noise, _quantile(self.level))

    def columns(self, *, alpha: float = 0.05, correction: Correction = "holm") -> dict[str, Any]:
        """Name -> column, a row a pair by falling count, in the order in which every output shows them."""
        order = np.argsort(-self.share.ravel(), kind="stable")
        a, b = np.unravel_index(order, self.share.shape)
        share, low, high = self.given_first()
        numbers = {
            "count": self.count, "frequency": self.frequency, "std_error": self.std_error, "low": self.low,
            "high": self.high, "p_value": self.p_value, "significant": self.significant(alpha, correction),
            "given_first": share, "given_low": low, "given_high": high, "likeliest": self.likeliest,
        }  # fmt: skip
        return {
            "first": tuple(self.first[i] for i in a),
            "second": tuple(self.second[i] for i in b),
            **{name: column.ravel()[order] for name, column in numbers.items()},
        }

    def to_pandas(self, *, alpha: float = 0.05, correction: Correction = "holm") -> pd.DataFrame:
        """A DataFrame with the columns of ``hubbub decode``. Raises DecodeError without pandas."""
        return data_frame(self.columns(alpha=alpha, correction=correction))

    def to_arrow(self, *, alpha: float = 0.05, correction: Correction = "holm") -> pa.Table:
        """An Arrow table with the same columns, and what they are of in its metadata."""
        from hubbub_decoder.joint.render import arrow  # needs this module

        return arrow(self, alpha=alpha, correction=correction)

    def __str__(self) -> str:
        from hubbub_decoder.joint.render import as_text  # rich is imported only to print

        return as_text(self)

    def __repr__(self) -> str:
        return str(self)


def _quantile(level: float) -> float:
    return float(stats.norm.isf((1 - level) / 2))
