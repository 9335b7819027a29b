"""Reports of any kind, as arrays that statistics can read: symbols, numbers, elements and bits."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hubbub_simulations.audit.errors import AuditError

MOST_BITS = 1 << 12


@dataclass(frozen=True)
class View:
    """Reports side by side. A view that the reports do not have is None."""

    symbols: list[Hashable]
    """Each report whole."""
    elements: list[tuple[Hashable, ...]] | None
    """Each report's elements in order, where reports are sequences."""
    numbers: NDArray[np.float64] | None
    """Each report's size, where reports are numbers."""
    bits: NDArray[np.uint8] | None
    """uint8 (reports, bits), where every report is equally many bits."""

    def cut(self, start: int, end: int) -> View:
        """Reports ``start`` to ``end``, in the same views."""
        return View(
            self.symbols[start:end],
            None if self.elements is None else self.elements[start:end],
            None if self.numbers is None else self.numbers[start:end],
            None if self.bits is None else self.bits[start:end],
        )


def view(reports: Sequence[Any]) -> View:
    """The reports in every view they have. Raises AuditError for a report of a kind that cannot be compared."""
    plain = [_plain(report) for report in reports]
    elements = plain if all(isinstance(one, tuple) for one in plain) else None
    numbers = None
    if all(isinstance(one, Real) for one in plain):
        numbers = np.array([float(one) for one in plain])
    return View(plain, elements, numbers, _bits(plain))


def _plain(report: Any) -> Any:
    """bytes, text, a number or None as it is; any sequence or array as a tuple of such; a set as a sorted tuple."""
    if isinstance(report, np.ndarray | np.generic):
        report = report.tolist()
    if isinstance(report, bytearray | memoryview):
        return bytes(report)
    if isinstance(report, list | tuple):
        return tuple(_plain(part) for part in report)
    if isinstance(report, set | frozenset):
        return tuple(sorted((_plain(part) for part in report), key=repr))
    if report is None or isinstance(report, bytes | str | Real):
        return report
    raise AuditError(
        f"a report is a {type(report).__name__}; the target must return bytes, text, a number, or a sequence of such"
    )


def _bits(plain: Sequence[Any]) -> NDArray[np.uint8] | None:
    first = _as_bits(plain[0])
    if first is None or not 0 < len(first) <= MOST_BITS:
        return None
    rows = [_as_bits(one) for one in plain]
    if any(row is None or len(row) != len(first) for row in rows):
        return None
    joined = b"".join(row for row in rows if row is not None)
    return np.frombuffer(joined, np.uint8).reshape(len(plain), len(first))


def _as_bits(one: Any) -> bytes | None:
    """One byte a bit: of bytes, of zeros and ones, or of a tuple of such; None where it is none of these."""
    if isinstance(one, bytes):
        return np.unpackbits(np.frombuffer(one, np.uint8), bitorder="little").tobytes()
    if not isinstance(one, tuple):
        return None
    if all(part in (0, 1) for part in one if isinstance(part, Real)) and all(isinstance(part, Real) for part in one):
        return bytes(int(part) for part in one)
    parts = [_as_bits(part) for part in one]
    return None if any(part is None for part in parts) else b"".join(part for part in parts if part is not None)
