"""What is sent: upload bodies, each with the number of reports in it."""

from __future__ import annotations

from typing import NamedTuple


class Upload(NamedTuple):
    """One body for ``POST /v1/reports``. Its id is inside, so sending it twice is harmless."""

    body: bytes
    reports: int
