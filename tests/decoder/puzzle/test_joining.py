"""The joined strings of every length are the best there are, found without trying all."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from hubbub_decoder.puzzle.joining import CERTAIN, join


def every_string(positions: int, full: int, fragments: int) -> list[tuple[int, ...]]:
    """All sequences of full fragments, ended by another one or by the last position."""
    strings = [*itertools.product(range(full), repeat=positions)]
    for length in range(positions):
        ended = [range(full)] * length + [range(full, fragments)]
        strings += itertools.product(*ended)
    return strings


@pytest.mark.parametrize("kept", [1, 2, 7, 1000])
@pytest.mark.parametrize("seed", range(4))
def test_they_are_the_best_of_each_length(kept: int, seed: int) -> None:
    """Brute force over all strings gives the same best scores for each number of fragments."""
    positions, full, fragments = 4, 5, 8
    scores = np.random.default_rng(seed).normal(2, 3, (positions, fragments)).astype(np.float32)
    found = list(join(scores, full, kept))
    assert len(found) == len(set(found))

    def score(string: tuple[int, ...]) -> float:
        return sum(min(float(scores[i, each]), CERTAIN) for i, each in enumerate(string))

    every = every_string(positions, full, fragments)
    for ended, length in itertools.product((True, False), range(1, positions + 1)):
        here = [s for s in every if len(s) == length and (s[-1] >= full) == ended]
        best = sorted((score(string) for string in here), reverse=True)[:kept]
        own = sorted((score(s) for s in found if len(s) == length and (s[-1] >= full) == ended), reverse=True)
        assert own == pytest.approx(best)
    assert set(found) <= set(every)


def test_beyond_certain_more_is_no_more() -> None:
    """Of two fragments that are surely there, both go on, though one stands for a much more frequent string."""
    scores = np.zeros((2, 70), np.float32)
    scores[0, :2] = CERTAIN + 90, CERTAIN + 1
    scores[1, 2:4] = CERTAIN + 1, CERTAIN + 90
    found = {string for string in join(scores, 69, 4) if len(string) == 2 and string[-1] < 69}
    assert found == {(0, 2), (0, 3), (1, 2), (1, 3)}
