"""What the two mechanisms over a range of integers share: bounds, output perturbation, and the permanent flip."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from hubbub_client.permanent_bit import bit_ratio
from hubbub_registry.calibration import KEPT, MAX_PRECISION, CalibrationError, KeyProblem, reduce, smallest_noise
from hubbub_registry.exact import exp_lower, float_up, ln_upper
from hubbub_registry.mechanisms import Key, Settings

# Past this an integer is none in the float of another language, and a plan may be read by any.
MAX_INTEGER = 1 << 53
# The noise of a report is as large as the range; more integers than this say nothing more.
MAX_SPAN = 1 << 31
# Uniform draws take this many bits more than they need.
EXTRA_BITS = 64

RANGE_KEYS: Mapping[str, Key] = {
    "low": Key("integer", -MAX_INTEGER, MAX_INTEGER),
    "high": Key("integer", -MAX_INTEGER, MAX_INTEGER),
}
PERTURBATION_KEYS: Mapping[str, Key] = {"perturbation": Key("probability", required=False)}


def range_problems(keys: Mapping[str, Any]) -> list[KeyProblem]:
    """What is wrong with the bounds and the perturbation, each right by itself."""
    low, high, perturbation = keys["low"], keys["high"], keys["perturbation"]
    found = []
    if low >= high:
        found.append(KeyProblem("high", f"{high} is not above low = {low}", "swap or spread them"))
    elif high - low > MAX_SPAN:
        found.append(
            KeyProblem(
                "high", f"lies {high - low} above low, past {MAX_SPAN}", "report a coarser unit, or a narrower range"
            )
        )
    if perturbation is not None and perturbation >= Fraction(1, 2):
        found.append(
            KeyProblem(
                "perturbation",
                f"{float(perturbation):g} flips at least every other bit, and nothing is left",
                "write a probability below 0.5",
            )
        )
    return found


def range_parameters(keys: Mapping[str, Any]) -> dict[str, int]:
    """The plan's bounds. A plan holds no negative integers, so a lowest value below 0 is written as its distance."""
    low, high = keys["low"], keys["high"]
    return {"low": max(low, 0), "below_zero": max(-low, 0), "span": high - low}


def flip_parameters(settings: Settings, differing: int) -> dict[str, int]:
    """The perturbation as integers, and with it the least permanent flip that keeps one report within epsilon.

    ``differing`` bits of a report differ between two values. The paper's eps', the epsilon of one report, is
    ln(((1-2g) F/(F+1) + g) / ((1-2g)/(F+1) + g)) a bit, with F = (1-r)/r of the permanent flip r and g the
    perturbation; it falls in r, and no r takes it past ln((1-g)/g). Raises CalibrationError where that is too little.
    """
    perturbation, perturbation_bits = _perturbation(settings.keys["perturbation"])

    def ratio(threshold: int, precision: int) -> Fraction:
        parameters = {
            "threshold": threshold,
            "precision": precision,
            "perturbation": perturbation,
            "perturbation_bits": perturbation_bits,
        }
        return Fraction(*bit_ratio(parameters, 1)) ** differing

    if perturbation:
        most = Fraction((1 << perturbation_bits) - perturbation, perturbation) ** differing
        if most <= exp_lower(settings.epsilon):
            raise CalibrationError(
                KeyProblem(
                    "perturbation",
                    f"{float(settings.keys['perturbation']):g} alone keeps a report below "
                    f"{float_up(ln_upper(most)):.6g}, so at epsilon {float(settings.epsilon):g} no permanent noise "
                    "would be left",
                    "lower epsilon or the perturbation",
                )
            )
    threshold, precision = smallest_noise(settings.epsilon, ratio)
    return {
        "threshold": threshold,
        "precision": precision,
        "perturbation": perturbation,
        "perturbation_bits": perturbation_bits,
    }


def _perturbation(wanted: Fraction | None) -> tuple[int, int]:
    """The perturbation, rounded up, with the fewest bits that stay within 0.1 % of it; (0, 0) for none."""
    if wanted is None:
        return 0, 0
    for precision in range(1, MAX_PRECISION + 1):
        threshold = -(-wanted.numerator * (1 << precision) // wanted.denominator)
        # Below one half: a report that is flipped every other time says nothing.
        if 2 * threshold < 1 << precision and wanted >= KEPT * Fraction(threshold, 1 << precision):
            return reduce(threshold, precision)
    raise CalibrationError(
        KeyProblem(
            "perturbation", f"{float(wanted):g} is too close to 0 or 0.5 for 32 bits", "move it, or leave it out"
        )
    )
