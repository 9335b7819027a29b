"""What may be asked: every number is read exactly, and what is out of range is refused with what to write."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import pytest

from hubbub_registry.composition.errors import AccountingError
from hubbub_registry.composition.question import read_batch, read_delta, read_horizon, read_household, read_prior


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("5y", 157680000),
        ("52w", 31449600),
        ("90d", 7776000),
        ("12h", 43200),
        ("30m", 1800),
        ("1s", 1),
        ("100y", 3153600000),
    ],
)
def test_horizon(text: str, seconds: int) -> None:
    """A horizon is a number and a unit; a year has 365 days."""
    assert read_horizon(text) == seconds


@pytest.mark.parametrize(
    ("text", "value"),
    [("1e-6", Fraction(1, 10**6)), ("0.1", Fraction(1, 10)), ("1E-12", Fraction(1, 10**12)), (".05", Fraction(1, 20))],
)
def test_delta(text: str, value: Fraction) -> None:
    """A delta is the decimal that was written, exactly."""
    assert read_delta(text) == value


def test_others() -> None:
    """Batch, household and prior are read up to their bounds, both included."""
    assert (read_batch("2"), read_batch("10000000")) == (2, 10**7)
    assert (read_household("1"), read_household("1000")) == (1, 1000)
    assert read_prior("0.25") == Fraction(1, 4)


REFUSED: list[tuple[Callable[[str], object], str, list[str]]] = [
    (read_horizon, "--horizon", ["", "5", "y", "0y", "-1y", "1.5y", "101y", "5 y", "5Y", "٥y", "9999999999y", "1e3d"]),
    (
        read_delta,
        "--delta",
        ["", "0", "1", "0.2", "-1e-6", "9e-13", "nan", "inf", "1e-99", "1/10", "1e-6 ", "0x1", "٠.١"],
    ),
    (read_batch, "--shuffled-batch", ["", "0", "1", "10000001", "-5", "1e5", "2.0", "٥٥"]),
    (read_household, "--household", ["", "0", "1001", "-1", "two"]),
    (read_prior, "--prior", ["", "0", "1", "1.5", "-0.1", "half", "nan"]),
]


@pytest.mark.parametrize(
    ("read", "option", "text"), [(read, option, text) for read, option, texts in REFUSED for text in texts]
)
def test_refused(read: Callable[[str], object], option: str, text: str) -> None:
    """What is out of range names its option, quotes what was written and says what to write."""
    with pytest.raises(AccountingError, match=f"^{option}: .* write ") as caught:
        read(text)
    assert repr(text) in str(caught.value)
    assert "\n" not in str(caught.value)
