"""What is known of honest records, as events with known probabilities; each check counts its own, and adds up."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt
from scipy import stats

from hubbub_decoder.counting.records import Records
from hubbub_decoder.screen.bound import FloatArray, chance_bound
from hubbub_decoder.screen.fields import numbers, ones
from hubbub_registry import Metric

Counts = npt.NDArray[np.int64]
# Where the number of ones is cut in two: in the middle, where a shift shows, and far out, where foreign records lie.
_CUTS = (0.0001, 0.01, 0.1, 0.25, 0.5, 0.75, 0.9, 0.99, 0.9999)


class Check(Protocol):
    """One thing that is known of honest records."""

    @property
    def what(self) -> str:
        """The part of a record that it looks at, for people."""

    def count(self, metric: Metric, records: Records) -> Counts:
        """What ``p_value`` needs of these records: counts that add up."""

    def p_value(self, counts: Counts, cluster: int) -> float:
        """An upper bound of the chance of counts so far out where all devices are honest."""


@dataclass(frozen=True)
class Uniform:
    """Field number ``field`` is uniform over ``domain`` values."""

    what: str
    field: int
    domain: int

    def count(self, metric: Metric, records: Records) -> Counts:
        """The records of each value; shape (domain,)."""
        return np.bincount(numbers(metric, records, self.field), minlength=self.domain)

    def p_value(self, counts: Counts, cluster: int) -> float:
        """Over each value, and over each bit, which shows what many values have together."""
        n = int(counts.sum())
        with_bit = (np.arange(self.domain) >> np.arange((self.domain - 1).bit_length())[:, np.newaxis]) & 1
        return _least(
            chance_bound(counts, n, np.full(self.domain, 1 / self.domain), cluster=cluster),
            chance_bound(with_bit @ counts, n, with_bit.mean(axis=1), cluster=cluster),
        )


@dataclass(frozen=True)
class Drawn:
    """The first ``fields`` fields are that many different ones of ``domain``, drawn without regard to the value."""

    what: str
    fields: int
    domain: int

    def count(self, metric: Metric, records: Records) -> Counts:
        """The records that drew each; shape (domain + 1,), the number of records last."""
        drawn = np.zeros(self.domain + 1, np.int64)
        for field in range(self.fields):
            drawn[:-1] += np.bincount(numbers(metric, records, field), minlength=self.domain)
        drawn[-1] = len(records)
        return drawn

    def p_value(self, counts: Counts, cluster: int) -> float:
        """Each of the ``domain`` is drawn with probability fields / domain."""
        share = np.full(self.domain, self.fields / self.domain)
        return _least(chance_bound(counts[:-1], int(counts[-1]), share, cluster=cluster))


@dataclass(frozen=True, eq=False)
class Ones:
    """The number of ones in the last field has one of ``laws``, each a distribution over 0 .. bits.

    There are several where it depends on the value, and on nothing else of it, how many bits the value sets.
    """

    what: str
    laws: Sequence[FloatArray]

    def count(self, metric: Metric, records: Records) -> Counts:
        """The records with 0, 1, 2, ... ones; shape (bits + 1,)."""
        return np.bincount(ones(metric, records), minlength=len(self.laws[0]))

    def p_value(self, counts: Counts, cluster: int) -> float:
        """Over the events "at least t ones", for a few t that depend on the laws and not on the records."""
        tails = np.array([np.cumsum(law[::-1])[::-1] for law in self.laws])
        middle = tails.mean(axis=0)
        at = np.unique([max(1, int(np.argmin(np.abs(middle - cut)))) for cut in _CUTS])
        above = np.cumsum(counts[::-1])[::-1]
        low, high = tails.min(axis=0)[at], np.minimum(tails.max(axis=0)[at], 1.0)
        return _least(chance_bound(above[at], int(above[0]), low, high, cluster))


@dataclass(frozen=True)
class Always:
    """The last field always has ``ones`` ones: a record with another number was not made by any device."""

    what: str
    ones: int

    def count(self, metric: Metric, records: Records) -> Counts:
        """[records, those among them with another number]."""
        return np.array([len(records), np.count_nonzero(ones(metric, records) != self.ones)], np.int64)

    def p_value(self, counts: Counts, cluster: int) -> float:
        """1 or 0."""
        return _least(chance_bound(counts[1:], int(counts[0]), np.zeros(1), cluster=cluster))


@dataclass(frozen=True)
class Within:
    """Field number ``field`` is always below ``limits[given]``, with ``given`` the number in another field."""

    what: str
    field: int
    given: int
    limits: tuple[int, ...]

    def count(self, metric: Metric, records: Records) -> Counts:
        """[records, those among them beyond their limit]."""
        limit = np.array(self.limits, np.int64)[numbers(metric, records, self.given)]
        return np.array([len(records), np.count_nonzero(numbers(metric, records, self.field) >= limit)], np.int64)

    def p_value(self, counts: Counts, cluster: int) -> float:
        """1 or 0."""
        return _least(chance_bound(counts[1:], int(counts[0]), np.zeros(1), cluster=cluster))


@dataclass(frozen=True)
class Event:
    """Of the records whose field ``given`` is 0 (all of them where None), field ``field`` masked is 0 so often."""

    what: str
    field: int
    mask: int
    chance: float
    given: int | None = None

    def count(self, metric: Metric, records: Records) -> Counts:
        """[records looked at, those among them that show the event]."""
        looked = records if self.given is None else records[numbers(metric, records, self.given) == 0]
        return np.array([len(looked), np.count_nonzero(numbers(metric, looked, self.field) & self.mask == 0)], np.int64)

    def p_value(self, counts: Counts, cluster: int) -> float:
        """One event."""
        return _least(chance_bound(counts[1:], int(counts[0]), np.array([self.chance]), cluster=cluster))


@dataclass(frozen=True, eq=False)
class OfPart:
    """``check`` of one part of a joint metric, whose records are the bytes ``columns`` of the whole ones."""

    what: str
    part: Metric
    columns: slice
    check: Check

    def count(self, metric: Metric, records: Records) -> Counts:  # noqa: ARG002 - one signature for every check
        """What the part's own check counts."""
        return self.check.count(self.part, np.ascontiguousarray(records[:, self.columns]))

    def p_value(self, counts: Counts, cluster: int) -> float:
        """That of the part's own check."""
        return self.check.p_value(counts, cluster)


def ones_law(*coins: tuple[int, float]) -> FloatArray:
    """The distribution of the number of ones of independent bits: ``(how many, chance of 1)`` each."""
    law = np.ones(1)
    for bits, chance in coins:
        law = np.convolve(law, stats.binom.pmf(np.arange(bits + 1), bits, chance))
    return law


def _least(*families: FloatArray) -> float:
    """The least of all bounds, times their number: the chance that any of them is so low is at most that."""
    bounds = np.concatenate(families)
    return float(min(1.0, len(bounds) * bounds.min()))
