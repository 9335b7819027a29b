"""Tells an operator that the quarantine is full, without a line for every upload that a stranger sends."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable

log = logging.getLogger("hubbub.collector")

_QUIET_SECONDS = 3600.0


class TurningAway:
    """Whether one worker's quarantine turns batches away. It does from the first that did not fit until it shrinks."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._said: float | None = None
        self._held = 0
        self.full = False
        """Whether batches are turned away, though the budget is more than nothing."""

    def turned_away(self, held: int, budget: int) -> None:
        """Notes that batches did not fit beside the ``held`` bytes; logs that at most once an hour."""
        if not budget:  # the operator wants no quarantine
            return
        self.full, self._held = True, held
        now = self._clock()
        if self._said is None or now - self._said >= _QUIET_SECONDS:
            self._said = now
            log.warning(
                "the quarantine is full (%d of %d bytes): batches of metrics unknown here are turned away; known ones"
                " are stored. See hubbub quarantine, seal with a registry that knows them, or purge them",
                held,
                budget,
            )

    def measured(self, held: int) -> None:
        """Notes what is held now: less than before means that sealing or an operator has made room."""
        if self.full and held < self._held:
            self.full = False
            log.warning("the quarantine has room again")
