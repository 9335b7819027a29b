"""One run of the sealer."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass

from hubbub_collector.errors import CollectorError, StoreError
from hubbub_collector.layout import DataDirectory
from hubbub_collector.lock import exclusive
from hubbub_collector.open_store import database_source
from hubbub_collector.seal.forgetting import forget
from hubbub_collector.seal.group import seal_group
from hubbub_collector.seal.recover import recover
from hubbub_collector.seal.release import release
from hubbub_collector.seal.report import GroupReport, SealReport
from hubbub_collector.seal.sort import sort
from hubbub_collector.seal.sorted_store import SortedStore, Waiting
from hubbub_collector.seal.sources import check_own, join
from hubbub_collector.seal.steps import Step, no_step
from hubbub_collector.sqlite import store_error
from hubbub_collector.store import Source, SqliteStore
from hubbub_collector.upload import Validator
from hubbub_collector.window import ALWAYS, Window
from hubbub_registry import Registry


@dataclass(frozen=True)
class SealOptions:
    """``minimum`` records a part must have; ``grace`` seconds to wait after a period's end, unless ``everything``."""

    minimum: int = 100
    grace: int = 3600
    everything: bool = False


def seal(
    registry: Registry, data: DataDirectory, options: SealOptions, now: float | None = None, step: Step = no_step,
    sources: Sequence[DataDirectory] = (), database: str | None = None,
) -> SealReport:  # fmt: skip
    """Sorts what the stores hold, and what their quarantines hold of this registry's metrics, and seals what is ready
    at Unix time ``now``. What is damaged is left alone and reported, and all else is sealed. ``sources`` are further
    collectors' data directories, whose uploads are sealed into ``data`` as well; and so are those in ``database``, the
    URL of one that collectors commit to. With that ``data`` may be new, and no collector's.

    ``step`` is called after each of ``STEPS``. Raises CollectorError (also where another sealer runs) and StoreError;
    whatever is raised, and wherever the process is killed, the next run goes on with nothing lost or repeated.
    """
    if database is None:
        data.check()
    now = time.time() if now is None else now
    report = SealReport()
    with ExitStack() as open_:
        open_.enter_context(exclusive(data.seal_lock, "sealer"))
        check_own(data)
        target = open_.enter_context(closing(SortedStore(data.sorted_store)))
        try:
            recover(data, target)
            join(open_, data, target, sources)
            stores: list[Source] = [
                open_.enter_context(closing(store))
                for directory in (data, *sources)
                for store in _open_all(directory, report)
            ]
            if database is not None:
                taken = open_.enter_context(closing(database_source(database)))
                taken.seal_into(f"{target.identity:016x}")
                data.intake.mkdir(mode=0o700, exist_ok=True)
                stores.append(taken)
            _sort_all(registry, stores, target, now, step, report)
            order = {metric.fingerprint: place for place, metric in enumerate(registry.metrics.values())}
            for waiting in sorted(target.waiting(), key=lambda one: (order.get(one.fingerprint, len(order)), one)):
                report.groups.append(_seal(registry, data, target, waiting, options, now, step))
            report.overdue = target.overdue()
            # While something damaged may yet be mended, its uploads must still be known when they come again.
            if not report.problems:
                try:
                    forget(registry, target, stores, now)
                except (CollectorError, StoreError) as error:
                    report.problems.append(str(error))
            step("pruned")
        except (sqlite3.Error, OSError) as error:
            raise store_error(target.path, error) from None
    return report


def _open_all(data: DataDirectory, report: SealReport) -> Iterator[SqliteStore]:
    """The stores of every worker that can be opened."""
    for path in data.worker_stores():
        try:
            yield SqliteStore(path)
        except CollectorError as error:  # of this store alone
            report.problems.append(str(error))


def _sort_all(
    registry: Registry, stores: Sequence[Source], target: SortedStore, now: float, step: Step, report: SealReport
) -> None:
    """Empties every worker's store."""
    validator = Validator(registry.metrics.values(), Window(late=ALWAYS))
    for store in stores:
        try:
            sort(store, target, step, report)
            release(store, target, validator, now, step, report)
            report.quarantined += store.quarantine.count()
        except (CollectorError, StoreError) as error:  # of this store alone
            report.problems.append(str(error))


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
