"""One curated metric as the host sees it: what people wrote, and the noise that follows from it."""

from __future__ import annotations

import datetime
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise

from hubbub_client.canonical import fingerprint
from hubbub_registry.curator.law import half_width, std_error
from hubbub_registry.curator.scale import gaussian_rho, laplace_epsilon
from hubbub_registry.curator.sensitivity import l1_sensitivity, l2_sensitivity_squared
from hubbub_registry.exact import nano_down, nano_up

NOISES = ("discrete-laplace", "discrete-gaussian")


@dataclass(frozen=True)
class Curated:
    """A curated metric, checked and calibrated. Values, bounds and releases are integers, in steps of 1/``resolution``.

    Privacy loss is epsilon with discrete Laplace noise, and rho of zCDP with discrete Gaussian: ``unit`` says which.
    """

    namespace: str
    name: str
    description: str
    owner: str
    expires: datetime.date
    statistic: str
    noise: str
    adjacency: str
    declared: Fraction
    """The bound on the loss of one sensor in one period."""
    lifetime: Fraction
    """The bound on the loss of one sensor in the life of the metric."""
    delta: Fraction | None
    """Where rho is converted to (epsilon, delta); None with pure epsilon."""
    scale: Fraction
    """Of the noise, on each cell."""
    low: int
    high: int
    buckets: int
    """Of a histogram, else 0; as ``low`` and ``high`` are for a count."""
    resolution: int
    contributions: int
    """The most readings of one sensor in one period that are counted."""
    sensors: int
    """The most sensors that may be enrolled."""
    sensors_minimum: int
    """The fewest for which the gateway works."""
    period: int
    silenced: Mapping[str, str]

    @property
    def gaussian(self) -> bool:
        """Whether losses are rho of zCDP, and not epsilon."""
        return self.noise == "discrete-gaussian"

    @property
    def unit(self) -> str:
        """What losses are counted in: ``"epsilon"`` or ``"rho"``."""
        return "rho" if self.gaussian else "epsilon"

    @property
    def l1(self) -> int:
        """The L1 sensitivity."""
        return l1_sensitivity(self.statistic, self.adjacency, self.contributions, self.low, self.high)

    @property
    def l2_squared(self) -> int:
        """The square of the L2 sensitivity."""
        return l2_sensitivity_squared(self.statistic, self.adjacency, self.contributions, self.low, self.high)

    @property
    def loss(self) -> Fraction:
        """What one release costs one sensor, exactly, from sensitivity and scale: never above ``declared``."""
        if self.gaussian:
            return gaussian_rho(self.l2_squared, self.scale)
        return laplace_epsilon(self.l1, self.scale)

    @property
    def charge_nano(self) -> int:
        """What the gateway's ledger takes for one release, in 1e-9, rounded up."""
        return nano_up(self.loss)

    @property
    def lifetime_nano(self) -> int:
        """What the gateway's ledger may take in all, in 1e-9, rounded down."""
        return nano_down(self.lifetime)

    @property
    def cells(self) -> tuple[str, ...]:
        """The names of what is counted: ``""`` for a count or a sum, the buckets of a histogram as ``"0..9"``.

        Bucket b holds the readings whose offset x above ``low`` has x buckets // (high - low + 1) = b.
        """
        if self.statistic != "histogram":
            return ("",)
        integers = self.high - self.low + 1
        starts = [self.low - -b * integers // self.buckets for b in range(self.buckets + 1)]
        return tuple(f"{start}" if end - start == 1 else f"{start}..{end - 1}" for start, end in pairwise(starts))

    @property
    def std_error(self) -> float:
        """Of each released value: the noise, and nothing else."""
        return std_error(self.noise, self.scale)

    @property
    def half_width(self) -> int:
        """A released value plus and minus this holds the aggregate that was made noisy, with probability 95 %."""
        return half_width(self.noise, self.scale)

    @property
    def fingerprint(self) -> bytes:
        """Eight bytes that name everything that decides what is released, how often and how private."""
        return fingerprint(
            {
                "curated": 1, "namespace": self.namespace, "name": self.name, "statistic": self.statistic,
                "noise": self.noise, "adjacency": self.adjacency, "loss": _pair(self.declared),
                "lifetime": _pair(self.lifetime), "delta": _pair(self.delta or Fraction(0)),
                "scale": _pair(self.scale), "low": self.low, "high": self.high, "buckets": self.buckets,
                "resolution": self.resolution, "contributions": self.contributions, "sensors": self.sensors,
                "sensors_minimum": self.sensors_minimum, "period": self.period,
            }
        )  # fmt: skip


def _pair(value: Fraction) -> list[int]:
    return [value.numerator, value.denominator]
