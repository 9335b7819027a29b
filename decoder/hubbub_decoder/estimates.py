"""The result of decoding: unbiased counts, each with the error it really has."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import stats

from hubbub_decoder.consistent import FloatArray
from hubbub_decoder.errors import DecodeError, EstimateError
from hubbub_decoder.significance import Correction, adjusted
from hubbub_registry import Metric
from hubbub_registry.exact import float_up, ln_upper

if TYPE_CHECKING:
    import pandas as pd

BoolArray = npt.NDArray[np.bool_]


class ConfidenceInterval(NamedTuple):
    """Lower and upper ends, in reports; arrays of shape (d,)."""

    low: FloatArray
    high: FloatArray


@dataclass(frozen=True, eq=False, repr=False)
class Estimates:
    """Estimated counts of ``d`` values among ``n`` reports, the most frequent first.

    ``count``, ``std_error``, ``low`` and ``high`` are in reports; ``frequency`` is ``count / n``. ``count`` is
    unbiased, so it may be negative; nothing is clipped. Every array has shape (d,).

    The variance of a count is, for every mechanism, a line in the true count x: ``null_variance + slope * x``. The
    standard error is its root at the estimate (held within [0, n]), the p-value uses it at x = 0, and an interval is
    the set of all x that a two-sided test would not reject (Wilson's score interval, with the exact variance).
    """

    metric: str
    mechanism: str
    ratio: Fraction
    """e^epsilon of one report, exactly."""
    n: int
    value: tuple[str, ...]
    count: FloatArray
    null_variance: FloatArray
    slope: FloatArray
    projected: FloatArray
    level: float = 0.95
    notes: tuple[str, ...] = ()
    """What a reader must know to read the figures rightly; usually empty."""

    @staticmethod
    def of(
        metric: Metric, n: int, value: Sequence[str], *, count: FloatArray, null_variance: FloatArray,
        slope: FloatArray | float, projected: FloatArray, notes: tuple[str, ...] = (),
    ) -> Estimates:  # fmt: skip
        """The estimates of ``metric``, put in order: falling counts, and the values' own order among equals."""
        order = np.argsort(-count, kind="stable")
        return Estimates(
            metric=metric.name,
            mechanism=metric.mechanism,
            ratio=metric.ratio,
            n=n,
            value=tuple(value[i] for i in order),
            count=count[order],
            null_variance=null_variance[order],
            slope=np.broadcast_to(np.asarray(slope, np.float64), count.shape)[order],
            projected=projected[order],
            notes=notes,
        )

    def __len__(self) -> int:
        return len(self.value)

    @property
    def epsilon(self) -> float:
        """The exact epsilon of one report, as the smallest float that is not below it."""
        return float_up(ln_upper(self.ratio))

    @property
    def frequency(self) -> FloatArray:
        """``count / n``."""
        return self.count / self.n

    @property
    def std_error(self) -> FloatArray:
        """The standard error of ``count``, in reports: randomisation, sketch and collisions together."""
        return np.sqrt(np.maximum(self.null_variance + self.slope * np.clip(self.count, 0, self.n), 0.0))

    @property
    def p_value(self) -> FloatArray:
        """One-sided: how likely a count this high is where nobody holds the value."""
        spread = np.sqrt(self.null_variance)
        score = np.divide(self.count, spread, out=np.where(self.count > 0, np.inf, -np.inf), where=spread > 0)
        return np.asarray(stats.norm.sf(score), np.float64)

    @property
    def low(self) -> FloatArray:
        """The lower end of each value's interval at ``level``, in reports; may be negative."""
        return self.confidence_interval().low

    @property
    def high(self) -> FloatArray:
        """The upper end of each value's interval at ``level``, in reports."""
        return self.confidence_interval().high

    def at_level(self, level: float) -> Estimates:
        """The same estimates with ``low`` and ``high`` at another confidence level. Raises EstimateError."""
        _check_open_unit("level", level)
        return replace(self, level=level)

    def confidence_interval(self, level: float | None = None, *, simultaneous: bool = False) -> ConfidenceInterval:
        """Intervals in reports that each cover the true count with probability ``level`` (default: ``self.level``).

        ``simultaneous=True`` widens them (Bonferroni), so that all of them cover together with that probability.
        Raises EstimateError for a level that is not strictly between 0 and 1.
        """
        level = self.level if level is None else level
        _check_open_unit("level", level)
        outside = (1 - level) / (max(1, len(self)) if simultaneous else 1)
        z = float(stats.norm.isf(outside / 2))
        # (count - x)^2 <= z^2 (null_variance + slope x), solved for x.
        shift = z * self.slope / 2
        half = z * np.sqrt(np.maximum(self.null_variance + self.slope * self.count, 0.0) + shift**2)
        centre = self.count + z * shift
        return ConfidenceInterval(centre - half, centre + half)

    def significant(self, alpha: float = 0.05, correction: Correction = "holm") -> BoolArray:
        """Which values are really there, at level ``alpha`` over all candidates.

        ``correction`` is ``"none"`` (alpha each), ``"bonferroni"`` or ``"holm"`` (the chance of any false one is at
        most alpha) or ``"bh"`` (the expected share of false ones among those named). Raises EstimateError.
        """
        _check_open_unit("alpha", alpha)
        return adjusted(self.p_value, correction) <= alpha

    def consistent(self) -> FloatArray:
        """Counts that are not negative and add up to (at most) ``n``: biased, for charts; beside ``count``.

        The projection onto the simplex, or for RAPPOR the non-negative sparse least-squares solution.
        """
        return self.projected.copy()

    def to_pandas(
        self, *, alpha: float = 0.05, correction: Correction = "holm", consistent: bool = False
    ) -> pd.DataFrame:
        """A DataFrame with one row a value and the columns of ``hubbub decode``. Raises DecodeError without pandas."""
        try:
            import pandas as pd
        except ImportError:
            raise DecodeError("to_pandas needs pandas; pip install pandas") from None
        return pd.DataFrame(self.columns(alpha=alpha, correction=correction, consistent=consistent))

    def columns(
        self, *, alpha: float = 0.05, correction: Correction = "holm", consistent: bool = False
    ) -> dict[str, Sequence[str] | FloatArray | BoolArray]:
        """Name -> column, in the order in which every output shows them."""
        low, high = self.confidence_interval()
        table: dict[str, Sequence[str] | FloatArray | BoolArray] = {
            "value": self.value,
            "count": self.count,
            "frequency": self.frequency,
            "std_error": self.std_error,
            "low": low,
            "high": high,
            "p_value": self.p_value,
            "significant": self.significant(alpha, correction),
        }
        if consistent:
            table["consistent"] = self.consistent()
        return table

    def __str__(self) -> str:
        from hubbub_decoder.render import as_text  # rich is imported only to print

        return as_text(self)

    def __repr__(self) -> str:
        return str(self)


def _check_open_unit(name: str, number: float) -> None:
    if not 0 < number < 1:
        raise EstimateError(f"{name} = {number!r} is not strictly between 0 and 1; 0.95 and 0.05 are usual")
