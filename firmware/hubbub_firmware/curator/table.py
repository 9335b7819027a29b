"""Releases as CSV, a row for each cell, or as one JSON document."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from typing import Any

COLUMNS = (
    "metric", "period_start", "period_end", "statistic", "cell", "value", "std_error", "low", "high", "resolution",
    "noise", "epsilon", "rho", "delta", "fingerprint",
)  # fmt: skip
LEVEL = 0.95


def as_csv(releases: Sequence[dict[str, Any]]) -> str:
    """All releases: ``COLUMNS``, then the rows. A column that a release has nothing for is empty."""
    text = io.StringIO()
    writer = csv.DictWriter(text, COLUMNS, lineterminator="\n")
    writer.writeheader()
    for release in releases:
        writer.writerows(rows_of(release))
    return text.getvalue()


def as_json(namespace: str, releases: Sequence[dict[str, Any]]) -> str:
    """All releases: ``namespace``, ``level`` of the intervals, and ``releases`` as a list of the same rows."""
    rows = [row for release in releases for row in rows_of(release)]
    return json.dumps({"namespace": namespace, "level": LEVEL, "releases": rows}, indent=2) + "\n"


def rows_of(release: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """A row for each cell. ``value``, ``std_error``, ``low`` and ``high`` are in steps of 1/``resolution``."""
    for cell, value in zip(release["cells"], release["values"], strict=True):
        yield {
            "metric": release["metric"],
            "period_start": _iso(release["start"]),
            "period_end": _iso(release["end"]),
            "statistic": release["statistic"],
            "cell": cell,
            "value": value,
            "std_error": release["std_error"],
            "low": value - release["half_width"],
            "high": value + release["half_width"],
            "resolution": release["resolution"],
            "noise": release["noise"],
            "epsilon": release["epsilon"],
            "rho": release["rho"],
            "delta": release["delta"],
            "fingerprint": release["fingerprint"],
        }


def _iso(seconds: int) -> str:
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
