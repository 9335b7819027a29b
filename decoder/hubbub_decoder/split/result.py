"""The result of splitting by a public dimension: a result of each cell and of the whole."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, TypeGuard

import numpy as np

from hubbub_decoder.arguments import check_open_unit
from hubbub_decoder.asking import Result
from hubbub_decoder.consistent import BoolArray
from hubbub_decoder.errors import EstimateError
from hubbub_decoder.estimates import Estimates
from hubbub_decoder.joint.estimates import JointEstimates
from hubbub_decoder.output.arrow import arrow_table
from hubbub_decoder.output.frame import data_frame
from hubbub_decoder.output.identity import identity
from hubbub_decoder.over_time.change import Change
from hubbub_decoder.over_time.compare import compare
from hubbub_decoder.screen.suspect import Suspect
from hubbub_decoder.statistics.significance import Correction, adjusted

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa


@dataclass(frozen=True, eq=False, repr=False)
class Split:
    """``cells``, value of the dimension -> its result, in the registry's order; and ``whole``, of all reports.

    ``held_back`` are the values with fewer than ``min_cell`` reports, or none; ``refused`` those with too few for what
    is asked, each with the reason. ``whole`` counts the reports of both.
    """

    metric: str
    dimension: str
    min_cell: int
    whole: Result
    cells: Mapping[str, Result]
    held_back: tuple[str, ...] = ()
    refused: Mapping[str, str] = field(default_factory=dict)
    suspects: tuple[Suspect, ...] = ()
    """Sealed parts that honest devices hardly ever send."""
    notes: tuple[str, ...] = ()

    def __getitem__(self, cell: str) -> Result:
        if cell not in self.cells:
            what = "is held back" if cell in self.held_back else f"is no {self.dimension}"
            why = self.refused.get(cell, what)
            raise EstimateError(f"{cell!r}: {why}; shown are: {', '.join(self.cells) or 'none'}")
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
        """Cell -> which of its values or pairs are really there, at level ``alpha`` over those of all cells together.

        Without the cells of results that are not tested: a mean, quantiles and ranges. Raises EstimateError.
        """
        most = self._most(alpha, correction)
        return {cell: each.p_value <= most for cell, each in self.cells.items() if _tested(each)}

    def columns(
        self, *, alpha: float = 0.05, correction: Correction = "holm", consistent: bool = False, top: int | None = None
    ) -> dict[str, list[Any]]:
        """Name -> column: the cell, how many reports it has, and the columns of ``hubbub decode``.

        One row for each of the first ``top`` rows (None: all) of each cell.
        """
        most = self._most(alpha, correction)
        table: dict[str, list[Any]] = {"cell": [], "n": []}
        for cell, result in self.cells.items():
            own = dict(_columns(result, consistent))
            if "p_value" in own:
                own["significant"] = own["p_value"] <= most
            rows = len(next(iter(own.values()))[:top])
            table["cell"] += [cell] * rows
            table["n"] += [result.n] * rows
            for name, column in own.items():
                cut = column[:top]
                table.setdefault(name, []).extend(cut.tolist() if isinstance(cut, np.ndarray) else cut)
        return table

    def _most(self, alpha: float, correction: Correction) -> float:
        """The largest p-value of all cells that is significant; below 0 where none is. Corrections keep their order."""
        check_open_unit("alpha", alpha)
        tested = [each.p_value.ravel() for each in self.cells.values() if _tested(each)]
        p_value = np.concatenate([*tested, np.zeros(0)])
        return float(p_value[adjusted(p_value, correction) <= alpha].max(initial=-1.0))

    def described(self) -> dict[str, Any]:
        """What the figures are of, for JSON and for the metadata of a table."""
        return {
            **identity(self.whole),
            "dimension": self.dimension,
            "min_cell": self.min_cell,
            "held_back": list(self.held_back),
            "level": self.whole.level,
            **self._independence(),
            "notes": list(self.notes),
            "suspicious": [suspect._asdict() for suspect in self.suspects],
        }

    def _independence(self) -> dict[str, Any]:
        """Of a joint metric the test of each cell, and of all reports."""
        tests = {
            cell: each.independence._asdict() for cell, each in self.cells.items() if isinstance(each, JointEstimates)
        }
        if not isinstance(self.whole, JointEstimates):
            return {}
        return {"independence": tests, "independence_of_all": self.whole.independence._asdict()}

    def to_pandas(self, *, alpha: float = 0.05, correction: Correction = "holm") -> pd.DataFrame:
        """A DataFrame with a row for each cell and value. Raises DecodeError without pandas."""
        return data_frame(self.columns(alpha=alpha, correction=correction))

    def to_arrow(self, *, alpha: float = 0.05, correction: Correction = "holm") -> pa.Table:
        """An Arrow table with the same columns, and ``described()`` in its metadata."""
        return arrow_table(self.columns(alpha=alpha, correction=correction), self.described())

    def __str__(self) -> str:
        from hubbub_decoder.split.render import as_text  # rich is imported only to print

        return as_text(self)

    def __repr__(self) -> str:
        return str(self)


def _tested(result: Result) -> TypeGuard[Estimates | JointEstimates]:
    return isinstance(result, Estimates | JointEstimates)


def _columns(result: Result, consistent: bool) -> Mapping[str, Any]:
    if isinstance(result, JointEstimates):  # whose non-negative counts are a column anyway
        return result.columns(correction="none")
    return result.columns(consistent=consistent)
