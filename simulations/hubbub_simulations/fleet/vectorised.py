"""Devices by the million: numpy encoders, with the noise from a generator that the operating system seeds."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from itertools import islice

import numpy as np

from hubbub_client.clock import unix_time
from hubbub_client.dimension import front_of
from hubbub_client.errors import RejectedValueError
from hubbub_client.integer_range import offset_in_range
from hubbub_client.pairs import halves, pair_bytes
from hubbub_client.upload import ID_BYTES, build
from hubbub_client.values import to_bytes
from hubbub_registry import Metric
from hubbub_simulations.fleet.tally import Tally
from hubbub_simulations.fleet.uploads import Upload
from hubbub_simulations.fleet.values import in_two
from hubbub_simulations.mechanisms import encode, load

# Encoded at once, for speed; sent as ``per_upload`` says.
_BATCH = 10_000


def vectorised_uploads(
    metric: Metric, values: Iterable[str], per_upload: int, tally: Tally, rng: np.random.Generator
) -> Iterator[Upload]:
    """Uploads of ``per_upload`` devices' records, for the current period; the last may hold fewer.

    A value that the client would refuse is counted in ``tally`` by the client's own reason.
    """
    load(metric.mechanism)  # now: its imports take longer than encoding ten thousand devices, and are no part of a rate
    return _uploads(metric, values, per_upload, tally, rng)


def _uploads(
    metric: Metric, values: Iterable[str], per_upload: int, tally: Tally, rng: np.random.Generator
) -> Iterator[Upload]:
    accepted = _accepted(metric, values, tally)
    batch = per_upload * max(1, _BATCH // per_upload)
    while taken := list(islice(accepted, batch)):
        data = [item for item, _ in taken]
        numbers = {item: number for number, item in enumerate(dict.fromkeys(data))}
        index = np.fromiter((numbers[item] for item in data), np.intp, len(data))
        records = encode(metric, list(numbers), index, rng, np.array([cell for _, cell in taken]))
        period = unix_time() // metric.period
        for start in range(0, len(records), per_upload):
            part = records[start : start + per_upload]
            body = build(os.urandom(ID_BYTES), [(metric.fingerprint, period, part.tobytes())])
            yield Upload(body, len(part))


def _accepted(metric: Metric, values: Iterable[str], tally: Tally) -> Iterator[tuple[bytes, int]]:
    """What an encoder takes, and the place of the public dimension's value; 0 where there is none."""
    split = metric.dimension is not None
    for line in values:
        cell, value = in_two(line, split)
        tally.devices += 1
        try:
            data = _data_of(metric, value)
            place = front_of(metric.device, cell)[0] if split else 0
        except RejectedValueError as error:
            tally.refused[error.reason] += 1
        else:
            yield data, place


def _data_of(metric: Metric, value: str) -> bytes:
    """What an encoder takes for a line. Raises RejectedValueError."""
    if metric.parts:
        data = pair_bytes(value.split("\t", 1))
        for part, half in zip(metric.parts, halves(data), strict=True):
            if part.closed:
                part.device.index_of(half)
        return data
    data = to_bytes(value)
    if metric.closed:
        metric.device.index_of(data)
    elif metric.numeric:
        offset_in_range(metric.device, data)
    return data
