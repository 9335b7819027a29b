"""What a check found in a metric."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from datetime import date
from typing import Literal

from hubbub_registry.metric import Metric

Level = Literal["error", "warning"]


@dataclass(frozen=True)
class Finding:
    """One thing a reviewer would stop at. ``silenced`` is the written reason why it does not apply here, or None."""

    lint: str
    level: Level
    where: str
    what: str
    remedy: str
    silenced: str | None = None

    @property
    def fails(self) -> bool:
        """Whether it stops ``check`` and ``compile``."""
        return self.level == "error" and self.silenced is None


# A check reads one metric on a given day, and yields what it finds. One function may look for several things.
Check = Callable[[Metric, date], Iterator[Finding]]


def error(metric: Metric, lint: str, key: str, what: str, remedy: str) -> Finding:
    """As ``warning``, of what stops ``check`` and ``compile`` until it is mended or silenced."""
    return replace(warning(metric, lint, key, what, remedy), level="error")


def warning(metric: Metric, lint: str, key: str, what: str, remedy: str) -> Finding:
    """A warning at a key of the metric, or at the whole metric where ``key`` is empty."""
    return Finding(lint, "warning", f"metrics.{metric.name}{'.' if key else ''}{key}", what, remedy)
