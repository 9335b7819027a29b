"""Puts together the fragments of one puzzle piece: the strings for which their positions speak most."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from hubbub_decoder.puzzle.evidence import Scores

# Beyond so many standard errors a fragment is there: more is no reason to put it before others that are there too.
CERTAIN = 8.0
# Fragments of one position that a beginning is continued with.
_CONTINUATIONS = 64

Indices = npt.NDArray[np.int64]


def join(scores: Scores, full: int, kept: int) -> Iterator[tuple[int, ...]]:
    """The fragments, by index, of the ``kept`` likeliest strings of each length; ``scores`` is (positions, fragments).

    The first ``full`` fragments are inside a string, and the others end it. A string's score is the sum over its
    fragments, so the best strings of a length begin with the best beginnings: only ``kept`` of these have to be
    followed. Strings of different lengths are not compared: how much the padding behind one speaks for it depends on
    the other strings with this piece.
    """
    scores = np.minimum(scores, np.float32(CERTAIN))
    positions, fragments = scores.shape
    beginnings = np.zeros((1, 0), np.int64)
    so_far = np.zeros(1, np.float32)
    for position in range(positions):
        here = scores[position]
        endings, _ = _best(beginnings, so_far, np.arange(full, fragments), here, kept)
        yield from (tuple(row) for row in endings.tolist())
        continued = np.argsort(-here[:full], kind="stable")[:_CONTINUATIONS]
        beginnings, so_far = _best(beginnings, so_far, continued, here, kept)
    yield from (tuple(row) for row in beginnings.tolist())


def _best(beginnings: Indices, so_far: Scores, continued: Indices, here: Scores, kept: int) -> tuple[Indices, Scores]:
    """The ``kept`` best of all ``beginnings`` continued with each of ``continued``."""
    total = (so_far[:, np.newaxis] + here[continued]).ravel()
    chosen = np.argpartition(-total, kept - 1)[:kept] if len(total) > kept else np.arange(len(total))
    row, column = np.divmod(chosen, len(continued))
    return np.column_stack([beginnings[row], continued[column]]), total[chosen]
