"""The memory of bodies that have not arrived whole: one budget for all connections of a worker."""

from __future__ import annotations

from hubbub_collector.errors import Refusal

BATCH_BYTES = 320
"""What a parsed batch takes besides its records: its tuples, its fingerprint, its period."""


class Arriving:
    """How many bytes of unfinished bodies are held, against ``budget``."""

    def __init__(self, budget: int) -> None:
        self._budget = budget
        self.held = 0

    def take(self, size: int, mine: int) -> None:
        """Holds ``size`` bytes more of a body of which ``mine`` are held. Raises Refusal (503), holding nothing more,
        where the budget is used up.

        A body may always have the budget to itself: otherwise one larger than the budget could never arrive.
        """
        if self.held > mine and self.held + size > self._budget:
            raise Refusal(503, "arriving-full", "too many uploads are arriving at this moment", retry_after=1)
        self.held += size

    def give_back(self, size: int) -> None:
        """Holds ``size`` bytes less."""
        self.held -= size
