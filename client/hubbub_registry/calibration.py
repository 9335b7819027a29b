"""From a declared epsilon to an integer threshold: towards privacy, and with little lost."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple

from hubbub_client.records import bits_for
from hubbub_registry.exact import exp_lower, ln_upper

MAX_PRECISION = 32
# What calibration keeps of the declared epsilon, at least: all but a thousandth.
KEPT = Fraction(999, 1000)


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
    """What a mechanism's calibration gives: the plan's integers and the layout of a record.

    ``permanent_ratio`` is e^epsilon of everything one value can ever leak, where noise is permanent (RAPPOR's
    eps_inf); else None.
    """

    parameters: Mapping[str, int]
    fields: tuple[Field, ...]
    permanent_ratio: Fraction | None = None


class KeyProblem(NamedTuple):
    """One TOML key of a mechanism that has to change."""

    key: str
    what: str
    remedy: str


class CalibrationError(ValueError):
    """Parameters with which the mechanism cannot work, or cannot meet its epsilon. ``problems`` names the keys."""

    def __init__(self, *problems: KeyProblem) -> None:
        super().__init__("; ".join(f"{key}: {what}; {remedy}" for key, what, remedy in problems))
        self.problems = problems


def smallest_noise(epsilon: Fraction, ratio: Callable[[int, int], Fraction]) -> tuple[int, int]:
    """The least noise that keeps ``ratio(threshold, precision) <= e^epsilon``.

    ``ratio`` falls in the threshold. Returns ``(threshold, precision)`` with the smallest precision that realises
    99.9 % of epsilon, and with it the smallest threshold. Raises CalibrationError where 32 bits do not suffice.
    """
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
        if ln_upper(ratio(low, precision)) >= epsilon * KEPT:
            return reduce(low, precision)
    raise CalibrationError(
        KeyProblem(
            "epsilon",
            f"no threshold of {MAX_PRECISION} bits comes within 0.1 % of {float(epsilon):g}",
            "choose one between 0.001 and 16",
        )
    )


def largest_signal(epsilon: Fraction, ratio: Callable[[int, int], Fraction]) -> tuple[int, int]:
    """The most signal that keeps ``ratio(threshold, precision) <= e^epsilon``; ``ratio`` rises in the threshold."""
    noise, precision = smallest_noise(epsilon, lambda threshold, bits: ratio((1 << bits) - threshold, bits))
    return (1 << precision) - noise, precision


def reduce(threshold: int, precision: int) -> tuple[int, int]:
    """The same probability with the fewest random bits: trailing zeros of the threshold are not drawn."""
    while precision > 1 and threshold % 2 == 0:
        threshold //= 2
        precision -= 1
    return threshold, precision
