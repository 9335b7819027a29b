"""One metric as the host sees it: what people wrote, and what devices run."""

from __future__ import annotations

import copy
import datetime
from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from hubbub_client.plan import Metric as DeviceMetric
from hubbub_client.records import width
from hubbub_registry.dimension import Dimension
from hubbub_registry.exact import ln_upper


@dataclass(frozen=True)
class Metric:
    """A metric definition, checked and calibrated.

    ``device`` is the same object that a device builds from the plan (fingerprint, parameters, fields, record_bytes,
    period in seconds); everything of the host's that touches records reads it there. With a ``dimension`` a record is
    one byte longer than its ``fields`` say.
    """

    name: str
    description: str
    owner: str
    expires: datetime.date
    mechanism: str
    epsilon: Fraction
    """The declared upper bound for one report."""
    ratio: Fraction
    """e^epsilon of one report, exactly."""
    permanent_ratio: Fraction | None
    """e^epsilon of all reports of one value together, where noise is permanent; else None."""
    period: int
    reports_per_period: int
    lifetime_epsilon: Fraction | None
    """None where it is declared unbounded."""
    unbounded_justification: str
    settings: Mapping[str, Any]
    """The mechanism's own TOML keys, defaults filled in."""
    values: tuple[str, ...]
    """The closed domain, in the order of the records' indices; empty where the domain is open."""
    candidates: tuple[str, ...]
    """What a decoder tries where the domain is open; ``values`` where it is closed."""
    silenced: Mapping[str, str]
    """Lint name -> written reason."""
    entry: Mapping[str, Any]
    """The metric's entry in the plan."""
    device: DeviceMetric
    dimension: Dimension | None = None
    """What is sent in the clear beside the value, where it is split by something."""
    parts: tuple[Metric, ...] = ()
    """The two parts of a joint metric, each as a metric of its own whose records are its part of a record."""

    @property
    def undivided(self) -> Metric:
        """The metric as its mechanism knows it: without the byte of the dimension. Of the same fingerprint."""
        if self.dimension is None:
            return self
        device = copy.copy(self.device)
        device.dimension = None
        device.record_bytes = width(device.fields)
        return replace(self, device=device, dimension=None)

    @property
    def exact_epsilon(self) -> Fraction:
        """ln(ratio), rounded up by less than one part in 1e50."""
        return ln_upper(self.ratio)

    @property
    def fingerprint(self) -> bytes:
        """Eight bytes that name this very definition."""
        return self.device.fingerprint

    @property
    def numeric(self) -> bool:
        """Whether values are the integers of a range; ``candidates`` then names its buckets, or nothing for a mean."""
        return "span" in self.device.parameters

    @property
    def closed(self) -> bool:
        """Whether values come from a fixed list."""
        return bool(self.values)
