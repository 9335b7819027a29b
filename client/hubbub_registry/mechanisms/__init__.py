"""The registry's room of each mechanism: its TOML keys, its calibration, and its exact epsilon.

A module here has ``KEYS`` (the TOML keys it takes beside the common ones), ``closed(keys)`` (whether the domain is
a fixed list of values) and ``calibrate(settings) -> Calibrated``. The exact worst-case ratio comes from the client's
own ``worst_ratio``, over the very integers the device uses, so the two cannot drift apart; the tests hold it against
the enumerated output distribution of the encoder. A mechanism over a range of integers also has ``labels(keys)``: the
names of what is counted in it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from importlib import import_module
from typing import Any, Protocol, cast

from hubbub_client.mechanisms import module_name
from hubbub_client.mechanisms.names import NAMES
from hubbub_registry.calibration import Calibrated

__all__ = [
    "NAMES", "SPELLING", "Key", "Mechanism", "Settings", "client_module", "exact_ratio", "mechanism", "module_name",
    "range_labels", "takes_integers",
]  # fmt: skip

# The mechanisms from whose reports a decoder finds strings that nobody named.
SPELLING = frozenset({"sequence-fragment-puzzle", "prefix-extending-method"})


@dataclass(frozen=True)
class Key:
    """A TOML key of a mechanism: its kind, its bounds (inclusive) and, where it may be left out, its default.

    ``kind`` is one of ``"integer"``, ``"power-of-two"``, ``"probability"`` (a Fraction strictly between 0 and 1) and
    ``"choice"`` (one of ``choices``).
    """

    kind: str
    low: int = 1
    high: int = 1 << 20
    required: bool = True
    default: int | str | Fraction | None = None
    choices: tuple[str, ...] = ()


@dataclass(frozen=True)
class Settings:
    """What a mechanism is calibrated from: the declared epsilon, its own keys, the salt, and the size of its domain."""

    epsilon: Fraction
    keys: Mapping[str, Any]
    salt: int
    domain: int  # 0 where the domain is open


class Mechanism(Protocol):
    """What a module of this package offers."""

    KEYS: Mapping[str, Key]

    def closed(self, keys: Mapping[str, Any], /) -> bool:
        """Whether values come from a fixed list."""

    def calibrate(self, settings: Settings) -> Calibrated:
        """The integers of the plan. Raises CalibrationError."""


def mechanism(name: str) -> Mechanism:
    """The registry's module of mechanism ``name``. Raises PlanError for a name not in the table."""
    return cast(Mechanism, import_module(f"hubbub_registry.mechanisms.{module_name(name)}"))


def takes_integers(module: Mechanism) -> bool:
    """Whether a mechanism's values are the integers of a range."""
    return hasattr(module, "labels")


def range_labels(module: Mechanism, keys: Mapping[str, Any]) -> tuple[str, ...]:
    """The names of what a mechanism over a range of integers counts: its buckets, or nothing for a mean."""
    return cast(tuple[str, ...], cast(Any, module).labels(keys))


def client_module(name: str) -> Any:
    """The client's module of mechanism ``name``: what a device runs."""
    return import_module(f"hubbub_client.mechanisms.{module_name(name)}")


def exact_ratio(name: str, parameters: Mapping[str, int]) -> Fraction:
    """e^epsilon of one report with these integers, exactly."""
    numerator, denominator = client_module(name).worst_ratio(parameters)
    return Fraction(numerator, denominator)
