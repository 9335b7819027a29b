"""What every result says of itself to programs, in JSON and in the metadata of a table."""

from __future__ import annotations

from fractions import Fraction
from typing import Any, Protocol


class Figures(Protocol):
    """Any result of the decoder."""

    @property
    def metric(self) -> str:
        """The metric's name."""

    @property
    def mechanism(self) -> str:
        """One of the mechanisms' names."""

    @property
    def n(self) -> int:
        """Reports."""

    @property
    def ratio(self) -> Fraction:
        """e^epsilon of one report, exactly."""

    @property
    def epsilon(self) -> float:
        """Its logarithm, rounded up."""


def identity(figures: Figures) -> dict[str, Any]:
    """Metric, mechanism, reports, and the epsilon of one, rounded up and exactly: e^epsilon as a fraction."""
    return {
        "metric": figures.metric,
        "mechanism": figures.mechanism,
        "n": figures.n,
        "epsilon": figures.epsilon,
        "exact": [figures.ratio.numerator, figures.ratio.denominator],
    }
