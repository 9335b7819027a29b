"""Questions that several mechanisms answer, each in its own way, and how well: where there is no one best mechanism."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from hubbub_registry.advice.options import Option, record_bytes
from hubbub_registry.calibration import CalibrationError
from hubbub_registry.mechanisms import Settings, mechanism
from hubbub_registry.metric import Metric

MEAN = "mean"
"""The mean of all values; the error is in their unit, and the largest there is: where they lie around the middle."""
BUCKET = "bucket"
"""The share of values in one of the buckets that the range is cut into, where they are spread evenly over it."""
BELOW = "below"
"""The share of values below a bucket, on average over all of them: what ranges and quantiles are made of."""
FINDS = "finds"
"""Strings that nobody named; the error is the least share of devices that must hold one for it to be found."""

FIRST, SECOND = "first", "second"
"""The share of a rare value of either part of a joint metric, summed over the other."""


@dataclass(frozen=True)
class Answer:
    """What is asked, and the ``options`` that answer it and fit, the most exact one first."""

    question: str
    options: tuple[Option, ...]


@dataclass(frozen=True)
class Candidate:
    """A mechanism, calibrated, that may answer several questions; with the TOML ``keys`` to show."""

    mechanism: str
    keys: Mapping[str, int]
    record_bytes: int
    parameters: Mapping[str, int]

    def option(self, error: float) -> Option:
        """For one question, which it answers so exactly."""
        return Option(self.mechanism, self.keys, self.record_bytes, error, 0.0)


def candidate(metric: Metric, name: str, keys: Mapping[str, Any], shown: Sequence[str]) -> Iterator[Candidate]:
    """Mechanism ``name`` with these TOML keys at the metric's declared epsilon; none where that cannot be."""
    module = mechanism(name)
    filled = {key: keys.get(key, kind.default) for key, kind in module.KEYS.items()}
    try:
        made = module.calibrate(Settings(metric.epsilon, filled, 0, 0))
    except CalibrationError:
        return
    size = record_bytes(made.fields) + (metric.dimension is not None)  # a dimension's byte
    yield Candidate(name, {key: keys[key] for key in shown}, size, made.parameters)


def answer(question: str, options: Iterable[Option], limit: int | None) -> Answer:
    """Those of ``options`` whose records take at most ``limit`` bytes (any number where None), in order."""
    fitting = [each for each in options if limit is None or each.record_bytes <= limit]
    return Answer(question, tuple(sorted(fitting, key=lambda each: each.error)))
