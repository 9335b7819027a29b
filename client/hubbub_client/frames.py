"""How reports lie in a file of pending ones: one frame each, checked, so that a torn tail is told from a report.

A frame is a 4-byte length of what follows it, without the check; the 8-byte fingerprint; the 8-byte period number; the
record; and a check, the first 4 bytes of SHA-256 over all of that. Integers are big-endian.
"""

from hashlib import sha256

_HEAD = 4
_CHECK = 4
_FINGERPRINT = 8
_PERIOD = 8
OVERHEAD = _HEAD + _FINGERPRINT + _PERIOD + _CHECK


def frame(fingerprint: bytes, period: int, record: bytes) -> bytes:
    """One report as a frame of ``OVERHEAD`` bytes more than its record."""
    body = fingerprint + period.to_bytes(_PERIOD, "big") + record
    body = len(body).to_bytes(_HEAD, "big") + body
    return body + sha256(body).digest()[:_CHECK]


def parse(data: bytes) -> "tuple[list[tuple[bytes, int, bytes]], bool]":
    """The reports ``(fingerprint, period, record)`` at the front of a file, and whether they fill it.

    Reading ends at the first frame that is cut short or fails its check: only what was being added when the power went
    can be torn, so what follows it is no report.
    """
    reports: list[tuple[bytes, int, bytes]] = []
    at = 0
    while at < len(data):
        end = at + _HEAD + int.from_bytes(data[at : at + _HEAD], "big")
        check = data[end : end + _CHECK]
        if end < at + _HEAD + _FINGERPRINT + _PERIOD or sha256(data[at:end]).digest()[:_CHECK] != check:
            return reports, False
        start = at + _HEAD
        record = start + _FINGERPRINT + _PERIOD
        period = int.from_bytes(data[start + _FINGERPRINT : record], "big")
        reports.append((data[start : start + _FINGERPRINT], period, data[record:end]))
        at = end + _CHECK
    return reports, True
