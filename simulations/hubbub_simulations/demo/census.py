"""A real public distribution: given names in the 1990 United States census, as the ``names`` package ships them.

The United States Census Bureau's tables are in the public domain; the package (MIT) carries them unchanged.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from importlib import resources

import numpy as np
import numpy.typing as npt

TABLES = ("dist.male.first", "dist.female.first")


@dataclass(frozen=True)
class Population:
    """Names, most common first, and the share of each among the people whose names are listed (summing to 1)."""

    names: tuple[str, ...]
    share: npt.NDArray[np.float64]

    def draw(self, devices: int, rng: np.random.Generator) -> Sequence[str]:
        """One name a device."""
        return [self.names[i] for i in rng.choice(len(self.names), size=devices, p=self.share)]


def population() -> Population:
    """Men and women in equal number."""
    totals: dict[str, float] = {}
    for table in TABLES:
        for line in (resources.files("names") / table).read_text().splitlines():
            name, percent = line.split()[:2]
            totals[name.capitalize()] = totals.get(name.capitalize(), 0.0) + float(percent)
    ordered = sorted(totals, key=lambda name: (-totals[name], name))
    weights = np.array([totals[name] for name in ordered])
    return Population(tuple(ordered), weights / weights.sum())
