"""Which mechanisms find strings that nobody named."""

from __future__ import annotations

from typing import Protocol, cast

from hubbub_decoder.counting.state import State
from hubbub_decoder.discovery.found import Found, Options
from hubbub_decoder.errors import EstimateError
from hubbub_decoder.mechanisms import NAMES, mechanism
from hubbub_registry import Metric


class Discovering(Protocol):
    """What a module of the decoder's mechanisms offers beside the rest, where its reports spell strings."""

    def discover(self, metric: Metric, state: State, options: Options, /) -> Found:
        """The strings that the reports point to."""


def can_discover(name: str) -> bool:
    """Whether mechanism ``name`` finds strings that nobody named. Raises PlanError for a name not in the table."""
    return hasattr(mechanism(name), "discover")


def check_discovers(metric: Metric) -> None:
    """Raises EstimateError unless ``metric``'s mechanism finds strings that nobody named; it says which ones do."""
    if not can_discover(metric.mechanism):
        able = " or ".join(name for name in NAMES if can_discover(name))
        raise EstimateError(
            f"metric {metric.name}: reports of {metric.mechanism} do not spell what they hold, so no new value can be "
            f"read from them; decode it against a list of candidates, or collect with {able}"
        )


def found_by(metric: Metric, state: State, options: Options) -> Found:
    """What the mechanism of ``metric`` finds. Raises EstimateError where it finds nothing by its nature."""
    check_discovers(metric)
    return cast(Discovering, mechanism(metric.mechanism)).discover(metric, state, options)
