"""One run of the sealer."""

from __future__ import annotations

import sqlite3
import time
from dataclasses import dataclass, field

from hubbub_collector.errors import CollectorError
from hubbub_collector.layout import DataDirectory
from hubbub_collector.lock import exclusive
from hubbub_collector.seal.group import seal_group
from hubbub_collector.seal.recover import recover
from hubbub_collector.seal.sort import sort
from hubbub_collector.seal.sorted_store import SortedStore, Waiting
from hubbub_collector.seal.steps import Step, no_step
from hubbub_collector.sqlite import store_error
from hubbub_collector.store import SqliteStore
from hubbub_collector.window import LATE
from hubbub_registry import Registry

_ID_MARGIN = 86_400
"""Upload ids are kept this many seconds past the acceptance window: the clock may have been set back meanwhile."""


@dataclass(frozen=True)
class SealOptions:
    """``minimum`` records a part must have; ``grace`` seconds to wait after a period's end, unless ``everything``."""

    minimum: int = 100
    grace: int = 3600
    everything: bool = False


@dataclass(frozen=True)
class GroupReport:
    """What became of one metric and period. ``status`` is one of

    ``sealed``; ``held`` (below the minimum); ``open`` (the period, or its grace, has not ended); ``unknown`` (its
    metric is not in this registry); ``damaged`` (``problem`` says how). ``metric`` is "" where it is unknown, and
    ``records`` 0.
    """

    metric: str
    fingerprint: str
    period: int
    status: str
    uploads: int
    records: int
    parts: int = 0
    problem: str = ""


@dataclass
class SealReport:
    """What a run did. ``batches`` were taken from the workers' stores, ``repeats`` of them dropped; ``quarantined``
    batches lie in the stores' quarantines.
    """

    batches: int = 0
    repeats: int = 0
    quarantined: int = 0
    groups: list[GroupReport] = field(default_factory=list)


def seal(
    registry: Registry, data: DataDirectory, options: SealOptions, now: float | None = None, step: Step = no_step
) -> SealReport:
    """Sorts what the stores hold, and seals what is ready at Unix time ``now``.

    ``step`` is called after each of ``STEPS``. Raises CollectorError (also where another sealer runs) and StoreError;
    whatever is raised, and wherever the process is killed, the next run goes on with nothing lost or repeated.
    """
    if not data.root.is_dir():
        raise CollectorError(f"{data.root}: there is no data directory; name the one that hubbub collect was given")
    now = time.time() if now is None else now
    report = SealReport()
    with exclusive(data.seal_lock, "sealer"):
        target = SortedStore(data.sorted_store)
        try:
            recover(data, target)
            late = _sort_all(data, target, report, step)
            for waiting in target.waiting():
                report.groups.append(_seal(registry, data, target, waiting, options, now, step))
            for metric in registry.metrics.values():
                target.prune(metric.fingerprint, int((now - late - _ID_MARGIN) // metric.period))
            step("pruned")
        except (sqlite3.Error, OSError) as error:
            raise store_error(target.path, error) from None
        finally:
            target.close()
    return report


def _sort_all(data: DataDirectory, target: SortedStore, report: SealReport, step: Step) -> int:
    """Empties every worker's store; returns for how long after its end a period may still be accepted, in seconds."""
    late = LATE
    for path in data.worker_stores():
        store = SqliteStore(path)
        try:
            late = max(late, store.late())
            moved, repeats = sort(store, target, step)
            report.batches += moved
            report.repeats += repeats
            report.quarantined += store.quarantined_batches()
        finally:
            store.close()
    return late


def _seal(
    registry: Registry, data: DataDirectory, target: SortedStore, waiting: Waiting, options: SealOptions, now: float,
    step: Step,
) -> GroupReport:  # fmt: skip
    fingerprint = waiting.fingerprint.hex()
    metric = registry.by_fingerprint.get(waiting.fingerprint)
    if metric is None:
        return GroupReport("", fingerprint, waiting.period, "unknown", waiting.uploads, 0)
    records = waiting.record_bytes // metric.device.record_bytes

    def outcome(status: str, parts: int = 0, problem: str = "") -> GroupReport:
        return GroupReport(metric.name, fingerprint, waiting.period, status, waiting.uploads, records, parts, problem)

    if not options.everything and (waiting.period + 1) * metric.period + options.grace > now:
        return outcome("open")
    if records < options.minimum:
        return outcome("held")
    try:
        parts = seal_group(data, target, registry.namespace, metric, waiting, options.minimum, step)
    except CollectorError as error:
        return outcome("damaged", problem=str(error))
    return outcome("sealed", parts)
