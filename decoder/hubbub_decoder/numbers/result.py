"""What quantiles and ranges share: what they are of, how they print, and the tables they turn into."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Self

from scipy import special

from hubbub_decoder.arguments import check_open_unit
from hubbub_decoder.numbers.distribution import Distribution
from hubbub_decoder.output.frame import data_frame
from hubbub_registry.exact import float_up, ln_upper

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa


@dataclass(frozen=True, eq=False, repr=False)
class RangeResult(ABC):
    """Figures from the ``distribution`` of a number, with intervals at ``level``."""

    distribution: Distribution = field(repr=False)
    level: float = field(default=0.95, kw_only=True)
    notes: tuple[str, ...] = field(default=(), kw_only=True)
    """What a reader must know to read the figures rightly; usually empty."""

    @abstractmethod
    def __len__(self) -> int:
        """How many figures there are."""

    @property
    def metric(self) -> str:
        """The metric's name."""
        return self.distribution.metric

    @property
    def mechanism(self) -> str:
        """The mechanism's name."""
        return self.distribution.mechanism

    @property
    def ratio(self) -> Fraction:
        """e^epsilon of one report, exactly."""
        return self.distribution.ratio

    @property
    def n(self) -> int:
        """How many reports there are."""
        return self.distribution.n

    @property
    def epsilon(self) -> float:
        """The exact epsilon of one report, as the smallest float that is not below it."""
        return float_up(ln_upper(self.ratio))

    def at_level(self, level: float) -> Self:
        """The same figures with ``low`` and ``high`` at another confidence level. Raises EstimateError."""
        check_level(level)
        return replace(self, level=level)

    @abstractmethod
    def columns(self, *, consistent: bool = False) -> dict[str, Sequence[Any]]:
        """Name -> column, in the order in which every output shows them."""

    def to_pandas(self, *, consistent: bool = False) -> pd.DataFrame:
        """A DataFrame with the columns of ``hubbub decode``. Raises DecodeError without pandas."""
        return data_frame(self.columns(consistent=consistent))

    def to_arrow(self, *, consistent: bool = False) -> pa.Table:
        """An Arrow table with the same columns, and what they are of in its metadata."""
        from hubbub_decoder.output.result_table import result_table  # needs this module

        return result_table(self, consistent=consistent)

    def __str__(self) -> str:
        from hubbub_decoder.output.render import as_text  # rich is imported only to print

        return as_text(self)

    def __repr__(self) -> str:
        return str(self)


def check_level(level: float) -> None:
    """Raises EstimateError for a level that is not strictly between 0 and 1."""
    check_open_unit("level", level)


def deviations(level: float) -> float:
    """How many standard errors an interval of this level reaches to either side."""
    return float(special.ndtri((1 + level) / 2))
