"""Holds RAPPOR's f, p, q and hashes against the declared epsilon (Erlingsson, Pihur, Korolova 2014, section 3)."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from hubbub_client.mechanisms.rappor import worst_ratio
from hubbub_client.records import bits_for
from hubbub_registry.calibration import Calibrated, CalibrationError, Field, dyadic, field_of
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
    one_hot = closed(keys)
    bits, hashes = _shape(keys, settings.domain) if one_hot else _bloom(keys)
    prr_threshold, prr_precision = dyadic(keys["f"] / 2, up=True)
    irr_q, irr_p, irr_precision = _instantaneous(keys)
    cohorts = keys["cohorts"]
    parameters = {
        "bits": bits,
        "bits_bits": bits_for(bits),
        "hashes": hashes,
        "cohorts": cohorts,
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
            "epsilon",
            f"with these f, p, q and hashes a report costs epsilon {float_up(ln_upper(ratio)):.6g}, "
            f"more than the {float(settings.epsilon):g} declared",
            "raise f, bring p and q together, use fewer hashes, or declare the higher epsilon",
        )
    permanent = Fraction(*worst_ratio({**parameters, "irr_precision": 0})) if irr_precision else None
    return Calibrated(parameters, (field_of("cohort", cohorts), Field("bits", bits)), permanent)


def _shape(keys: Mapping[str, Any], domain: int) -> tuple[int, int]:
    for key in ("bits", "hashes"):
        if keys.get(key) is not None:
            raise CalibrationError(
                key, "basic (one-hot) RAPPOR has one bit for each of its values", "leave this key out"
            )
    if keys["cohorts"] != 1:
        raise CalibrationError(
            "cohorts", "basic (one-hot) RAPPOR has no collisions for cohorts to resolve", "leave this key out"
        )
    if domain > MAX_ONE_HOT:
        raise CalibrationError(
            "values", f"one-hot RAPPOR takes {MAX_ONE_HOT} values, here {domain}", "use the bloom encoding"
        )
    return domain, 0


def _bloom(keys: Mapping[str, Any]) -> tuple[int, int]:
    for key in ("bits", "hashes"):
        if keys.get(key) is None:
            raise CalibrationError(key, "a Bloom filter needs it", 'write it, or say encoding = "one-hot"')
    return keys["bits"], keys["hashes"]


def _instantaneous(keys: Mapping[str, Any]) -> tuple[int, int, int]:
    """irr_q, irr_p and their common precision; zeros for one-time RAPPOR."""
    p, q = keys.get("p"), keys.get("q")
    if keys["reports"] == "one-time":
        if p is not None or q is not None:
            raise CalibrationError(
                "reports", "one-time RAPPOR sends the permanent response itself", "leave p and q out"
            )
        return 0, 0, 0
    if p is None or q is None:
        raise CalibrationError(
            "p" if p is None else "q",
            "the instantaneous response needs p and q",
            'write both, or say reports = "one-time"',
        )
    if p >= q:
        raise CalibrationError(
            "p",
            f"p = {float(p):g} must be below q = {float(q):g}: 1 must be likelier where the bit is set",
            "swap them",
        )
    q_threshold, q_precision = dyadic(q, up=False)
    p_threshold, p_precision = dyadic(p, up=True)
    precision = max(q_precision, p_precision)
    irr_q, irr_p = q_threshold << (precision - q_precision), p_threshold << (precision - p_precision)
    if irr_p >= irr_q:
        raise CalibrationError(
            "p", f"p = {float(p):g} and q = {float(q):g} are too close to carry anything", "spread them"
        )
    return irr_q, irr_p, precision
