"""How reports lie in a file of theirs: one frame each, checked, so that a torn tail is told from a report.

A frame is a 4-byte length of what follows it, without the check; the 8-byte fingerprint; the 8-byte period number; the
8-byte serial; the 8-byte charge; the length of the metric's name, in one byte; the name; the record; and a check, the
first 4 bytes of SHA-256 over all of that. Integers are big-endian. Of these only fingerprint, period and record are
ever sent; serial, charge and name are for the device's owner and for the ledger.

Where the highest bit of the length is set, what was paid for the report (journal.py) comes first, after a 4-byte
length of its own: report and payment are then there together or not at all.
"""

from hashlib import sha256

_HEAD = 4
_CHECK = 4
_FINGERPRINT = 8
_INTEGER = 8
_FIXED = _FINGERPRINT + 3 * _INTEGER + 1
_JOURNALLED = 1 << 31
OVERHEAD = _HEAD + _FIXED + _CHECK
# At most what Ledger.journal gives, with its length: five integers, of 19 digits where they are longest, and a tag.
JOURNAL_BYTES = 136


class Report:
    """One report as the device keeps it, already randomised.

    ``serial`` is the generation of the ledger that paid for it, ``charge`` what it cost, in 1e-9 of epsilon.
    ``journal`` is what the ledger says of that, where it does not say so in its own file, or empty.
    """

    def __init__(self, name: str, fingerprint: bytes, period: int, serial: int, charge: int, record: bytes) -> None:
        self.name = name
        self.fingerprint = fingerprint
        self.period = period
        self.serial = serial
        self.charge = charge
        self.record = record
        self.journal = b""

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Report) and frame(self) == frame(other)


def room_for(name: str, record_bytes: int, joined: bool) -> int:
    """The bytes, at most, of a frame of metric ``name``, with what was paid for it if ``joined``."""
    return OVERHEAD + len(name.encode()) + record_bytes + (JOURNAL_BYTES if joined else 0)


def frame(report: Report) -> bytes:
    """One report as a frame of ``OVERHEAD`` bytes more than its name and its record."""
    name = report.name.encode()
    body = report.fingerprint
    for number in (report.period, report.serial, report.charge):
        body += number.to_bytes(_INTEGER, "big")
    body += len(name).to_bytes(1, "big") + name + report.record
    head = len(body)
    if report.journal:
        body = len(report.journal).to_bytes(_HEAD, "big") + report.journal + body
        head = len(body) | _JOURNALLED
    body = head.to_bytes(_HEAD, "big") + body
    return body + sha256(body).digest()[:_CHECK]


def parse(data: bytes) -> "tuple[list[Report], bool]":
    """The reports at the front of a file, and whether they fill it.

    Reading ends at the first frame that is cut short or fails its check: only what was being added when the power went
    can be torn, so what follows it is no report.
    """
    reports: list[Report] = []
    at = 0
    while at < len(data):
        head = int.from_bytes(data[at : at + _HEAD], "big")
        end = at + _HEAD + head % _JOURNALLED
        check = data[end : end + _CHECK]
        if end < at + _HEAD + _FIXED or sha256(data[at:end]).digest()[:_CHECK] != check:
            return reports, False
        at += _HEAD
        journal = b""
        if head >= _JOURNALLED:
            start = at + _HEAD
            at = start + int.from_bytes(data[at:start], "big")
            journal = data[start:at]
        report = _report(data[at:end])
        report.journal = journal
        reports.append(report)
        at = end + _CHECK
    return reports, True


def _report(body: bytes) -> Report:
    numbers = []
    at = _FINGERPRINT
    for _ in range(3):
        numbers.append(int.from_bytes(body[at : at + _INTEGER], "big"))
        at += _INTEGER
    end = _FIXED + body[at]
    return Report(
        body[_FIXED:end].decode(), body[:_FINGERPRINT], numbers[0], numbers[1], numbers[2], body[end:]
    )  # fmt: skip
