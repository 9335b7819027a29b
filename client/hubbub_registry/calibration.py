"""From a declared epsilon to an integer threshold: towards privacy, and with little lost."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction

from hubbub_client.records import bits_for
from hubbub_registry.exact import exp_lower, ln_upper

MAX_PRECISION = 32
# What calibration may lose of the declared epsilon: a thousandth.
_KEPT = Fraction(999, 1000)


@dataclass(frozen=True)
class Field:
    """One bit field of a record: ``bits`` wide, holding an integer below ``domain``, or any bits where that is 0."""

    name: str
    bits: int
    domain: int = 0


def field_of(name: str, domain: int) -> Field:
    """The field that holds the integers below ``domain``."""
    bits = bits_for(domain)
    return Field(name, bits, 0 if domain == 1 << bits else domain)


@dataclass(frozen=True)
class Calibrated:
    """What a mechanism's calibration gives: the plan's integers and the layout of a record."""

    parameters: Mapping[str, int]
    fields: tuple[Field, ...]
    # e^epsilon of everything one value can ever leak, where noise is permanent (RAPPOR's eps_inf); else None.
    permanent_ratio: Fraction | None = field(default=None)


class CalibrationError(ValueError):
    """Parameters with which the mechanism cannot meet its epsilon. ``key`` names the TOML key to change."""

    def __init__(self, key: str, what: str, remedy: str) -> None:
        super().__init__(f"{key}: {what}; {remedy}")
        self.key = key
        self.what = what
        self.remedy = remedy


def smallest_noise(epsilon: Fraction, ratio: Callable[[int, int], Fraction]) -> tuple[int, int]:
    """The least noise that keeps ``ratio(threshold, precision) <= e^epsilon``, with ``ratio`` falling in the threshold.

    Returns ``(threshold, precision)`` with the smallest precision that realises 99.9 % of epsilon.
    """
    return _calibrate(epsilon, ratio)


def largest_signal(epsilon: Fraction, ratio: Callable[[int, int], Fraction]) -> tuple[int, int]:
    """The most signal that keeps ``ratio(threshold, precision) <= e^epsilon``; ``ratio`` rises in the threshold."""
    noise, precision = _calibrate(epsilon, lambda threshold, bits: ratio((1 << bits) - threshold, bits))
    return (1 << precision) - noise, precision


def reduce(threshold: int, precision: int) -> tuple[int, int]:
    """The same probability with the fewest random bits: trailing zeros of the threshold are not drawn."""
    while precision > 1 and threshold % 2 == 0:
        threshold //= 2
        precision -= 1
    return threshold, precision


def dyadic(value: Fraction, *, up: bool) -> tuple[int, int]:
    """``value`` in (0, 1) as ``threshold / 2**precision``, off by less than one part in 2000, rounded as asked."""
    for precision in range(1, MAX_PRECISION + 1):
        scaled = value * (1 << precision)
        threshold = -(-scaled.numerator // scaled.denominator) if up else scaled.numerator // scaled.denominator
        if 0 < threshold < (1 << precision) and abs(threshold - scaled) * 2000 <= min(
            scaled, (1 << precision) - scaled
        ):
            return threshold, precision
    raise ValueError(f"{value} is too close to 0 or 1 for {MAX_PRECISION} bits")


def _calibrate(epsilon: Fraction, ratio: Callable[[int, int], Fraction]) -> tuple[int, int]:
    bound = exp_lower(epsilon)
    for precision in range(1, MAX_PRECISION + 1):
        low, high = 1, (1 << precision) - 1  # the smallest threshold that is private enough lies in [low, high]
        if ratio(high, precision) > bound:
            continue
        while low < high:
            middle = (low + high) // 2
            if ratio(middle, precision) <= bound:
                high = middle
            else:
                low = middle + 1
        if ln_upper(ratio(low, precision)) >= epsilon * _KEPT:
            return reduce(low, precision)
    raise CalibrationError(
        "epsilon",
        f"no threshold of {MAX_PRECISION} bits comes within 0.1 % of {float(epsilon):g}",
        "choose one between 0.001 and 16",
    )
