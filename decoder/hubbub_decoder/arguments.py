"""Checks of what Python callers pass: a slip is an error that says what to pass, not one from somewhere inside."""

from __future__ import annotations

import numpy as np

from hubbub_decoder.counting.state import State
from hubbub_decoder.errors import ArgumentError, EstimateError
from hubbub_registry import Metric


def check_metric(function: str, metric: object) -> None:
    """Raises ArgumentError unless ``metric`` is a Metric."""
    if not isinstance(metric, Metric):
        raise ArgumentError(
            f'{function}: metric is {metric!r}, not a Metric; pass load_registry("REGISTRY.toml").metric("NAME")'
        )


def check_open_unit(name: str, number: object) -> None:
    """Raises ArgumentError unless ``number`` is one, EstimateError unless it is strictly between 0 and 1."""
    if isinstance(number, bool) or not isinstance(number, (int, float, np.floating, np.integer)):
        raise ArgumentError(f"{name} = {number!r} is not a number; 0.95 and 0.05 are usual")
    if not 0 < number < 1:
        raise EstimateError(f"{name} = {number!r} is not strictly between 0 and 1; 0.95 and 0.05 are usual")


def check_state(function: str, state: object) -> None:
    """Raises ArgumentError unless ``state`` is a State."""
    if not isinstance(state, State):
        raise ArgumentError(
            f"{function}: {type(state).__name__} is not a State; pass what partial, merge or State.from_bytes gives"
        )
