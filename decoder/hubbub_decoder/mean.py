"""The result of decoding a mean: one figure, with the error it really has."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, NamedTuple

from scipy import special

from hubbub_decoder.arguments import check_open_unit
from hubbub_decoder.output.frame import data_frame
from hubbub_registry import Metric
from hubbub_registry.exact import float_up, ln_upper

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa


class MeanInterval(NamedTuple):
    """Lower and upper ends, in the unit of the values."""

    low: float
    high: float


@dataclass(frozen=True)
class Mean:
    """The estimated mean of the values of ``n`` devices, one report each, of which ``ones`` were a 1.

    A report is 1 with probability ``p`` from a device at the upper ``bound``, ``q`` from one at the lower, and for a
    value between them in proportion; so their share of ones, seen from q to p, is the mean seen from bound to bound.
    ``mean`` is unbiased and may lie outside the bounds; nothing is clipped. All figures are in the unit of the values.
    """

    metric: str
    mechanism: str
    ratio: Fraction
    """e^epsilon of one report, exactly."""
    n: int
    ones: int
    p: Fraction
    q: Fraction
    bounds: tuple[int, int]
    """The lowest and the highest value that the metric takes."""
    level: float = 0.95
    notes: tuple[str, ...] = ()
    """What a reader must know to read the figures rightly; usually empty."""

    @staticmethod
    def of(metric: Metric, n: int, ones: int, p: Fraction, q: Fraction) -> Mean:
        """The mean of ``metric``."""
        parameters = metric.device.parameters
        low = parameters["low"] - parameters["below_zero"]
        bounds = (low, low + parameters["span"])
        return Mean(metric.name, metric.mechanism, metric.ratio, n, ones, p, q, bounds)

    def __len__(self) -> int:
        return 1

    @property
    def epsilon(self) -> float:
        """The exact epsilon of one report, as the smallest float that is not below it."""
        return float_up(ln_upper(self.ratio))

    @property
    def mean(self) -> float:
        """The unbiased estimate."""
        return self._from_share(self.ones / self.n)

    @property
    def std_error(self) -> float:
        """The standard error of ``mean``: rounding, permanent flips and perturbation together.

        A report is one bit, so its variance is s(1-s), with s its chance to be 1; summed over devices that is at most
        n S(1-S), with S the mean chance, and exactly that where all hold one value. How far values spread, which would
        make it less, cannot be read from one bit a device. S is taken at the estimate, held within [q, p].
        """
        share = min(max(self.ones / self.n, float(self.q)), float(self.p))
        return (self.bounds[1] - self.bounds[0]) / float(self.p - self.q) * math.sqrt(share * (1 - share) / self.n)

    @property
    def low(self) -> float:
        """The lower end of the interval at ``level``."""
        return self.confidence_interval().low

    @property
    def high(self) -> float:
        """The upper end of the interval at ``level``."""
        return self.confidence_interval().high

    def at_level(self, level: float) -> Mean:
        """The same estimate with ``low`` and ``high`` at another confidence level. Raises EstimateError."""
        check_open_unit("level", level)
        return replace(self, level=level)

    def confidence_interval(self, level: float | None = None) -> MeanInterval:
        """An interval that covers the true mean with probability ``level`` at least (default: ``self.level``).

        Every mean with which neither so many ones nor so few have a chance of (1 - ``level``) / 2 or less: Clopper and
        Pearson's exact interval for the share of ones ("The use of confidence or fiducial limits illustrated in the
        case of the binomial", Biometrika 26, 1934). Raises EstimateError for a level that is not strictly between 0
        and 1.
        """
        level = self.level if level is None else level
        check_open_unit("level", level)
        outside, zeros = (1 - level) / 2, self.n - self.ones
        low = float(special.betaincinv(self.ones, zeros + 1, outside)) if self.ones else 0.0
        high = float(special.betainccinv(self.ones + 1, zeros, outside)) if zeros else 1.0
        return MeanInterval(self._from_share(low), self._from_share(high))

    def consistent(self) -> float:
        """The mean held within the bounds: biased, for charts, and beside ``mean``."""
        return min(max(self.mean, float(self.bounds[0])), float(self.bounds[1]))

    def to_pandas(self, *, consistent: bool = False) -> pd.DataFrame:
        """A DataFrame of one row with the columns of ``hubbub decode``. Raises DecodeError without pandas."""
        return data_frame(self.columns(consistent=consistent))

    def to_arrow(self, *, consistent: bool = False) -> pa.Table:
        """An Arrow table of one row with the same columns, and what they are of in its metadata."""
        from hubbub_decoder.output.result_table import result_table  # needs this module

        return result_table(self, consistent=consistent)

    def columns(self, *, consistent: bool = False) -> dict[str, Sequence[float]]:
        """Name -> column of one figure, in the order in which every output shows them."""
        low, high = self.confidence_interval()
        table: dict[str, Sequence[float]] = {
            "mean": [self.mean],
            "std_error": [self.std_error],
            "low": [low],
            "high": [high],
        }
        if consistent:
            table["consistent"] = [self.consistent()]
        return table

    def __str__(self) -> str:
        from hubbub_decoder.output.render import as_text  # rich is imported only to print

        return as_text(self)

    def _from_share(self, share: float) -> float:
        low, high = self.bounds
        return low + (high - low) * (share - float(self.q)) / float(self.p - self.q)
