"""The result of decoding: unbiased counts, each with the error it really has."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple, Protocol, Self

import numpy as np
import numpy.typing as npt

from hubbub_decoder.arguments import check_open_unit
from hubbub_decoder.consistent import BoolArray, FloatArray
from hubbub_decoder.output.frame import data_frame
from hubbub_decoder.statistics.score import Moments
from hubbub_decoder.statistics.significance import Correction, NullLaw, adjusted, skewed_tail
from hubbub_decoder.statistics.two_binomials import TwoBinomials
from hubbub_registry.exact import float_up, ln_upper

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa


class ConfidenceInterval(NamedTuple):
    """Lower and upper ends, in reports; arrays of shape (d,)."""

    low: FloatArray
    high: FloatArray


class Described(Protocol):
    """What estimates are of: a ``Metric``, or data from elsewhere."""

    @property
    def name(self) -> str:
        """What the header calls it."""

    @property
    def mechanism(self) -> str:
        """One of the mechanisms' names."""

    @property
    def ratio(self) -> Fraction:
        """e^epsilon of one report, exactly."""


@dataclass(frozen=True, eq=False, repr=False)
class Estimates:
    """Estimated counts of ``d`` values among ``n`` reports, the most frequent first.

    ``count``, ``std_error``, ``low`` and ``high`` are in reports; ``frequency`` is ``count / n``. ``count`` is
    unbiased, so it may be negative; nothing is clipped. Every array has shape (d,).

    The variance of a count is, for every mechanism, a line in the true count x: ``null_variance + slope * x``. The
    standard error is its root at the estimate (held within [0, n]). An interval is the set of all x that a two-sided
    test would not reject, with the distribution that a count has at that x: two binomials where ``rates`` are given
    (``statistics.two_binomials``), else what the first three moments say (``statistics.score``). The third
    central moment is a line too, ``null_third + third_slope * x``; ``null_third_least`` bounds it from below where a
    sketch does not know how other values collide.
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
    null_third: FloatArray
    null_third_least: FloatArray
    third_slope: FloatArray
    step: float
    """How far apart the values are that a count can take; 0 where that is too close to matter."""
    rates: tuple[float, float] | None
    """How likely a holder's and another's report supports a value, where counts come from such support alone."""
    support: npt.NDArray[np.int64] | None
    """What ``null_law`` takes, a row a value: how many reports support it."""
    null_law: NullLaw | None
    """How support is distributed where nobody holds the value; None: what the null moments say."""
    projected: FloatArray
    least_p_value: FloatArray | None = None
    """What ``p_value`` is at least: that of a second test, which holds where the first one's model does not."""
    level: float = 0.95
    notes: tuple[str, ...] = ()
    """What a reader must know to read the figures rightly; usually empty."""
    diagnostics: Mapping[str, float] = field(default_factory=dict)
    """Figures on the fit as a whole, by name; RAPPOR over Bloom filters has them (``docs/rappor.md``)."""

    @staticmethod
    def of(
        metric: Described, n: int, value: Sequence[str], *, count: FloatArray, null_variance: FloatArray,
        slope: FloatArray | float, projected: FloatArray, null_third: FloatArray | float = 0.0,
        null_third_least: FloatArray | None = None, third_slope: FloatArray | float = 0.0, step: float = 0.0,
        rates: tuple[float, float] | None = None, support: npt.NDArray[np.int64] | None = None,
        null_law: NullLaw | None = None, least_p_value: FloatArray | None = None, notes: tuple[str, ...] = (),
        diagnostics: Mapping[str, float] | None = None,
    ) -> Estimates:  # fmt: skip
        """The estimates of ``metric``, put in order: falling counts, and the values' own order among equals.

        Without ``null_third_least`` it is ``null_third``.
        """
        order = np.argsort(-count, kind="stable")
        third = np.broadcast_to(np.asarray(null_third, np.float64), count.shape)
        return Estimates(
            metric=metric.name,
            mechanism=metric.mechanism,
            ratio=metric.ratio,
            n=n,
            value=tuple(value[i] for i in order),
            count=count[order],
            null_variance=null_variance[order],
            slope=np.broadcast_to(np.asarray(slope, np.float64), count.shape)[order],
            null_third=third[order],
            null_third_least=(third if null_third_least is None else null_third_least)[order],
            third_slope=np.broadcast_to(np.asarray(third_slope, np.float64), count.shape)[order],
            step=step,
            rates=rates,
            support=None if support is None else support[order],
            null_law=null_law,
            projected=projected[order],
            least_p_value=None if least_p_value is None else least_p_value[order],
            notes=notes,
            diagnostics=diagnostics or {},
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

    @cached_property
    def p_value(self) -> FloatArray:
        """One-sided: how likely a count this high is where nobody holds the value; exact with ``null_law``."""
        if self.null_law is None or self.support is None:
            tail = skewed_tail(self.count, self.null_variance, self.null_third, self.step)
            return tail if self.least_p_value is None else np.maximum(tail, self.least_p_value)
        return self.null_law.tail(self.support)

    @property
    def low(self) -> FloatArray:
        """The lower end of each value's interval at ``level``, in reports; may be negative."""
        return self.confidence_interval().low

    @property
    def high(self) -> FloatArray:
        """The upper end of each value's interval at ``level``, in reports."""
        return self.confidence_interval().high

    def at_level(self, level: float) -> Self:
        """The same estimates with ``low`` and ``high`` at another confidence level. Raises EstimateError."""
        check_open_unit("level", level)
        return replace(self, level=level)

    def confidence_interval(self, level: float | None = None, *, simultaneous: bool = False) -> ConfidenceInterval:
        """Intervals in reports that each cover the true count with probability ``level`` (default: ``self.level``).

        ``simultaneous=True`` widens them (Bonferroni), so that all of them cover together with that probability.
        Raises EstimateError for a level that is not strictly between 0 and 1.
        """
        outside = self.outside(level, simultaneous)
        law: Moments | TwoBinomials = self.moments if self.rates is None else TwoBinomials(self.n, *self.rates)
        return ConfidenceInterval(*law.interval(self.count, outside))

    def outside(self, level: float | None, simultaneous: bool) -> float:
        """With what probability an interval of ``confidence_interval`` may miss. Raises EstimateError."""
        level = self.level if level is None else level
        check_open_unit("level", level)
        return (1 - level) / (max(1, len(self)) if simultaneous else 1)

    @property
    def moments(self) -> Moments:
        """How each count is distributed, by its first three moments."""
        thirds = self.null_third, self.null_third_least, self.third_slope
        return Moments(self.n, self.null_variance, self.slope, *thirds, self.step)

    def significant(self, alpha: float = 0.05, correction: Correction = "holm") -> BoolArray:
        """Which values are really there, at level ``alpha`` over all candidates.

        ``correction`` is ``"none"`` (alpha each), ``"bonferroni"`` or ``"holm"`` (the chance of any false one is at
        most alpha) or ``"bh"`` (the expected share of false ones among those named). Raises EstimateError.
        """
        check_open_unit("alpha", alpha)
        return adjusted(self.p_value, correction) <= alpha

    def consistent(self) -> FloatArray:
        """Counts that are not negative and add up to (at most) ``n``: biased, for charts; beside ``count``.

        The projection onto the simplex, or for RAPPOR over Bloom filters posterior quantiles (``docs/rappor.md``).
        """
        return self.projected.copy()

    def to_pandas(
        self, *, alpha: float = 0.05, correction: Correction = "holm", consistent: bool = False
    ) -> pd.DataFrame:
        """A DataFrame with one row a value and the columns of ``hubbub decode``. Raises DecodeError without pandas."""
        return data_frame(self.columns(alpha=alpha, correction=correction, consistent=consistent))

    def to_arrow(self, *, alpha: float = 0.05, correction: Correction = "holm", consistent: bool = False) -> pa.Table:
        """An Arrow table with the same columns, and what they are of in its metadata."""
        from hubbub_decoder.output.result_table import result_table  # needs this module

        return result_table(self, alpha=alpha, correction=correction, consistent=consistent)

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
        from hubbub_decoder.output.render import as_text  # rich is imported only to print

        return as_text(self)

    __repr__ = __str__
