"""One run of the sealer."""

from __future__ import annotations

import sqlite3
import time
from contextlib import closing
from dataclasses import dataclass

from hubbub_collector.errors import CollectorError, StoreError
from hubbub_collector.layout import DataDirectory
from hubbub_collector.lock import exclusive
from hubbub_collector.seal.group import seal_group
from hubbub_collector.seal.recover import recover
from hubbub_collector.seal.release import release
from hubbub_collector.seal.report import GroupReport, SealReport
from hubbub_collector.seal.sort import sort
from hubbub_collector.seal.sorted_store import SortedStore, Waiting
from hubbub_collector.seal.steps import Step, no_step
from hubbub_collector.sqlite import store_error
from hubbub_collector.store import SqliteStore
from hubbub_collector.upload import Validator
from hubbub_collector.window import ALWAYS, LATE, Window
from hubbub_registry import Registry

_ID_MARGIN = 86_400
"""Upload ids are kept this many seconds past the acceptance window: the clock may have been set back meanwhile."""


@dataclass(frozen=True)
class SealOptions:
    """``minimum`` records a part must have; ``grace`` seconds to wait after a period's end, unless ``everything``."""

    minimum: int = 100
    grace: int = 3600
    everything: bool = False


def seal(
    registry: Registry, data: DataDirectory, options: SealOptions, now: float | None = None, step: Step = no_step
) -> SealReport:
    """Sorts what the stores hold, and what their quarantines hold of this registry's metrics, and seals what is ready
    at Unix time ``now``. What is damaged is left alone and reported, and all else is sealed.

    ``step`` is called after each of ``STEPS``. Raises CollectorError (also where another sealer runs) and StoreError;
    whatever is raised, and wherever the process is killed, the next run goes on with nothing lost or repeated.
    """
    data.check()
    now = time.time() if now is None else now
    report = SealReport()
    with exclusive(data.seal_lock, "sealer"):
        target = SortedStore(data.sorted_store)
        try:
            recover(data, target)
            late = _sort_all(registry, data, target, now, step, report)
            order = {metric.fingerprint: place for place, metric in enumerate(registry.metrics.values())}
            for waiting in sorted(target.waiting(), key=lambda one: (order.get(one.fingerprint, len(order)), one)):
                report.groups.append(_seal(registry, data, target, waiting, options, now, step))
            # While something damaged may yet be mended, its uploads must still be known when they come again.
            if not report.problems:
                for metric in registry.metrics.values():
                    target.prune(metric.fingerprint, int((now - late - _ID_MARGIN) // metric.period))
            step("pruned")
        except (sqlite3.Error, OSError) as error:
            raise store_error(target.path, error) from None
        finally:
            target.close()
    return report


def _sort_all(
    registry: Registry, data: DataDirectory, target: SortedStore, now: float, step: Step, report: SealReport
) -> int:
    """Empties every worker's store; returns for how long after its end a period may still be accepted, in seconds."""
    late = LATE
    validator = Validator(registry.metrics.values(), Window(late=ALWAYS))
    for path in data.worker_stores():
        try:
            with closing(SqliteStore(path)) as store:
                late = max(late, store.late())
                sort(store, target, step, report)
                release(store, target, validator, now, step, report)
                report.quarantined += store.quarantine.count()
        except (CollectorError, StoreError) as error:  # of this store alone
            report.problems.append(str(error))
    return late


def _seal(
    registry: Registry, data: DataDirectory, target: SortedStore, waiting: Waiting, options: SealOptions, now: float,
    step: Step,
) -> GroupReport:  # fmt: skip
    fingerprint = waiting.fingerprint.hex()
    metric = registry.by_fingerprint.get(waiting.fingerprint)
    if metric is None:
        return GroupReport("", fingerprint, waiting.period, "unknown", waiting.uploads, None, waiting.record_bytes)
    records = waiting.record_bytes // metric.device.record_bytes

    def outcome(status: str, parts: int = 0, problem: str = "") -> GroupReport:
        return GroupReport(
            metric.name, fingerprint, waiting.period, status, waiting.uploads, records, waiting.record_bytes, parts,
            problem,
        )  # fmt: skip

    if not options.everything and (waiting.period + 1) * metric.period + options.grace > now:
        return outcome("open")
    if records < options.minimum:
        return outcome("held")
    try:
        parts = seal_group(data, target, registry.namespace, metric, waiting, options.minimum, step)
    except CollectorError as error:
        return outcome("damaged", problem=str(error))
    return outcome("sealed", parts)
