"""Calibrates Hadamard response: owned outputs are e^epsilon times as likely (Acharya, Sun, Zhang 2019, section 4)."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from hubbub_client.mechanisms.hadamard_response import worst_ratio
from hubbub_client.records import bits_for
from hubbub_registry.calibration import Calibrated, Field, largest_signal
from hubbub_registry.exact import exp_lower
from hubbub_registry.mechanisms import Key, Settings

KEYS: Mapping[str, Key] = {
    "blocks": Key("power-of-two", 1, 1 << 12, required=False),
}


def closed(_keys: Mapping[str, Any]) -> bool:
    """Values always come from a list."""
    return True


def best_blocks(ratio: Fraction, domain: int) -> int:
    """The number of blocks with the least variance over a uniform population: the power of two nearest (E - 1)/2.

    With B blocks n Var is 2 (E - 1 + 2 B) / (E - 1)**2 + (E - 1 + 2 B) / (B (E - 1)), least at B = (E - 1)/2.
    """

    def variance(blocks: int) -> Fraction:
        gain = ratio - 1
        return 2 * (gain + 2 * blocks) / gain**2 + (gain + 2 * blocks) / (blocks * gain)

    return min((1 << i for i in range(max(1, domain.bit_length() - 1))), key=variance)


def calibrate(settings: Settings) -> Calibrated:
    """The largest share of owned outputs that epsilon allows."""
    domain = settings.domain
    blocks = settings.keys.get("blocks") or best_blocks(exp_lower(settings.epsilon), domain)
    blocks_bits = bits_for(blocks)
    size_bits = bits_for(-(-domain // blocks) + 1)

    def ratio(threshold: int, precision: int) -> Fraction:
        return Fraction(*worst_ratio({"blocks_bits": blocks_bits, "threshold": threshold, "precision": precision}))

    threshold, precision = largest_signal(settings.epsilon, ratio)
    parameters = {
        "domain": domain,
        "blocks_bits": blocks_bits,
        "size_bits": size_bits,
        "threshold": threshold,
        "precision": precision,
    }
    outputs = blocks_bits + size_bits
    return Calibrated(parameters, (Field("index", outputs),))
