"""The result of splitting by a public dimension: estimates, or a mean, of each cell and of the whole."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from hubbub_decoder.arrow import arrow_table
from hubbub_decoder.consistent import BoolArray
from hubbub_decoder.errors import DecodeError, EstimateError
from hubbub_decoder.estimates import Estimates
from hubbub_decoder.mean import Mean
from hubbub_decoder.over_time.change import Change
from hubbub_decoder.over_time.compare import compare
from hubbub_decoder.reading import Suspect
from hubbub_decoder.significance import Correction, adjusted

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

Result = Estimates | Mean


@dataclass(frozen=True, eq=False, repr=False)
class Split:
    """``cells``, value of the dimension -> its result, in the registry's order; and ``whole``, of all reports.

    ``held_back`` are the values with fewer than ``min_cell`` reports, or none; ``whole`` counts theirs too.
    """

    metric: str
    dimension: str
    min_cell: int
    whole: Result
    cells: Mapping[str, Result]
    held_back: tuple[str, ...] = ()
    suspects: tuple[Suspect, ...] = ()
    """Sealed parts that honest devices hardly ever send."""
    notes: tuple[str, ...] = ()

    def __getitem__(self, cell: str) -> Result:
        if cell not in self.cells:
            what = "is held back" if cell in self.held_back else f"is no {self.dimension}"
            raise EstimateError(f"{cell!r} {what}; shown are: {', '.join(self.cells) or 'none'}")
        return self.cells[cell]

    def __len__(self) -> int:
        return len(self.cells)

    def at_level(self, level: float) -> Split:
        """The same with intervals at another confidence level. Raises EstimateError."""
        cells = {cell: result.at_level(level) for cell, result in self.cells.items()}
        return replace(self, whole=self.whole.at_level(level), cells=cells)

    def between(self, before: str, after: str, *, level: float = 0.95, simultaneous: bool = False) -> Change:
        """The difference from one cell to another, as ``compare`` gives it of a fresh sample. Raises EstimateError."""
        names = (f"{self.dimension} {before}", f"{self.dimension} {after}")
        return compare(
            self[before], self[after], level=level, simultaneous=simultaneous, sampled=True, names=names
        )  # fmt: skip

    def significant(self, alpha: float = 0.05, correction: Correction = "holm") -> dict[str, BoolArray]:
        """Cell -> which values are really there, at level ``alpha`` over all candidates of all cells together."""
        counted = {cell: result for cell, result in self.cells.items() if isinstance(result, Estimates)}
        if not counted:
            return {}
        found = adjusted(np.concatenate([result.p_value for result in counted.values()]), correction) <= alpha
        ends = np.cumsum([len(result) for result in counted.values()])
        return dict(zip(counted, np.split(found, ends[:-1]), strict=True))

    def columns(
        self, *, alpha: float = 0.05, correction: Correction = "holm", consistent: bool = False, top: int | None = None
    ) -> dict[str, list[Any]]:
        """Name -> column: the cell, how many reports it has, and the columns of ``hubbub decode``.

        One row for each of the first ``top`` values (None: all) of each cell.
        """
        really = self.significant(alpha, correction)
        table: dict[str, list[Any]] = {"cell": [], "n": []}
        for cell, result in self.cells.items():
            own: Mapping[str, Sequence[Any] | np.ndarray[Any, Any]]
            if isinstance(result, Mean):
                own = result.columns(consistent=consistent)
            else:
                own = {**result.columns(correction="none", consistent=consistent), "significant": really[cell]}
            rows = len(next(iter(own.values()))[:top])
            table["cell"] += [cell] * rows
            table["n"] += [result.n] * rows
            for name, column in own.items():
                cut = column[:top]
                table.setdefault(name, []).extend(cut.tolist() if isinstance(cut, np.ndarray) else cut)
        return table

    def described(self) -> dict[str, Any]:
        """What the figures are of, for JSON and for the metadata of a table."""
        return {
            "metric": self.metric,
            "mechanism": self.whole.mechanism,
            "n": self.whole.n,
            "epsilon": self.whole.epsilon,
            "exact": [self.whole.ratio.numerator, self.whole.ratio.denominator],
            "dimension": self.dimension,
            "min_cell": self.min_cell,
            "held_back": list(self.held_back),
            "level": self.whole.level,
            "notes": list(self.notes),
            "suspicious": [suspect._asdict() for suspect in self.suspects],
        }

    def to_pandas(self, *, alpha: float = 0.05, correction: Correction = "holm") -> pd.DataFrame:
        """A DataFrame with a row for each cell and value. Raises DecodeError without pandas."""
        try:
            import pandas as pd
        except ImportError:
            raise DecodeError("to_pandas needs pandas; pip install pandas") from None
        return pd.DataFrame(self.columns(alpha=alpha, correction=correction))

    def to_arrow(self, *, alpha: float = 0.05, correction: Correction = "holm") -> pa.Table:
        """An Arrow table with the same columns, and ``described()`` in its metadata."""
        return arrow_table(self.columns(alpha=alpha, correction=correction), self.described())

    def __str__(self) -> str:
        from hubbub_decoder.split.render import as_text  # rich is imported only to print

        return as_text(self)

    def __repr__(self) -> str:
        return str(self)
