"""Whether permanent noise is keyed by what it must be keyed by: the device, the metric, the cohort and the value."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import combinations
from typing import Any

from hubbub_registry import Metric
from hubbub_simulations.audit.driver import SECRET, Asked, Driver, sibling
from hubbub_simulations.audit.facts import Facts
from hubbub_simulations.audit.noise import Layout

_VALUES = 64
_DEVICES = 1000


def check_permanent(
    metric: Metric, layout: Layout, encoder: Callable[..., Any] | None, facts: Facts, values: Sequence[bytes]
) -> None:
    """Compares the questions that the encoder asks the pseudorandom function.

    Two values may share a permanent noise only where the encoder's ``permanent_key`` says that they do, for then the
    ledger, which counts reports by that key, knows of it.
    """
    if len(layout.channels) == 1:
        return
    here = Driver(metric, layout, encoder)
    by_key: dict[bytes, list[Asked]] = {}
    for value in values[:_VALUES]:
        asked = _asked(here, value)
        first = by_key.setdefault(here.permanent_key(value), asked)
        facts.add("permanent noise is the same under the same key", first == asked == _asked(here, value))
    for one, other in combinations(by_key.values(), 2):
        facts.add("permanent noise is another under another key", _apart(one, other))
    # Over many devices, for two of them share a cohort with each other sooner or later, and then all but the metric.
    of_this: list[Asked] = []
    of_another: list[Asked] = []
    device = sibling(metric)
    for i in range(_DEVICES):
        secret = i.to_bytes(len(SECRET), "big")
        of_this += _asked(Driver(metric, layout, encoder, secret=secret), values[0])
        of_another += _asked(Driver(metric, layout, encoder, device, secret), values[0])
    facts.add("permanent noise is another for another metric", _apart(of_this, of_another), _DEVICES)


def _asked(driver: Driver, value: bytes) -> list[Asked]:
    driver.asked = []
    with driver.driven():
        driver.run(value, driver.noise([0] * len(driver.layout.public), [0] * len(driver.layout.noise)))
    return driver.asked


def _apart(one: list[Asked], other: list[Asked]) -> bool:
    return not set(one) & set(other)
