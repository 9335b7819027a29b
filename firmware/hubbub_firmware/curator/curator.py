"""A gateway's curated metrics over its state: takes readings in, and releases the periods that have ended.

One release is, in this order, each step durable before the next: the aggregate is marked with the generation of the
ledger that will pay for it, and never changes again; the ledger pays; noise is drawn and the release stored; the
aggregate is removed. Killed at any point, the next run goes on from there: what was paid for is not paid twice, and
noise that was drawn and not stored was never seen, since only stored releases are shown.
"""

from __future__ import annotations

import copy
import datetime
import os
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from hubbub_client.device_state import open_state
from hubbub_client.errors import RolledBackError, StateError
from hubbub_client.prf import expand
from hubbub_client.reasons import RefusalError
from hubbub_firmware.curator import aggregates
from hubbub_firmware.curator.aggregates import Open
from hubbub_firmware.curator.errors import CuratorError
from hubbub_firmware.curator.noise import AddNoise, add_noise_of
from hubbub_firmware.curator.payment import check_units, pay_once, used_up
from hubbub_firmware.curator.readings import Reading
from hubbub_firmware.curator.releases import check_against, document_of, name_of, read_releases, write_release
from hubbub_firmware.curator.statistic import add_reading
from hubbub_registry.curator import Curated

if TYPE_CHECKING:
    from hubbub_client.storage import Storage

# Periods that wait for their release, for each metric: past it the state would grow without end.
MOST_WAITING = 1000
# Periods that are released at once unless asked for: a clock that is far ahead would use up a life in one run.
MOST_AT_ONCE = 32
_HASH_BYTES = 16


@dataclass(frozen=True)
class Refused:
    """A period that was not released, and why: ``"lifetime-used-up"``, ``"period-used-up"``, ``"clock-went-back"``."""

    metric: str
    period: int
    reason: str


