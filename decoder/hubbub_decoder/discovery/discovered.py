"""The list of what was discovered: estimates that know that they were listed for being high."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields

import numpy as np

from hubbub_decoder.consistent import BoolArray, FloatArray
from hubbub_decoder.errors import EstimateError
from hubbub_decoder.estimates import ConfidenceInterval, Estimates
from hubbub_decoder.statistics.significance import Correction
from hubbub_decoder.statistics.truncated import Truncated


@dataclass(frozen=True, eq=False, repr=False)
class Discovered(Estimates):
    """Estimates of strings that were found.

    Where they are listed for being significant, near the threshold ``count`` is more often too high than too low; then
    ``conditional_count``, and ``low`` and ``high``, hold given that a string is listed: among all lists that it is on,
    the other strings' p-values being what they are. ``count``, ``frequency`` and ``std_error`` are as ever.
    """

    listed_from: FloatArray | None = None
    """The count above which each string is listed, in reports; None where the others are listed, too."""

    @staticmethod
    def all_of(tested: Estimates) -> Discovered:
        """All strings that were found, significant or not."""
        return Discovered(**{each.name: getattr(tested, each.name) for each in fields(Estimates)})

    @staticmethod
    def of_rows(tested: Estimates, chosen: BoolArray, listed_from: FloatArray) -> Discovered:
        """The strings that are ``chosen`` (d,), in their order; ``listed_from`` is of these."""
        rows = {each.name: getattr(tested, each.name) for each in fields(Estimates)}
        for name, column in rows.items():
            if isinstance(column, np.ndarray):
                rows[name] = column[chosen]
        rows["value"] = tuple(tested.value[i] for i in np.flatnonzero(chosen))
        return Discovered(**rows, listed_from=listed_from)

    @property
    def conditional_count(self) -> FloatArray:
        """The count given that it is listed: as often too high as too low. In reports, within [0, n]; shape (d,).

        Raises EstimateError where strings are listed that are not significant: no count depends on that.
        """
        return self._truncated().median(self.count)

    def confidence_interval(
        self, level: float | None = None, *, simultaneous: bool = False, conditional: bool | None = None
    ) -> ConfidenceInterval:
        """As of all estimates; ``conditional`` ones cover with that probability given that the string is listed.

        None: wherever only what is significant is listed. Raises EstimateError for ``True`` elsewhere, and for a level
        that is not strictly between 0 and 1.
        """
        if conditional is None:
            conditional = self.listed_from is not None
        if not conditional:
            return super().confidence_interval(level, simultaneous=simultaneous)
        return ConfidenceInterval(*self._truncated().interval(self.count, self.outside(level, simultaneous)))

    def columns(
        self, *, alpha: float = 0.05, correction: Correction = "holm", consistent: bool = False
    ) -> dict[str, Sequence[str] | FloatArray | BoolArray]:
        """As of all estimates, with ``conditional_count`` before its interval where that is conditional."""
        table = super().columns(alpha=alpha, correction=correction, consistent=consistent)
        if self.listed_from is None:
            return table
        before = list(table).index("low")
        names = [*list(table)[:before], "conditional_count", *list(table)[before:]]
        return {name: self.conditional_count if name == "conditional_count" else table[name] for name in names}

    def _truncated(self) -> Truncated:
        if self.listed_from is None:
            raise EstimateError(
                f"metric {self.metric}: strings are listed here that are not significant, so no count is conditional "
                "on being listed; discover without insignificant"
            )
        return Truncated(self.moments, self.listed_from)
