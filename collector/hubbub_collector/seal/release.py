"""Moves batches from a worker's quarantine to the sorted store, once a registry knows their metrics."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from operator import attrgetter

from hubbub_collector.errors import Refusal
from hubbub_collector.seal.report import SealReport
from hubbub_collector.seal.sort import TRANSACTION_BYTES, merged
from hubbub_collector.seal.sorted_store import Row, SortedStore
from hubbub_collector.seal.steps import Step
from hubbub_collector.store import Source
from hubbub_collector.upload import Batch, Validator

_Key = tuple[bytes, int]


def release(
    store: Source, target: SortedStore, validator: Validator, now: float, step: Step, report: SealReport
) -> None:
    """Moves what ``validator`` accepts at Unix time ``now``, and says in ``report`` what that was.

    A batch is in ``target`` before it is deleted here; after a crash in between it is added again, which its upload
    id makes harmless. The id also drops what was accepted when the upload was sent again. So a batch of a period whose
    ids are forgotten stays: whether it is a repeat cannot be told. Raises StoreError where ``store`` fails,
    sqlite3.Error where ``target`` does.
    """
    for rows, keys in _chunks(store, target, validator, now, report):
        added = target.add(sorted(rows))
        report.released += len(rows)
        report.released_repeats += len(rows) - sum(added)
        step("released")
        store.quarantine.delete(keys)
        step("cleared")


def _chunks(
    store: Source, target: SortedStore, validator: Validator, now: float, report: SealReport
) -> Iterator[tuple[list[Row], list[_Key]]]:
    rows: list[Row] = []
    keys: list[_Key] = []
    size = 0
    known = store.quarantine.batches(validator.fingerprints, report.problems)
    for upload, quarantined in itertools.groupby(known, attrgetter("upload")):  # an upload is never in two transactions
        fit: list[Batch] = []
        for _, number, batch in quarantined:
            reason = _unfit(validator, target, number, batch, now)
            if reason is not None:
                report.unfit[reason] = report.unfit.get(reason, 0) + 1
                continue
            fit.append(batch)
            keys.append((upload, number))
            size += len(batch.records)
        rows += merged(upload, fit)
        if size >= TRANSACTION_BYTES:
            yield rows, keys
            rows, keys, size = [], [], 0
    if keys:
        yield rows, keys


def _unfit(validator: Validator, target: SortedStore, number: int, batch: Batch, now: float) -> str | None:
    """The code of the reason why ``batch`` is not taken, None where it is."""
    if batch.period < target.forgotten(batch.fingerprint):
        return "period-too-late"
    try:
        validator.check_batch(number, batch, now)
    except Refusal as refused:
        return refused.code
    return None
