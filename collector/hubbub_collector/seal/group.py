"""Seals what waits for one metric and period, in parts that fit into memory."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from hubbub_client.dimension import record_fields
from hubbub_collector.errors import CollectorError, DamagedError
from hubbub_collector.layout import DataDirectory
from hubbub_collector.ranges import range_check
from hubbub_collector.seal.fold import fold
from hubbub_collector.seal.part import manifest_path, next_seal, parquet_path, write_manifest, write_parquet
from hubbub_collector.seal.permute import permute
from hubbub_collector.seal.sorted_store import Intent, SortedStore, Waiting
from hubbub_collector.seal.steps import Step
from hubbub_registry import Metric

PART_MEMORY = 512 << 20
"""Bytes of memory that one part may take while it is permuted."""
_KEY_MEMORY = 32
"""Bytes a record takes besides its own two copies: its key, its place, and the sorted key, with room for the sort."""


def seal_group(
    data: DataDirectory, store: SortedStore, namespace: str, metric: Metric, waiting: Waiting, minimum: int, step: Step,
    memory: int = PART_MEMORY,
) -> int:  # fmt: skip
    """Seals all that waits; returns how many parts that made. The caller has seen that there are ``minimum`` records.

    Parts of one period are of about equal size, and none is smaller than ``minimum``. Raises CollectorError where a
    record is not one of the metric's, OSError, sqlite3.Error.
    """
    width = metric.device.record_bytes
    part_bytes = max(1, memory // (2 * width + _KEY_MEMORY)) * width
    left = waiting.record_bytes
    folder = data.sealed(metric.name, metric.fingerprint, waiting.period)
    parts = 0
    while left:
        lengths = store.lengths(metric.fingerprint, waiting.period)
        last, size = cut(lengths, left, part_bytes, minimum * width)
        intent = Intent(metric.fingerprint, waiting.period, metric.name, next_seal(folder), last)
        store.intend(intent)
        step("intent")
        _seal_part(data, store, namespace, metric, intent, step)
        left -= size
        parts += 1
    return parts


def cut(lengths: Iterable[tuple[bytes, int]], total: int, part: int, minimum: int) -> tuple[bytes, int]:
    """Where the next part ends: the id of its last upload, and its bytes.

    ``lengths`` are the (upload id, bytes) of ``total`` bytes in all. They are divided into as few equal parts of at
    most about ``part`` bytes as will do; a rest below ``minimum`` goes with the part before it.
    """
    parts = -(-total // part)
    target = -(-total // parts)
    taken = 0
    last = b""
    for last, size in lengths:  # noqa: B007 - the last one is the answer
        taken += size
        if taken >= target and total - taken >= minimum:
            break
    return last, taken


def _seal_part(
    data: DataDirectory, store: SortedStore, namespace: str, metric: Metric, intent: Intent, step: Step
) -> None:
    width = metric.device.record_bytes
    try:
        gathered = store.records(intent)
    except DamagedError:
        store.abandon(intent)
        raise
    check = range_check(record_fields(metric.device), width)
    if len(gathered) % width or (check is not None and not check(gathered)):
        store.abandon(intent)
        raise CollectorError(
            f"{store.path}: what waits for metric {metric.name}, period {intent.period} holds records that are not "
            "this metric's; nothing was removed, restore the file from a copy"
        )
    records = permute(np.frombuffer(gathered, np.uint8).reshape(-1, width))
    fold(metric, records)
    folder = data.sealed(metric.name, metric.fingerprint, intent.period)
    parquet = parquet_path(folder, intent.seal)
    write_parquet(data.root, parquet, records)
    step("parquet")
    write_manifest(manifest_path(folder, intent.seal), namespace, metric, intent.period, parquet, len(records))
    step("manifest")
    store.finish(intent)
    step("finished")
