"""The most memory that a worker takes, from its settings. docs/collecting.md explains each term."""

from __future__ import annotations

from hubbub_collector.limits.rate import ENTRY_BYTES, TABLE

LIBRARIES = 96 << 20
"""The interpreter and its libraries: about 65 MB when nothing is going on; the rest is the allocator's slack."""
CONNECTION = 800 << 10
"""One connection at its worst, as measured (about 720 KiB): a read of 256 KiB full of pipelined requests, those of them
that are parsed ahead, and answers that are not taken. A well-behaved one takes about 20 KiB.
"""
TLS_CONNECTION = 320 << 10
"""What TLS adds to that: OpenSSL's state, and its buffer of 256 KiB."""
PARSER = 70
"""Bytes that the msgpack parser may allocate for a byte of the body, for as long as it is parsed."""
COMMIT = (16 << 20) * 2 + (16 << 20)
"""One group commit: its bodies end to end, SQLite's copy of that, and SQLite's page cache."""


def memory_bound(*, connections: int, body: int, queue: int, tls: bool = False, rate: bool = False) -> int:
    """Bytes that one worker takes at most. ``queue`` is its share of the budget, which waiting uploads and arriving
    ones have once each.

    An upload that finds its budget unused is taken whatever its size, hence the bodies beside the budgets: one
    arriving, one waiting, two in the commit (its bodies, and SQLite's copy).
    """
    return (
        LIBRARIES
        + connections * (CONNECTION + (TLS_CONNECTION if tls else 0))
        + 2 * queue
        + COMMIT
        + (PARSER + 4) * body
        + (TABLE * ENTRY_BYTES if rate else 0)
    )
