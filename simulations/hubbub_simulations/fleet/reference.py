"""Devices that run the embeddable client itself: a ``Reporter`` each, with a secret and a budget of its own."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from itertools import islice

import msgpack

from hubbub_client.mechanisms.names import COMPOSITES
from hubbub_client.plan import Plan
from hubbub_client.reporter import Reporter
from hubbub_client.storage import MemoryStorage
from hubbub_client.transport import Answer
from hubbub_client.upload import ID_BYTES, batches_of, build
from hubbub_simulations.fleet.tally import Tally
from hubbub_simulations.fleet.uploads import Upload
from hubbub_simulations.fleet.values import in_two


class Outbox:
    """A transport that keeps what a device sends, for the fleet to send on."""

    def __init__(self) -> None:
        self.bodies: list[bytes] = []

    def send(self, body: bytes) -> Answer:
        """Takes the upload; whether the collector accepts it is the fleet's to find out."""
        self.bodies.append(body)
        return Answer(202)


def reference_uploads(
    plan: Plan, metric: str, values: Iterable[str], per_upload: int, tally: Tally
) -> Iterator[Upload]:
    """The uploads of one new device for each value.

    ``per_upload`` of 1 passes each device's own upload on; more than one puts the uploads of that many devices into
    one, as a gateway between them and the collector does.
    """
    devices = _device_uploads(plan, metric, values, tally)
    if per_upload == 1:
        return devices
    return _gateway(devices, per_upload)


def _device_uploads(plan: Plan, metric: str, values: Iterable[str], tally: Tally) -> Iterator[Upload]:
    joint = plan.metric(metric).mechanism in COMPOSITES  # both values on a line, with a tab between them
    split = plan.metric(metric).dimension is not None
    for line in values:
        cell, value = in_two(line, split)
        tally.devices += 1
        outbox = Outbox()
        reporter = Reporter(plan, state=MemoryStorage(), transport=outbox)
        reporter.record(metric, tuple(value.split("\t", 1)) if joint else value, cell)
        sent = reporter.flush().sent
        tally.refused.update(reporter.counts)
        for body in outbox.bodies:
            yield Upload(body, sent)


def _gateway(devices: Iterator[Upload], per_upload: int) -> Iterator[Upload]:
    while uploads := list(islice(devices, per_upload)):
        # Sorted by content within each metric and period, so the order of arrival is gone.
        batches = batches_of(
            [
                (fingerprint, period, records)
                for upload in uploads
                for fingerprint, period, records in msgpack.unpackb(upload.body)[2]
            ]
        )
        yield Upload(build(os.urandom(ID_BYTES), batches), sum(upload.reports for upload in uploads))
