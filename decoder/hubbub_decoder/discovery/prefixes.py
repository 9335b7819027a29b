"""Extends frequent beginnings, level by level, to the strings they lead to.

Source: Wang, Li, Jha, "Locally differentially private heavy hitter identification", TDSC 2019, section 4.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import stats

from hubbub_client.mechanisms.prefix_extending_method import lengths
from hubbub_decoder.consistent import BoolArray, FloatArray
from hubbub_decoder.counting.hashing import Keys
from hubbub_decoder.counting.state import State
from hubbub_decoder.discovery import utf8
from hubbub_decoder.discovery.found import Found, Options
from hubbub_decoder.discovery.many_xxh32 import xxh32
from hubbub_decoder.discovery.parts import Part
from hubbub_decoder.discovery.peeling import standing
from hubbub_decoder.discovery.utf8 import END, Bytes
from hubbub_registry import Metric

# Of what passes, as a share of what may be kept: how much may be noise, on average, of all that is tried, and once more
# of what is made of characters that are known to be in use. A frequent beginning that does not pass is lost, while one
# of noise costs time only.
NOISE = 0.125
# On average less than one beginning in so many levels is noise and passes for one that is certainly there.
_CERTAIN = 20
_AT_FIRST = np.frombuffer(b"Aa", np.uint8).reshape(1, 2)  # a small letter after the first one
# As many times as are kept are looked at for collisions with others.
_SPARE = 8
_ROWS_AT_ONCE = 1 << 17


class Kept(NamedTuple):
    """Beginnings (n, length) whose reports' support is so many standard deviations of noise high (n,)."""

    rows: Bytes
    score: FloatArray


class Terms(NamedTuple):
    """On which terms a level is gone through: how many are tried, of which bytes (256,), and which of these are in use.

    ``kept`` is how many go on to the next, at most.
    """

    tried: int
    allowed: BoolArray
    in_use: BoolArray
    kept: int


def search(metric: Metric, state: State, options: Options) -> Found:
    """The strings whose beginnings are frequent at every level up to their end."""
    levels = lengths(metric.device.parameters)
    found: list[Bytes] = []
    going_on = np.zeros((1, 0), np.uint8)
    allowed = utf8.bytes_of(options.alphabet)
    in_use = utf8.bytes_in_use(_AT_FIRST)
    full = []
    longer = 0
    for level, length in enumerate(levels):
        options.progress(level / len(levels))
        tried = sum(utf8.count_extensions(each, length - going_on.shape[1], allowed) for each in going_on)
        if not tried:
            break
        terms = Terms(tried, allowed, in_use & allowed, options.kept)
        kept, passed = _frequent(Part.of(metric, state, level), going_on, length, terms, _padded(found, length))
        if passed > len(kept.rows):
            full.append(length)
        certain = kept.score > stats.norm.isf(1 / _CERTAIN / tried)
        in_use |= utf8.bytes_in_use(kept.rows[certain])
        ended = utf8.has_ended(kept.rows)
        longer = int((certain & ~ended).sum())
        found += list(kept.rows[ended])
        going_on = kept.rows[~ended]
    options.progress(1.0)
    texts = [text for row in (*found, *going_on) if (text := _text(row)) is not None]
    return Found(tuple(texts), tuple(_notes(levels[-1], longer, full, options)))


def _frequent(part: Part, beginnings: Bytes, length: int, terms: Terms, ended: Bytes) -> tuple[Kept, int]:
    """The extensions of ``beginnings`` to ``length`` bytes that pass, the most frequent of them; and how many pass.

    ``ended`` are strings that were found at earlier levels: candidates that merely share an item with one of them are
    passed over, as those are that share one with another candidate.
    """
    more = length - beginnings.shape[1]
    best = Kept(np.zeros((0, length), np.uint8), np.zeros(0))
    if not part.reports:
        return best, 0
    usual = sum(utf8.count_extensions(each, more, terms.in_use) for each in beginnings)
    of_all, of_usual = (_least(terms.kept, number) for number in (terms.tried, usual))

    def least(rows: Bytes) -> FloatArray:
        """The score that each must exceed; of the very first byte any is usual."""
        return np.where(terms.in_use[rows[:, max(1, length - more) :]].all(axis=1), of_usual, of_all)

    for rows in _extensions(beginnings, more, terms.allowed):
        score = _score(part, rows)
        likely = np.flatnonzero(score > of_usual)
        passing = likely[score[likely] > least(rows[likely])]
        best = _best(best, Kept(rows[passing], score[passing]), _SPARE * terms.kept)
    wanted = np.concatenate([np.full(len(ended), of_usual), least(best.rows)])
    real = _standing(part, ended, best, wanted)
    return Kept(best.rows[real][: terms.kept], best.score[real][: terms.kept]), len(real)


