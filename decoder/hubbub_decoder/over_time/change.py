"""The result of comparing two periods: how much each value changed, and whether that is more than noise."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from hubbub_decoder.arguments import check_open_unit
from hubbub_decoder.consistent import BoolArray, FloatArray
from hubbub_decoder.output.arrow import arrow_table
from hubbub_decoder.output.frame import data_frame
from hubbub_decoder.over_time.any_change import any_change
from hubbub_decoder.over_time.figures import Label, label_columns
from hubbub_decoder.statistics.significance import Correction, adjusted

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa


@dataclass(frozen=True, eq=False, repr=False)
class Change:
    """The change of ``d`` frequencies, of a mean, or of quantiles, from one period to another; the least likely first.

    All arrays have shape (d,); all but ``p_value`` are shares of n, or for a mean and quantiles in their unit.
    ``difference`` is ``after - before``, unbiased where those are. ``low`` and ``high`` cover the true difference at
    ``level``: the root of the sum of both periods' squared distances to their own intervals' ends (Zou and Donner,
    "Construction of confidence intervals about effect measures", Statistics in Medicine 27, 2008). ``p_value`` is
    two-sided: how likely so large a difference is where the true one is 0.
    """

    metric: str
    what: str
    """``"frequency"``, ``"mean"`` or ``"quantile"``."""
    mechanism: str
    epsilon: tuple[float, float]
    """Of one report in the one period and in the other."""
    n: tuple[int, int]
    """The reports of the one period and of the other."""
    value: tuple[Label, ...]
    before: FloatArray
    after: FloatArray
    std_error: FloatArray
    low: FloatArray
    high: FloatArray
    p_value: FloatArray
    level: float
    heads: tuple[str, ...] = ("value",)
    """The names of the columns that ``value`` makes: two where each is a pair."""
    names: tuple[str, str] = ("before", "after")
    """What the two periods are called, for people."""
    periods: tuple[tuple[int, ...], tuple[int, ...]] = ((), ())
    """The numbers of the periods on either side, which are pooled; empty where that is not known."""
    notes: tuple[str, ...] = ()
    """What a reader must know to read the figures rightly; usually empty."""

    def __len__(self) -> int:
        return len(self.value)

    @property
    def difference(self) -> FloatArray:
        """``after - before``."""
        return self.after - self.before

    @property
    def any_p_value(self) -> float:
        """How likely differences as large as these are where nothing changed: valid whatever their dependence."""
        return any_change(self.p_value)

    def significant(self, alpha: float = 0.05, correction: Correction = "holm") -> BoolArray:
        """Which values changed, at level ``alpha`` over all of them; as ``Estimates.significant``.

        Raises EstimateError for an alpha that is not strictly between 0 and 1, and for another correction.
        """
        check_open_unit("alpha", alpha)
        return adjusted(self.p_value, correction) <= alpha

    def columns(
        self, *, alpha: float = 0.05, correction: Correction = "holm"
    ) -> dict[str, Sequence[Any] | FloatArray | BoolArray]:
        """Name -> column, in the order in which every output shows them."""
        return {
            **label_columns(self.heads, self.value),
            "before": self.before,
            "after": self.after,
            "difference": self.difference,
            "std_error": self.std_error,
            "low": self.low,
            "high": self.high,
            "p_value": self.p_value,
            "significant": self.significant(alpha, correction),
        }

    def described(self) -> dict[str, Any]:
        """What the figures are of, for JSON and for the metadata of a table."""
        return {
            "metric": self.metric,
            "mechanism": self.mechanism,
            "what": self.what,
            "n": list(self.n),
            "epsilon": list(self.epsilon),
            "names": list(self.names),
            "periods": [list(each) for each in self.periods],
            "level": self.level,
            "any_p_value": self.any_p_value,
            "notes": list(self.notes),
        }

    def to_pandas(self, *, alpha: float = 0.05, correction: Correction = "holm") -> pd.DataFrame:
        """A DataFrame with one row a value. Raises DecodeError without pandas."""
        return data_frame(self.columns(alpha=alpha, correction=correction))

    def to_arrow(self, *, alpha: float = 0.05, correction: Correction = "holm") -> pa.Table:
        """An Arrow table with the same columns, and ``described()`` in its metadata."""
        return arrow_table(self.columns(alpha=alpha, correction=correction), self.described())

    def __str__(self) -> str:
        from hubbub_decoder.over_time.render import change_text  # rich is imported only to print

        return change_text(self)

    def __repr__(self) -> str:
        return str(self)
