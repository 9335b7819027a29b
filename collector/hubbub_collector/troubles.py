"""POST /v1/troubles: devices count what went wrong with them, by a fixed list of reasons, and tell nothing else."""

from __future__ import annotations

import json
from typing import Any

from hubbub_collector.errors import Refusal

REASONS = ("entropy", "entropy-repeat", "state-damaged", "state-rolled-back", "storage", "clock")
"""None of them depends on a value. The same list as a board's."""
BODY = 1024
"""Bytes that the body may have."""
MOST = 1000
"""What one request adds to a reason at most: a device that reports a million faults counts as a thousand."""
MAX_COUNT = (1 << 32) - 1


def read_troubles(body: bytes) -> dict[str, int]:
    """Reason -> count, from ``{"entropy": 2, ...}``. Raises Refusal (400)."""
    try:
        document = json.loads(body, object_pairs_hook=_once)
    except (ValueError, RecursionError):
        raise Refusal(400, "not-json", "the body is not one JSON object with each reason once") from None
    if type(document) is not dict or not document:
        raise Refusal(400, "troubles-shape", "troubles are an object of reasons and counts, with at least one")
    for reason, count in document.items():
        if reason not in REASONS:
            raise Refusal(400, "troubles-reason", f"a reason is one of {', '.join(REASONS)}")
        if type(count) is not int or not 0 < count <= MAX_COUNT:
            raise Refusal(400, "troubles-count", f"a count is a whole number from 1 to {MAX_COUNT}")
    return {reason: min(count, MOST) for reason, count in document.items()}


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    document = dict(pairs)
    if len(document) != len(pairs):
        raise ValueError("a key is there twice")
    return document