class Curator:
    """Curated metrics over one state. Finishes at once what an earlier run was killed in.

    Raises StateError where the state is damaged, RolledBackError where it is older than a release it paid for,
    StateInUseError where another process has it, CuratorError where the definitions do not go with it, NoiseError,
    and OSError. Nothing is released after any of these. ``forget`` gives up what is open under definitions that are
    not among ``metrics``.
    """

    def __init__(
        self,
        metrics: Mapping[str, Curated],
        storage: Storage,
        now: int,
        *,
        forget: bool = False,
        noise: Callable[[Curated], AddNoise] = add_noise_of,
    ) -> None:
        self._metrics = metrics
        self._storage = storage
        self._now = now
        self._noise = noise
        self._secret, self._ledger = open_state(storage, os.urandom, None)
        released = read_releases(storage)
        for curated in metrics.values():
            check_units(self._ledger, curated)
        if self._ledger.generation < max((each["serial"] for each in released), default=0):
            raise RolledBackError("state: the ledger is older than a release it paid for; put the newest state back")
        stored = aggregates.load(storage)
        if stored is None and (released or self._ledger.entries):
            raise StateError("state: what was released last is lost after first use, so nothing more is released")
        self._open = _matching(stored or {}, metrics, now, forget=forget)
        check_against(released, self._open)
        self._finish()
        aggregates.save(storage, self._open)

    def take(self, readings: Iterable[Reading], sensors: frozenset[str]) -> Counter[str]:
        """Counts readings in, all of them durably or, where anything is raised, none. Returns what became of them.

        ``"counted"``; ``"extra"`` past a sensor's bound, in the order they come; ``"not-enrolled"``; ``"expired"``;
        ``"late"`` for a period that is released; ``"early"`` for one that has not begun; ``"used-up"`` where the life
        of the metric pays for no release. Raises ReadingError, and CuratorError for a metric the registry does not
        curate, or where too many periods wait.
        """
        became: Counter[str] = Counter()
        taken = copy.deepcopy(self._open)
        for reading in readings:
            became[self._take(reading, sensors, taken)] += 1
        aggregates.save(self._storage, taken)
        self._open = taken
        return became

    def release(self) -> list[Refused]:
        """Releases every period that has ended, with readings or without, oldest first; returns those it refused.

        A period without readings is released, too: leaving it out would tell that there were none.
        """
        refused = []
        for curated in self._metrics.values():
            waiting = self._open[curated.fingerprint.hex()]
            last = self._last(curated)
            while waiting.next < last:
                reason = self._release(curated, waiting)
                if reason is not None:
                    refused.append(Refused(curated.name, waiting.next - 1, reason))
        return refused

    def check_few_ended(self) -> None:
        """Raises CuratorError where more than ``MOST_AT_ONCE`` periods of one metric have ended and wait."""
        for curated in self._metrics.values():
            ended = self._last(curated) - self._open[curated.fingerprint.hex()].next
            if ended > MOST_AT_ONCE:
                raise CuratorError(
                    f"curated.{curated.name}: by this machine's clock {ended} periods have ended since the last "
                    "release, and each costs a part of the lifetime; set the clock, or release them with --all"
                )

    def _last(self, curated: Curated) -> int:
        """The first period that is not to be released yet."""
        return min(self._now // curated.period, _first_after(curated))

    def _take(self, reading: Reading, sensors: frozenset[str], taken: Mapping[str, Open]) -> str:
        curated = self._metrics.get(reading.metric)
        if curated is None:
            known = ", ".join(sorted(self._metrics))
            raise CuratorError(f"a reading is for a metric that this registry does not curate; it has: {known}")
        if reading.sensor not in sensors:
            return "not-enrolled"
        period = reading.time // curated.period
        waiting = taken[curated.fingerprint.hex()]
        if period > self._now // curated.period:
            return "early"
        if period < waiting.next:
            return "late"
        if reading.time >= _end(curated):
            return "expired"
        if used_up(self._ledger, curated):
            return "used-up"
        if period - waiting.next >= MOST_WAITING:
            raise CuratorError(f"curated.{curated.name}: {MOST_WAITING} periods wait; run hubbub curate --release")
        aggregate = waiting.aggregate(curated, period)
        if aggregate.serial:  # it was paid for, and its noise could not be drawn yet
            return "late"
        context = curated.fingerprint + period.to_bytes(8, "big") + reading.sensor.encode("utf-8", "surrogatepass")
        sensor = expand(self._secret, b"hubbub curator sensor", context, _HASH_BYTES).hex()
        counted = aggregate.counted.get(sensor, 0)
        if counted >= curated.contributions:
            return "extra"
        aggregate.counted[sensor] = counted + 1
        add_reading(curated, aggregate.cells, reading.value)
        return "counted"

    def _release(self, curated: Curated, waiting: Open) -> str | None:
        """The next period of one metric: marked, paid, drawn, stored; the reason where the ledger refuses it."""
        period, reason = waiting.next, None
        add_noise = self._noise(curated)  # before anything is spent: the library may be missing
        aggregate = waiting.aggregate(curated, period)
        if not aggregate.serial:
            aggregate.serial = self._ledger.generation + 1
            aggregates.save(self._storage, self._open)
        if self._storage.read(name_of(curated.fingerprint.hex(), period)) is None:
            try:
                pay_once(self._ledger, curated, period, aggregate.serial)
            except RefusalError as refusal:
                reason = refusal.reason
            else:
                values = [add_noise(cell) for cell in aggregate.cells]
                write_release(self._storage, document_of(curated, period, values, aggregate.serial))
        del waiting.aggregates[period]
        waiting.next = period + 1
        aggregates.save(self._storage, self._open)
        return reason

    def _finish(self) -> None:
        """Goes on with the release that an earlier run was killed in: before anything else is paid for."""
        for curated in self._metrics.values():
            waiting = self._open[curated.fingerprint.hex()]
            aggregate = waiting.aggregates.get(waiting.next)
            if aggregate is not None and aggregate.serial:
                self._release(curated, waiting)


def _matching(stored: Mapping[str, Open], metrics: Mapping[str, Curated], now: int, *, forget: bool) -> dict[str, Open]:
    """What is open, for these definitions; one that is new begins with the period that is running."""
    wanted = {curated.fingerprint.hex(): curated for curated in metrics.values()}
    for fingerprint, each in stored.items():
        if fingerprint not in wanted and each.aggregates and not forget:
            raise CuratorError(
                f"curated.{each.name}: readings wait for a release under a definition that is not in this registry; "
                "release them with the registry they were taken under, or give them up with --forget"
            )
    return {
        fingerprint: stored.get(fingerprint) or Open(curated.name, now // curated.period)
        for fingerprint, curated in wanted.items()
    }


def _end(curated: Curated) -> int:
    """The Unix time from which nothing is taken any more."""
    return int(datetime.datetime.combine(curated.expires, datetime.time(), datetime.UTC).timestamp())


def _first_after(curated: Curated) -> int:
    """The first period that begins when the metric has expired."""
    return -(-_end(curated) // curated.period)
