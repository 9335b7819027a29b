"""The result of decoding period by period: estimates of each, with bands, and of all together."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from hubbub_decoder.asking import Result
from hubbub_decoder.consistent import FloatArray
from hubbub_decoder.errors import EstimateError
from hubbub_decoder.joint.estimates import JointEstimates
from hubbub_decoder.output.arrow import arrow_table
from hubbub_decoder.output.frame import data_frame
from hubbub_decoder.output.identity import identity
from hubbub_decoder.over_time.change import Change
from hubbub_decoder.over_time.compare import compare
from hubbub_decoder.over_time.figures import (
    Label,
    errors_of,
    figures_of,
    heads_of,
    interval_of,
    label_columns,
    labels_of,
    quantity_of,
)
from hubbub_decoder.screen.suspect import Suspect
from hubbub_decoder.sealed.periods import begins, named

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa


@dataclass(frozen=True, eq=False, repr=False)
class Trend:
    """One result for each of ``periods``, in order of time; ``d`` values (1 for a mean), the most frequent first.

    Quantiles and ranges are in the order in which they were asked for. Bands are in shares of a period's n, or for a
    mean and quantiles in their unit.
    """

    metric: str
    seconds: int
    """How long a period is."""
    periods: tuple[int, ...]
    """Unix time divided by ``seconds``."""
    results: tuple[Result, ...]
    pooled: Result
    """From the reports of all periods together. Where noise is permanent its errors are bounds (see ``widened``); those
    of a mean are as for devices that come once, and too small by the root of ``most_reports`` at most."""
    suspects: tuple[Suspect, ...] = ()
    """Sealed parts that honest devices hardly ever send."""
    level: float = 0.95
    notes: tuple[str, ...] = ()

    @property
    def value(self) -> tuple[Label, ...]:
        """The values, the most frequent over all periods first: pairs of a joint metric, probabilities of quantiles,
        the integers of ranges; ``("mean",)`` for a mean."""
        labels = labels_of(self.pooled)
        if isinstance(self.pooled, JointEstimates):
            return tuple(labels[i] for i in np.argsort(-figures_of(self.pooled), kind="stable"))
        return labels

    def __len__(self) -> int:
        return len(self.periods)

    def at_level(self, level: float) -> Trend:
        """The same with bands at another confidence level. Raises EstimateError."""
        results = tuple(each.at_level(level) for each in self.results)
        return replace(self, level=level, results=results, pooled=self.pooled.at_level(level))

    def estimate(self) -> FloatArray:
        """Frequencies, means, or quantiles; shape (periods, d)."""
        return self._rows(figures_of)

    def std_error(self) -> FloatArray:
        """The standard error of each; shape (periods, d)."""
        return self._rows(errors_of)

    def bands(self, *, simultaneous: bool = False) -> tuple[FloatArray, FloatArray]:
        """The lower and the upper ends, each of shape (periods, d).

        Each interval covers its true figure with probability ``level``; ``simultaneous=True`` widens them (Bonferroni
        over all periods and values), so that all of them cover together with that probability.
        """
        level = 1 - (1 - self.level) / len(self) if simultaneous else self.level
        low = self._rows(lambda each: interval_of(each, level, simultaneous=simultaneous)[0])
        high = self._rows(lambda each: interval_of(each, level, simultaneous=simultaneous)[1])
        return low, high

    def between(self, before: int, after: int, *, simultaneous: bool = False, sampled: bool = False) -> Change:
        """The change from one of ``periods`` to another, as ``compare`` gives it. Raises EstimateError.

        With many reports of a sketch, ``compare_states`` sees smaller changes.
        """
        for period in (before, after):
            if period not in self.periods:
                raise EstimateError(
                    f"between: period {period!r} is not in this trend; it has {named(self.periods, self.seconds)}"
                )
        first, second = (self.results[self.periods.index(period)] for period in (before, after))
        names = (self.begins(before), self.begins(after))
        change = compare(first, second, level=self.level, simultaneous=simultaneous, sampled=sampled, names=names)
        return replace(change, periods=((before,), (after,)))

    def begins(self, period: int) -> str:
        """When a period begins (UTC)."""
        return begins(period, self.seconds)

    def columns(self, *, simultaneous: bool = False, top: int | None = None) -> dict[str, Sequence[Any] | FloatArray]:
        """Name -> column, with a row for each of the first ``top`` values (None: all) and each period."""
        names = self.value[:top]
        low, high = self.bands(simultaneous=simultaneous)
        times = len(names)
        figures = {
            quantity_of(self.pooled): self.estimate(), "std_error": self.std_error(), "low": low, "high": high,
        }  # fmt: skip
        return {
            **label_columns(heads_of(self.pooled), names, len(self)),
            "period": list(self.periods) * times,
            "begins": [self.begins(period) for period in self.periods] * times,
            "n": [result.n for result in self.results] * times,
            **{name: array[:, :times].T.ravel() for name, array in figures.items()},
        }

    def described(self) -> dict[str, Any]:
        """What the figures are of, for JSON and for the metadata of a table."""
        return {
            **identity(self.pooled),
            "period_seconds": self.seconds,
            "periods": list(self.periods),
            "level": self.level,
            "notes": list(self.notes),
            "suspicious": [suspect._asdict() for suspect in self.suspects],
        }

    def to_pandas(self, *, simultaneous: bool = False) -> pd.DataFrame:
        """A DataFrame with a row for each value and period. Raises DecodeError without pandas."""
        return data_frame(self.columns(simultaneous=simultaneous))

    def to_arrow(self, *, simultaneous: bool = False) -> pa.Table:
        """An Arrow table with the same columns, and ``described()`` in its metadata."""
        return arrow_table(self.columns(simultaneous=simultaneous), self.described())

    def _rows(self, of: Callable[[Result], FloatArray]) -> FloatArray:
        """One figure of every period and value, in the order of ``value``; shape (periods, d)."""
        rows = []
        for result in self.results:
            place = {label: i for i, label in enumerate(labels_of(result))}
            rows.append(of(result)[[place[label] for label in self.value]])
        return np.array(rows)

    def __str__(self) -> str:
        from hubbub_decoder.over_time.render import trend_text  # rich is imported only to print

        return trend_text(self)

    def __repr__(self) -> str:
        return str(self)
