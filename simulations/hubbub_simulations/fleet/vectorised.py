"""Devices by the million: numpy encoders, with the noise from a generator that the operating system seeds."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from itertools import islice

import numpy as np

from hubbub_client.clock import unix_time
from hubbub_client.errors import RejectedValueError
from hubbub_client.integer_range import offset_in_range
from hubbub_client.upload import ID_BYTES, build
from hubbub_client.values import to_bytes
from hubbub_registry import Metric
from hubbub_simulations.fleet.tally import Tally
from hubbub_simulations.fleet.uploads import Upload
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
    while data := list(islice(accepted, batch)):
        numbers = {item: number for number, item in enumerate(dict.fromkeys(data))}
        index = np.fromiter((numbers[item] for item in data), np.intp, len(data))
        records = encode(metric, list(numbers), index, rng)
        period = unix_time() // metric.period
        for start in range(0, len(records), per_upload):
            part = records[start : start + per_upload]
            body = build(os.urandom(ID_BYTES), [(metric.fingerprint, period, part.tobytes())])
            yield Upload(body, len(part))


def _accepted(metric: Metric, values: Iterable[str], tally: Tally) -> Iterator[bytes]:
    for value in values:
        tally.devices += 1
        try:
            data = to_bytes(value)
            if metric.closed:
                metric.device.index_of(data)
            elif metric.numeric:
                offset_in_range(metric.device, data)
        except RejectedValueError as error:
            tally.refused[error.reason] += 1
        else:
            yield data
