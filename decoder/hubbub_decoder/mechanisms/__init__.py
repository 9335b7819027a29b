"""The decoder's room of each mechanism: aggregate its records, and estimate from the aggregate.

A module here has

``partial(metric, records) -> State``
    the aggregate of ``records``, a uint8 array of shape (n, record_bytes). Raises RecordError.
``merge(a, b) -> State``
    the aggregate of both. Raises StateError where they are of different definitions.
``estimate(metric, state, candidates) -> Estimates``
    ``candidates`` are NFC-normalised and distinct, and for a closed domain among its values; ``state`` holds at least
    one record. ``hubbub_decoder.estimate`` makes sure of both. A mechanism that gives a mean in place of counts has
    ``estimate_mean(metric, state) -> Mean`` beside it, and refuses here. One that gives ranges and quantiles has
    ``distribution(metric, state) -> Distribution`` beside it, and one whose reports spell strings that nobody named
    ``discover(metric, state, options) -> Found`` (``hubbub_decoder.discovery``).

Probabilities are the integers of the plan over a power of two, what the devices really used; the declared epsilon
plays no part in estimating.
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from typing import Protocol, cast

from hubbub_client.mechanisms import module_name
from hubbub_client.mechanisms.names import NAMES
from hubbub_decoder.counting.records import Records
from hubbub_decoder.counting.state import State
from hubbub_decoder.estimates import Estimates
from hubbub_decoder.mean import Mean
from hubbub_decoder.numbers.distribution import Distribution
from hubbub_registry import Metric

__all__ = ["NAMES", "MeanMechanism", "Mechanism", "RangeMechanism", "mean_mechanism", "mechanism", "range_mechanism"]


class Mechanism(Protocol):
    """What a module of this package offers."""

    def partial(self, metric: Metric, records: Records, /) -> State:
        """The aggregate of records."""

    def merge(self, a: State, b: State, /) -> State:
        """The aggregate of two aggregates."""

    def estimate(self, metric: Metric, state: State, candidates: Sequence[str], /) -> Estimates:
        """The estimates of the candidates."""


class MeanMechanism(Protocol):
    """What a module offers beside that, where its reports give a mean."""

    def estimate_mean(self, metric: Metric, state: State, /) -> Mean:
        """The mean."""


class RangeMechanism(Protocol):
    """What a module offers beside that, where its reports give ranges and quantiles."""

    def distribution(self, metric: Metric, state: State, /) -> Distribution:
        """The distribution of the values."""


def range_mechanism(name: str) -> RangeMechanism | None:
    """The decoder's module of mechanism ``name`` where that gives ranges and quantiles, else None. Raises PlanError."""
    module = mechanism(name)
    return cast(RangeMechanism, module) if hasattr(module, "distribution") else None


def mean_mechanism(name: str) -> MeanMechanism | None:
    """The decoder's module of mechanism ``name`` where that gives a mean, else None. Raises PlanError."""
    module = mechanism(name)
    return cast(MeanMechanism, module) if hasattr(module, "estimate_mean") else None


def mechanism(name: str) -> Mechanism:
    """The decoder's module of mechanism ``name``. Raises PlanError for a name not in the table."""
    return cast(Mechanism, import_module(f"hubbub_decoder.mechanisms.{module_name(name)}"))
