"""google/rappor's three CSV files: parameters, bit counts by cohort, and the candidates' bits.

- parameters: a row of names, ``k,h,m,p,q,f``, and a row of numbers: bits, hash functions, cohorts, and the
  probabilities of the RAPPOR paper;
- counts: no names; a row a cohort, its number of reports and then how many of them have each of the k bits set;
- map: no names; a row a candidate, the text and then for each cohort its h bits, counted from 1 through all cohorts:
  cohort * k + bit + 1.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

import numpy as np
import numpy.typing as npt

from hubbub_decoder.errors import InputFileError
from hubbub_decoder.rappor.bloom import check_places

NAMES = ("k", "h", "m", "p", "q", "f")
MOST_REPORTS = 1 << 53  # counts up to here are exact in floating point
MOST_BITS = 1 << 26  # of all cohorts, and bits of one candidate: half a GB of counts
# Where a set bit adds less than this to the chance of a reported 1, no number of reports that fits makes up for it.
LEAST_GAIN = Fraction(1, 10**6)


@dataclass(frozen=True)
class Parameters:
    """The parameters file: ``bits`` k, ``hashes`` h, ``cohorts`` m, and p, q, f exactly as written."""

    bits: int
    hashes: int
    cohorts: int
    p: Fraction
    q: Fraction
    f: Fraction

    @property
    def one(self) -> Fraction:
        """q*, the chance of a reported 1 where the filter holds 1."""
        return self.f / 2 * (self.p + self.q) + (1 - self.f) * self.q

    @property
    def zero(self) -> Fraction:
        """p*, the chance of a reported 1 where the filter holds 0."""
        return self.f / 2 * (self.p + self.q) + (1 - self.f) * self.p

    @property
    def ratio(self) -> Fraction:
        """e^epsilon of one report: any two values differ in 2 h bits at most."""
        odds = self.one * (1 - self.zero) / (self.zero * (1 - self.one))
        return Fraction(max(odds, 1 / odds) ** self.hashes)


@dataclass(frozen=True, eq=False)
class Map:
    """The map file: ``values`` (d,) and their ``rows`` (d, m h), counted from 0."""

    values: tuple[str, ...]
    rows: npt.NDArray[np.int32]


def read_parameters(path: Path) -> Parameters:
    """The parameters. Raises InputFileError."""
    rows = list(_rows(path))
    if not rows or tuple(cell.strip() for cell in rows[0][1]) != NAMES:
        what = "the first row is not k,h,m,p,q,f"
        raise InputFileError(path, 1, what, "check that this is the parameters file, with its names")
    if len(rows) != 2 or len(rows[1][1]) != len(NAMES):
        raise InputFileError(path, 2, "after the names there is not one row of six numbers", "write one")
    line, cells = rows[1]
    bits, hashes, cohorts = (_integer(path, line, name, cell, 1) for name, cell in zip("khm", cells[:3], strict=True))
    p, q, f = (_probability(path, line, name, cell) for name, cell in zip("pqf", cells[3:], strict=True))
    parameters = Parameters(bits, hashes, cohorts, p, q, f)
    if max(bits, hashes) * cohorts > MOST_BITS:
        what = f"k m is {bits * cohorts:,}, and h m {hashes * cohorts:,}; {MOST_BITS:,} at most fit in memory"
        raise InputFileError(path, line, what, "check k, h and m")
    if parameters.one == parameters.zero:
        why = "p = q" if p == q else "f = 1"
        raise InputFileError(path, line, f"with {why} reports do not depend on values", "there is nothing to decode")
    if abs(parameters.one - parameters.zero) < LEAST_GAIN:
        gain = float(parameters.one - parameters.zero)
        what = f"with these p, q and f a set bit changes the chance of a reported 1 by {gain:.2g} only"
        raise InputFileError(path, line, what, "there is nothing to decode; check p, q and f")
    if not (0 < parameters.one < 1 and 0 < parameters.zero < 1):
        what = "with these p, q and f some reports rule values out: epsilon is infinite, and no error can be stated"
        raise InputFileError(path, line, what, "p and q strictly between 0 and 1, or f above 0, give a finite one")
    return parameters


def read_counts(path: Path, parameters: Parameters) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """``sums`` (cohorts, bits) and ``reports`` (cohorts,). Raises InputFileError."""
    table = np.zeros((parameters.cohorts, parameters.bits + 1), np.int64)
    found = 0
    for line, cells in _rows(path):
        if found == parameters.cohorts:
            raise InputFileError(
                path, line, f"there are more than m = {found} rows", "check m, and that this is the counts file"
            )
        if len(cells) != parameters.bits + 1:
            what = f"{len(cells)} columns, not k + 1 = {parameters.bits + 1}"
            raise InputFileError(path, line, what, "a row is a cohort's number of reports, then a count for each bit")
        table[found] = [_integer(path, line, "a count", cell, 0) for cell in cells]
        if (table[found, 1:] > table[found, 0]).any():
            what = f"a bit is set in {table[found, 1:].max()} of {table[found, 0]} reports"
            raise InputFileError(path, line, what, "the first column is the cohort's number of reports")
        found += 1
    if found < parameters.cohorts:
        raise InputFileError(path, None, f"{found} rows, not m = {parameters.cohorts}", "write a row for every cohort")
    if int(table[:, 0].sum()) == 0:
        raise InputFileError(path, 1, "no cohort has a report", "there is nothing to decode")
    return table[:, 1:], table[:, 0]


def read_map(path: Path, parameters: Parameters) -> Map:
    """The candidates and their bits. Raises InputFileError, and CandidateError for more than memory holds."""
    each = parameters.cohorts * parameters.hashes
    first = np.repeat(np.arange(parameters.cohorts), parameters.hashes) * parameters.bits
    seen: dict[str, int] = {}
    rows: list[npt.NDArray[np.int32]] = []
    for line, cells in _rows(path):
        value = cells[0]
        if len(cells) != each + 1:
            what = f"{len(cells)} columns, not h m + 1 = {each + 1}"
            raise InputFileError(path, line, what, "a row is a candidate, then its h bits in each of m cohorts")
        if value in seen:
            raise InputFileError(path, line, f"{value!r} repeats line {seen[value]}", "remove one of them")
        try:
            # Digits only: numpy, as Python, also takes 1_0 for 10.
            if not "".join(cells[1:]).replace(" ", "").isdecimal():
                raise ValueError
            place = np.array(cells[1:], np.int64) - 1
        except (ValueError, OverflowError):
            raise InputFileError(path, line, "a bit is not a whole number", "correct or remove the row") from None
        outside = np.flatnonzero((place < first) | (place >= first + parameters.bits))
        if len(outside):
            column = int(outside[0])
            low, high = int(first[column]) + 1, int(first[column]) + parameters.bits
            what = f"column {column + 2} is {place[column] + 1}; a bit of its cohort is {low} to {high}"
            raise InputFileError(path, line, what, "bits are counted from 1 through all cohorts: cohort * k + bit + 1")
        check_places(str(path), len(rows) + 1, each)
        seen[value] = line
        rows.append(place.astype(np.int32))
    if not rows:
        raise InputFileError(path, 1, "no candidates", "write a row for each value to look for")
    return Map(tuple(seen), np.stack(rows))


def _rows(path: Path) -> Iterator[tuple[int, list[str]]]:
    """The rows that are not empty, with their line numbers."""
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            reader = csv.reader(file, strict=True)
            for cells in reader:
                if cells and any(cell.strip() for cell in cells):
                    yield reader.line_num, cells
    except FileNotFoundError:
        raise InputFileError(path, None, "there is no such file", "correct the name") from None
    except OSError as error:
        raise InputFileError(path, None, f"cannot be read ({error.strerror})", "make it a readable file") from None
    except UnicodeDecodeError:
        raise InputFileError(path, None, "is not UTF-8", "save it as UTF-8") from None
    except csv.Error as error:
        raise InputFileError(
            path, reader.line_num, f"is not CSV ({error})", "quote texts that hold commas or quotes"
        ) from None


def _integer(path: Path, line: int, name: str, cell: str, least: int) -> int:
    digits = cell.strip()
    number = int(digits) if digits.isascii() and digits.isdecimal() and len(digits) < 20 else -1
    if not least <= number <= MOST_REPORTS:
        raise InputFileError(path, line, f"{name} is {cell.strip()!r}", f"write a whole number from {least} on")
    return number


def _probability(path: Path, line: int, name: str, cell: str) -> Fraction:
    try:
        number = Fraction(repr(float(cell)))  # by way of a float, whose exponent is bounded
    except (ValueError, OverflowError):
        number = Fraction(-1)
    if not 0 <= number <= 1:
        raise InputFileError(path, line, f"{name} is {cell.strip()!r}", "write a probability from 0 to 1")
    return number
