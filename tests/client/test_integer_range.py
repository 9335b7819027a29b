from __future__ import annotations

from pathlib import Path

import pytest

from hubbub_client.errors import RejectedValueError
from hubbub_client.integer_range import offset_in_range

from tests.registries import metric_of


@pytest.mark.parametrize(("low", "high"), [(5, 105), (-7, 93), (-200, -100), (0, 100)])
def test_an_integer_lies_so_far_above_the_lowest(tmp_path: Path, low: int, high: int) -> None:
    """Every integer of a range, above and below zero, is its distance from the lowest, and none outside is taken."""
    metric = metric_of(tmp_path, "one-bit-mean", low=low, high=high).device
    for value in range(low, high + 1):
        assert offset_in_range(metric, str(value).encode()) == value - low
    for value in (low - 1, high + 1, low - 1000, high + 1000, -low - 1000):
        with pytest.raises(RejectedValueError, match=f"metric m: a value is not an integer from {low} to {high}$"):
            offset_in_range(metric, str(value).encode())


@pytest.mark.parametrize(
    "text", ["007", "+7", " 7", "7 ", "7\n", "1_0", "7.0", "", "-0", "0x7", "\N{ARABIC-INDIC DIGIT SEVEN}", "--7", "a"]
)
def test_an_integer_is_written_in_one_way(tmp_path: Path, text: str) -> None:
    """What is not just how an integer is printed is none, whatever it might have meant."""
    metric = metric_of(tmp_path, "one-bit-mean", low=-50, high=50).device
    with pytest.raises(RejectedValueError):
        offset_in_range(metric, text.encode())
