"""Holds RAPPOR's f, p, q and hashes against the declared epsilon (Erlingsson, Pihur, Korolova 2014, section 3).

Unlike the other mechanisms, RAPPOR is not calibrated from epsilon: three probabilities and the number of hashes decide
it, so they are written, rounded to integers towards privacy, and refused where a report would cost more than declared.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from hubbub_client.mechanisms.rappor import worst_ratio
from hubbub_client.records import bits_for
from hubbub_registry.calibration import KEPT, MAX_PRECISION, Calibrated, CalibrationError, Field, KeyProblem, field_of
from hubbub_registry.calibration import reduce as fewest_bits
from hubbub_registry.exact import exp_lower, float_up, ln_upper
from hubbub_registry.mechanisms import Key, Settings

KEYS: Mapping[str, Key] = {
    "encoding": Key("choice", required=False, default="bloom", choices=("bloom", "one-hot")),
    "reports": Key("choice", required=False, default="longitudinal", choices=("longitudinal", "one-time")),
    "bits": Key("power-of-two", 2, 1 << 12, required=False),
    "hashes": Key("integer", 1, 16, required=False),
    "cohorts": Key("integer", 1, 1 << 16, required=False, default=1),
    "f": Key("probability"),
    "p": Key("probability", required=False),
    "q": Key("probability", required=False),
}
MAX_ONE_HOT = 1 << 12


def closed(keys: Mapping[str, Any]) -> bool:
    """One-hot (basic) RAPPOR has a bit for each of its values; a Bloom filter takes any value."""
    return bool(keys.get("encoding") == "one-hot")


def calibrate(settings: Settings) -> Calibrated:
    """f, p and q as integers, each rounded towards privacy."""
    keys = settings.keys
    problems = _problems(keys, settings.domain)
    if problems:
        raise CalibrationError(*problems)
    f, p, q = keys["f"], keys["p"], keys["q"]
    prr_threshold, prr_precision = _permanent(f, p, q)
    irr_q, irr_p, irr_precision = (0, 0, 0) if q is None else _instantaneous(prr_threshold, prr_precision, f, p, q)
    one_hot = closed(keys)
    bits = settings.domain if one_hot else keys["bits"]
    parameters = {
        "bits": bits,
        "bits_bits": bits_for(bits),
        "hashes": 0 if one_hot else keys["hashes"],
        "cohorts": keys["cohorts"],
        "prr_threshold": prr_threshold,
        "prr_precision": prr_precision,
        "irr_q": irr_q,
        "irr_p": irr_p,
        "irr_precision": irr_precision,
        "salt": settings.salt,
    }
    ratio = Fraction(*worst_ratio(parameters))
    if ratio > exp_lower(settings.epsilon):
        raise CalibrationError(
            KeyProblem(
                "epsilon",
                f"with these f, p, q and hashes a report costs epsilon {float_up(ln_upper(ratio)):.6g}, "
                f"more than the {float(settings.epsilon):g} declared",
                "raise f, bring p and q together, use fewer hashes, or declare the higher epsilon",
            )
        )
    permanent = Fraction(*worst_ratio({**parameters, "irr_precision": 0})) if irr_precision else None
    return Calibrated(parameters, (field_of("cohort", keys["cohorts"]), Field("bits", bits)), permanent)


def _problems(keys: Mapping[str, Any], domain: int) -> list[KeyProblem]:
    """What is wrong between keys that are each right by themselves."""
    found = []
    for key in ("bits", "hashes"):
        if closed(keys) and keys[key] is not None:
            found.append(
                KeyProblem(key, "basic (one-hot) RAPPOR has one bit for each of its values", "leave this key out")
            )
        if not closed(keys) and keys[key] is None:
            found.append(KeyProblem(key, "a Bloom filter needs it", 'write it, or say encoding = "one-hot"'))
    if closed(keys) and keys["cohorts"] != 1:
        found.append(
            KeyProblem("cohorts", "one-hot RAPPOR has no collisions for cohorts to resolve", "leave this key out")
        )
    if closed(keys) and domain > MAX_ONE_HOT:
        found.append(
            KeyProblem("values", f"one-hot RAPPOR takes {MAX_ONE_HOT} values, here {domain}", "use the bloom encoding")
        )
    p, q = keys["p"], keys["q"]
    for key in ("p", "q"):
        if keys["reports"] == "one-time" and keys[key] is not None:
            found.append(KeyProblem(key, "one-time RAPPOR sends the permanent response itself", "leave p and q out"))
        if keys["reports"] == "longitudinal" and keys[key] is None:
            found.append(
                KeyProblem(key, "the instantaneous response needs it", 'write it, or say reports = "one-time"')
            )
    if p is not None and q is not None and p >= q:
        found.append(
            KeyProblem(
                "p",
                f"p = {float(p):g} is not below q = {float(q):g}: 1 must be likelier where the bit is set",
                "swap or spread them",
            )
        )
    return found


def _permanent(f: Fraction, p: Fraction | None, q: Fraction | None) -> tuple[int, int]:
    """f/2 rounded up, with the fewest bits that keep 99.95 % of eps_inf, and of eps_1 before p and q are rounded."""
    share = (1 + KEPT) / 2
    for precision in range(1, MAX_PRECISION + 1):
        threshold = _ceil(f / 2 * (1 << precision))
        rounded = Fraction(threshold, 1 << precision)
        if rounded >= Fraction(1, 2) or not _keeps(_bit_ratio(rounded), _bit_ratio(f / 2), share):
            continue
        if p is None or q is None or _keeps(_bit_ratio(rounded, p, q), _bit_ratio(f / 2, p, q), share):
            return fewest_bits(threshold, precision)
    raise CalibrationError(KeyProblem("f", f"{float(f):g} is too close to 0 or 1 for 32 bits", "move it inwards"))


def _instantaneous(
    prr_threshold: int, prr_precision: int, f: Fraction, p: Fraction, q: Fraction
) -> tuple[int, int, int]:
    """q rounded down and p up, over one precision: the fewest bits that keep 99.9 % of eps_1.

    Both directions lower eps_1. With a = 1 - f/2 > 1/2, d eps_1 / dq is proportional to g(a) - g(1 - a) with
    g(a) = a / (x (1 - x)) and x = p + a (q - p); a / x and 1 / (1 - x) both rise in a where p < q. p is the mirror
    image: exchange 0 and 1.
    """
    flip = Fraction(prr_threshold, 1 << prr_precision)
    for precision in range(1, MAX_PRECISION + 1):
        total = 1 << precision
        irr_q, irr_p = (q.numerator * total) // q.denominator, _ceil(p * total)
        if irr_p >= irr_q:
            continue
        rounded = _bit_ratio(flip, Fraction(irr_p, total), Fraction(irr_q, total))
        if _keeps(rounded, _bit_ratio(f / 2, p, q), KEPT):
            return irr_q, irr_p, precision
    raise CalibrationError(
        KeyProblem("p", f"{float(p):g} and q = {float(q):g} are too close for 32 bits", "spread them")
    )


def _bit_ratio(flip: Fraction, p: Fraction = Fraction(0), q: Fraction = Fraction(1)) -> Fraction:
    """e^(epsilon/h): the odds of a reported 1 where the filter holds 1, over the odds where it holds 0."""
    one, zero = (1 - flip) * q + flip * p, flip * q + (1 - flip) * p
    return one * (1 - zero) / (zero * (1 - one))


def _keeps(rounded: Fraction, ideal: Fraction, share: Fraction) -> bool:
    return ln_upper(rounded) >= share * ln_upper(ideal)


def _ceil(value: Fraction) -> int:
    return -(-value.numerator // value.denominator)
