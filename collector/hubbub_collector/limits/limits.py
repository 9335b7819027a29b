"""The limits of one worker, as an operator sets them."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Limits:
    """Bytes of one body, and of all bodies that are arriving at one time; how many connections; and seconds: for a
    request's head to arrive once it has begun, for its body, until an idle connection is closed, and for an answer to
    be taken.
    """

    body: int = 1 << 20
    body_seconds: float = 30.0
    arriving: int = 64 << 20
    connections: int = 512
    head_seconds: float = 10.0
    head: int = 16 << 10
    idle_seconds: float = 75.0
    answer_seconds: float = 30.0
