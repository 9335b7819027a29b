"""An upload: parsed once, checked strictly, all of it or none. No I/O here.

``[1, upload_id, [[fingerprint, period, records], ...]]`` in msgpack; docs/wire.md describes it for client authors.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any, NamedTuple

import msgpack

from hubbub_client.dimension import record_fields
from hubbub_collector.errors import Refusal
from hubbub_collector.ranges import Check, range_check
from hubbub_collector.unpacking import ERRORS, unpack
from hubbub_collector.window import Window
from hubbub_registry import Metric

VERSION = 1
ID_BYTES = 16
FINGERPRINT_BYTES = 8
MAX_BATCHES = 4096
"""Batches in one upload. Also the longest array the parser will allocate for a declared length."""
MAX_PERIOD = (1 << 53) - 1
"""The largest period number: what every store and every reader of JSON keeps exactly."""


class Batch(NamedTuple):
    """Some records of one metric and one period."""

    fingerprint: bytes
    period: int
    records: bytes


class Upload(NamedTuple):
    """A checked upload. ``unknown`` are the batches to quarantine, each after its place in the upload; the others are
    in ``known``.
    """

    id: bytes
    known: list[Batch]
    unknown: list[tuple[int, Batch]]
    records: int
    """How many records the known batches hold."""
    outside: dict[str, int]
    """How many batches outside the acceptance window are left out, by the code of the refusal: nobody can use them, and
    the others are not at fault.
    """


class _Rule(NamedTuple):
    record_bytes: int
    period: int
    expires: int
    check: Check | None


class Validator:
    """Checks uploads against the metrics of a registry."""

    def __init__(self, metrics: Iterable[Metric], window: Window) -> None:
        self._window = window
        self.closed = 0
        """The Unix time by which periods must not have ended, whatever the window says; see ``Store.closed``."""
        self._rules = {
            metric.fingerprint: _Rule(
                metric.device.record_bytes,
                metric.period,
                metric.device.expires,
                range_check(record_fields(metric.device), metric.device.record_bytes),
            )
            for metric in metrics
        }

    @property
    def fingerprints(self) -> Collection[bytes]:
        """Those of the metrics."""
        return self._rules.keys()

    def check(self, body: bytes, now: float) -> Upload:
        """The upload in ``body``, received at Unix time ``now``. Raises Refusal (400) with the reason.

        Batches outside the window are left out, so that a device that was away for long does not lose what is fresh;
        where there are no others, the upload is refused.
        """
        upload_id, batches = parse(body)
        outside: dict[str, int] = {}
        known: list[Batch] = []
        unknown: list[tuple[int, Batch]] = []
        total = 0
        for i, batch in enumerate(batches):
            # Asked and not caught: thousands of exceptions would hold a thousand times what they say.
            rule = self._rules.get(batch.fingerprint)
            code = rule and self._window.outside(batch.period, rule.period, rule.expires, now, self.closed)
            if code:
                outside[code] = outside.get(code, 0) + 1
                continue
            count = self.check_batch(i, batch, now)
            if count is None:
                unknown.append((i, batch))
            else:
                known.append(batch)
                total += count
        if outside and not known and not unknown:
            self.check_batch(0, batches[0], now)  # which is outside, and raises
        return Upload(upload_id, known, unknown, total, outside)

    def check_batch(self, i: int, batch: Batch, now: float) -> int | None:
        """How many records batch number ``i`` holds; None where its metric is unknown. Raises Refusal (400)."""
        rule = self._rules.get(batch.fingerprint)
        if rule is None:
            return None
        self._window.check(i, batch.period, rule.period, rule.expires, now, self.closed)
        count, odd = divmod(len(batch.records), rule.record_bytes)
        if odd:
            raise Refusal(
                400,
                "record-length",
                f"batch {i}: {len(batch.records)} bytes are not a whole number of records of {rule.record_bytes}",
            )
        if rule.check is not None and not rule.check(batch.records):
            raise Refusal(400, "record-range", f"batch {i}: a record holds a value outside its field's domain")
        return count


def parse(body: bytes) -> tuple[bytes, list[Batch]]:
    """The id and the batches of ``body``: every shape and type checked, records not looked into. Raises Refusal (400).

    Memory: see ``unpack``.
    """
    try:
        document = unpack(body, MAX_BATCHES)
    except ERRORS as error:
        raise Refusal(400, "not-msgpack", f"the body is not one msgpack array: {_reason(error)}") from None
    if type(document) is not list or len(document) != 3:
        raise Refusal(400, "upload-shape", "an upload is an array [version, upload id, batches]")
    version, upload_id, batches = document
    if type(version) is not int or version != VERSION:
        raise Refusal(400, "upload-version", f"the version must be the integer {VERSION}")
    if type(upload_id) is not bytes or len(upload_id) != ID_BYTES:
        raise Refusal(400, "upload-id", f"the upload id must be a bin of {ID_BYTES} bytes")
    if type(batches) is not list or not batches:
        raise Refusal(400, "upload-batches", "the batches must be an array of at least one")
    return upload_id, [_batch(i, batch) for i, batch in enumerate(batches)]


def _batch(i: int, batch: Any) -> Batch:
    if type(batch) is not list or len(batch) != 3:
        raise Refusal(400, "batch-shape", f"batch {i} must be an array [fingerprint, period, records]")
    fingerprint, period, records = batch
    if type(fingerprint) is not bytes or len(fingerprint) != FINGERPRINT_BYTES:
        raise Refusal(
            400, "batch-fingerprint", f"batch {i}: the fingerprint must be a bin of {FINGERPRINT_BYTES} bytes"
        )
    if type(period) is not int or not 0 <= period <= MAX_PERIOD:
        raise Refusal(400, "batch-period", f"batch {i}: the period must be an unsigned integer below 2**53")
    if type(records) is not bytes or not records:
        raise Refusal(400, "batch-records", f"batch {i}: the records must be a bin that is not empty")
    return Batch(fingerprint, period, records)


def pack(upload_id: bytes, batches: list[Batch]) -> bytes:
    """The body of an upload of ``batches``."""
    body: bytes = msgpack.packb([VERSION, upload_id, [list(batch) for batch in batches]])
    return body


def _reason(error: Exception) -> str:
    # The parser's own message may quote the body; its kind is enough.
    if isinstance(error, msgpack.ExtraData):
        return "bytes are left over after it"
    if isinstance(error, msgpack.OutOfData):
        return "it is cut off"
    if "exceeds max_" in str(error):
        return "it declares a length or a type that no upload has"
    return "it is malformed"