def _standing(part: Part, ended: Bytes, best: Kept, wanted: FloatArray) -> npt.NDArray[np.int64]:
    """The places in ``best`` of those that stand out by themselves; ``wanted`` is of ``ended``, then of ``best``."""
    score = np.concatenate([_score(part, ended), best.score])
    order = np.argsort(-score, kind="stable")
    real = order[standing(part, _keys(part, np.concatenate([ended, best.rows])[order]), wanted[order])]
    return np.asarray(real[real >= len(ended)] - len(ended), np.int64)


def _padded(ended: list[Bytes], length: int) -> Bytes:
    """Strings that ended at earlier levels as this level shows them, (n, length)."""
    rows = [np.pad(row, (0, length - len(row)), constant_values=END) for row in ended]
    return np.array(rows, np.uint8).reshape(len(rows), length)


def _least(kept: int, tried: int) -> float:
    """The score that so many of ``tried`` reach where all is noise as may pass."""
    return float(stats.norm.isf(min(0.5, NOISE * kept / max(1, tried))))


def _extensions(beginnings: Bytes, more: int, allowed: BoolArray) -> Iterator[Bytes]:
    """All texts that go on from ``beginnings`` by ``more`` bytes, some at a time."""
    waiting: list[Bytes] = []
    rows = 0
    for each in beginnings:
        waiting.append(utf8.extensions(each, more, allowed))
        rows += len(waiting[-1])
        if rows >= _ROWS_AT_ONCE:
            yield from _pieces(waiting)
            waiting, rows = [], 0
    if waiting:
        yield from _pieces(waiting)


def _pieces(waiting: list[Bytes]) -> Iterator[Bytes]:
    together = np.concatenate(waiting)
    for start in range(0, len(together), _ROWS_AT_ONCE):
        yield together[start : start + _ROWS_AT_ONCE]


def _score(part: Part, rows: Bytes) -> FloatArray:
    support = part.supporting(_keys(part, rows))
    return np.asarray((support - part.reports * part.q) / np.sqrt(part.null_variance()), np.float64)


def _keys(part: Part, rows: Bytes) -> Keys:
    salt = part.salt
    first, second = (xxh32(rows, seed).astype(np.uint64) for seed in (salt & 0xFFFFFFFF, salt >> 32))
    return Keys(first, second)


def _best(a: Kept, b: Kept, most: int) -> Kept:
    rows, score = np.concatenate([a.rows, b.rows]), np.concatenate([a.score, b.score])
    order = np.argsort(-score, kind="stable")[:most]
    return Kept(rows[order], score[order])


def _text(row: Bytes) -> str | None:
    """The text of a beginning up to its end; None where it ends inside a character, or is not NFC-normalised."""
    try:
        text = bytes(row[row != END]).decode()
    except UnicodeDecodeError:
        return None
    return text if unicodedata.is_normalized("NFC", text) else None


def _notes(longest: int, longer: int, full: list[int], options: Options) -> Iterator[str]:
    """``longer`` beginnings of all levels are frequent beyond chance and do not end; more than that pass by chance."""
    if longer:
        yield (
            f"{longer} beginnings of {longest} bytes are frequent, and no level goes on from there: a longer value is "
            "not found. Decode it against a list of candidates, or give the metric a larger longest"
        )
    if full:
        yield (
            f"more than {options.kept} beginnings of {', '.join(map(str, full))} bytes passed, and the {options.kept} "
            "most frequent were followed; a larger --keep may find more"
        )
