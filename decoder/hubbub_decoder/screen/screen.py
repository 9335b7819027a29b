"""Counts what is known of honest records while they are read, and says how far off they are."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from hubbub_decoder.counting.records import Records, chunks
from hubbub_decoder.screen.checks import Counts
from hubbub_decoder.screen.laws import law_of
from hubbub_registry import Metric

# Below it a batch is flagged: once in a million batches of honest devices, at most.
SUSPICIOUS = 1e-6


class Verdict(NamedTuple):
    """An upper bound of the chance that honest devices send records so unlikely, and the least likely part of them.

    ``p_value`` is 1 and ``what`` None where nothing is known of the mechanism's records.
    """

    p_value: float
    what: str | None

    @property
    def suspicious(self) -> bool:
        """Whether honest devices hardly ever send such a batch."""
        return self.p_value < SUSPICIOUS


class Screen:
    """The counts of one batch of ``metric``'s records; ``add`` records in any pieces, then ask for the ``verdict``."""

    def __init__(self, metric: Metric) -> None:
        self._metric = metric
        self._checks, permanent = law_of(metric)
        # A device may send so many reports of a period with one permanent noise.
        self._cluster = metric.device.reports_per_period if permanent else 1
        self._counts: list[Counts | None] = [None for _ in self._checks]

    def add(self, records: Records) -> None:
        """Counts ``records``, uint8 of shape (n, record_bytes), checked before."""
        for chunk in chunks(records):
            found = [check.count(self._metric, chunk) for check in self._checks]
            self._counts = [new if old is None else old + new for old, new in zip(self._counts, found, strict=True)]

    def watch(self, batches: Iterable[Records]) -> Iterator[Records]:
        """``batches`` as they are, each counted once whoever took it has found nothing wrong with its records."""
        for batch in batches:
            yield batch
            self.add(batch)

    def verdict(self) -> Verdict:
        """What the records so far show."""
        least = Verdict(1.0, None)
        for check, counts in zip(self._checks, self._counts, strict=True):
            if counts is not None:
                bound = min(1.0, len(self._checks) * check.p_value(counts, self._cluster))
                if least.what is None or bound < least.p_value:
                    least = Verdict(bound, check.what)
        return least
