from __future__ import annotations

from fractions import Fraction
from math import ceil, comb

import pytest

from hubbub_client import EntropyError
from hubbub_firmware.entropy.cutoffs import (
    proportion_cutoff,
    reference_length,
    repetition_cutoff,
    replay_length,
    window_of,
)

ALPHA = Fraction(1, 1 << 20)
CASES = [(1, milli) for milli in (250, 500, 750, 1000)] + [(8, milli) for milli in range(1000, 8001, 1000)]
DIGITS = 40  # binary digits of the probability


def bounds(milli: int) -> tuple[int, int]:
    """Two neighbouring integers p with p / 2**DIGITS below and above 2**(-milli/1000)."""
    exponent = Fraction(milli, 1000)
    power = DIGITS * exponent.denominator - exponent.numerator
    low, high = 0, 1 << DIGITS
    while high - low > 1:
        middle = (low + high) // 2
        if middle**exponent.denominator <= 1 << power:
            low = middle
        else:
            high = middle
    return low, low if low**exponent.denominator == 1 << power else high


def tail(trials: int, p: int, least: int) -> Fraction:
    """P(Binomial(trials, p / 2**DIGITS) >= least), exactly."""
    q = (1 << DIGITS) - p
    ways = sum(comb(trials, k) * p**k * q ** (trials - k) for k in range(least, trials + 1))
    return Fraction(ways, 1 << DIGITS * trials)


@pytest.mark.parametrize(("bits", "milli"), CASES)
def test_a_cutoff_is_the_exact_quantile(bits: int, milli: int) -> None:
    """At the assessed entropy a window alarms with at most 2**-20, and a cut-off of one less would alarm more often."""
    cutoff, trials = proportion_cutoff(bits, milli), window_of(bits) - 1
    below, above = bounds(milli)
    assert tail(trials, above, cutoff - 1) <= ALPHA  # the window's first sample counts as one
    assert tail(trials, below, cutoff - 2) > ALPHA


@pytest.mark.parametrize("milli", [229, 250, 500, 750, 1000, 2857, 3000, 4000, 7000, 8000])
def test_run_lengths_are_the_standards(milli: int) -> None:
    """Repetition: 1 + ceil(20 / H); replay: ceil(30 / H) and ceil(64 / H); exactly."""
    assert repetition_cutoff(milli) == 1 + ceil(Fraction(20_000, milli))
    assert replay_length(milli) == ceil(Fraction(30_000, milli))
    assert reference_length(milli) == ceil(Fraction(64_000, milli))


def test_windows_are_the_standards() -> None:
    """1,024 samples of one bit, 512 of more."""
    assert [window_of(bits) for bits in (1, 2, 8)] == [1024, 512, 512]


@pytest.mark.parametrize(
    ("bits", "milli"), [(1, 0), (1, 999), (1, 2000), (8, 500), (8, 9000), (3, 4000), (0, 1000), (9, 8000), (1, -500)]
)
def test_an_assessment_without_a_cutoff_is_refused(bits: int, milli: int) -> None:
    """No entry, more entropy than bits, or an impossible width: an error, and never another entry's cut-off."""
    with pytest.raises(EntropyError, match="no cut-off"):
        proportion_cutoff(bits, milli)


def test_bits_between_have_the_cutoffs_of_bytes() -> None:
    """Two to eight bits a sample share a table, up to the entropy that they can have."""
    assert proportion_cutoff(2, 2000) == proportion_cutoff(8, 2000)
    assert proportion_cutoff(3, 3000) == proportion_cutoff(8, 3000)
