"""What is asked of a joint metric: its two parts, and the candidates of either side."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from hubbub_decoder.joint.bloom import FloatArray
from hubbub_decoder.joint.expectation import expected, possible_pairs
from hubbub_decoder.joint.pairs import Pairs
from hubbub_registry import Metric

OTHER = "(other)"
"""All values of an open side that are not among its candidates."""


@dataclass(frozen=True)
class Question:
    """``name`` is what errors call it; ``sides`` are the candidates of either of ``parts``."""

    name: str
    parts: Sequence[Metric]
    sides: tuple[tuple[str, ...], tuple[str, ...]]

    @property
    def labels(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """The classes of either side: its candidates, and where others can be reported the class of all those."""
        first, second = (
            values if part.closed else (*values, OTHER) for part, values in zip(self.parts, self.sides, strict=True)
        )
        return first, second

    def expected(self, table: FloatArray) -> Pairs:
        """The pairs of records that can be reported, each with its chance where ``table`` is true."""
        return expected(self._possible, table)

    @cached_property
    def _possible(self) -> Pairs:
        return possible_pairs(self.parts, self.sides)
