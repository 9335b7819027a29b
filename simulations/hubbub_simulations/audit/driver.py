"""Runs the real encoder on random inputs of our choice, and counts the runs."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any
from unittest import mock

from hubbub_client.plan import Metric as DeviceMetric
from hubbub_client.plan import definition_fingerprint
from hubbub_client.records import unpack, width
from hubbub_registry import Metric
from hubbub_registry.mechanisms import client_module
from hubbub_simulations.audit.errors import LayoutError
from hubbub_simulations.audit.noise import SOURCE, Layout, Noise

SECRET = b"the secret of an audited device."
NAMESPACE = "another.namespace"


@dataclass(frozen=True)
class Asked:
    """One question to the pseudorandom function: everything that tells one permanent noise from another."""

    label: str
    context: bytes


class Driver:
    """The encoder of one metric and one device secret. Use it inside ``with driver.driven():``.

    ``encoder`` is the class to audit (default: the client's own); ``device`` another device metric than the metric's.
    Raises LayoutError where the encoder asks for other random bytes than ``layout`` says.
    """

    def __init__(
        self,
        metric: Metric,
        layout: Layout,
        encoder: Callable[..., Any] | None = None,
        device: DeviceMetric | None = None,
        secret: bytes = SECRET,
    ) -> None:
        self.metric = metric
        self.layout = layout
        self.runs = 0
        self.asked: list[Asked] = []
        self._module = client_module(metric.mechanism)
        self._device = device or metric.device
        self._encoder = (encoder or self._module.Encoder)(self._device, secret)
        self._noise: Noise = {}
        self._reads = 0
        if self._encoder.random_bytes != layout.channels[SOURCE]:
            raise LayoutError(
                f"the encoder reads {self._encoder.random_bytes} random bytes, its description says "
                f"{layout.channels[SOURCE]}"
            )

    @contextmanager
    def driven(self) -> Iterator[None]:
        """Puts the noise of our choice in place of the pseudorandom function, until the block ends."""
        if len(self.layout.channels) == 1:
            yield
            return
        with mock.patch.object(self._module, "expand", self._permanent):
            yield

    def run(self, value: bytes, noise: Noise) -> bytes:
        """The record of ``value`` where the channels are ``noise``."""
        self.runs += 1
        self._noise = noise
        self._reads = 0
        record: bytes = self._encoder.encode(value, self._source)
        if self._reads != 1:
            raise LayoutError(f"the encoder read its source {self._reads} times in one report, not once")
        if len(record) != (size := width(self._device.fields)):
            raise LayoutError(
                f"a record of {len(record)} bytes, where the plan says {size}: what it says is not what its fields say"
            )
        return record

    def permanent_key(self, value: bytes) -> bytes:
        """What the encoder says that the permanent noise of ``value`` is kept by, besides metric and device."""
        key: bytes = self._encoder.permanent_key(value)
        return key

    def fields(self, record: bytes) -> dict[str, int]:
        """The fields of a record, by name."""
        names = [name for name, _, _ in self._device.fields]
        return dict(zip(names, unpack(self._device.fields, record), strict=True))

    def noise(self, settings: Sequence[int], numbers: Sequence[int]) -> dict[str, int]:
        """The channels with the public parts at ``settings`` and the noise at ``numbers``, lanes in step."""
        channels = dict.fromkeys(self.layout.channels, 0)
        for (_, part), number in zip(self.layout.public, settings, strict=True):
            channels[part.channel] |= part.spread(number)
        for part, number in zip(self.layout.noise, numbers, strict=True):
            channels[part.channel] |= part.spread(number)
        return channels

    def random_noise(self, settings: Sequence[int], rng: random.Random) -> dict[str, int]:
        """Random channels, padding and all, with the public parts at ``settings``."""
        channels = {channel: rng.getrandbits(8 * size) for channel, size in self.layout.channels.items()}
        for (_, part), number in zip(self.layout.public, settings, strict=True):
            channels[part.channel] = channels[part.channel] & ~part.mask | part.spread(number)
        return channels

    def _source(self, count: int) -> bytes:
        self._reads += 1
        return self._bytes(SOURCE, count)

    def _permanent(self, _secret: bytes, label: bytes, context: bytes, count: int) -> bytes:
        self.asked = [*self.asked[-7:], Asked(label.decode(), context)]
        return self._bytes(label.decode(), count)

    def _bytes(self, channel: str, count: int) -> bytes:
        if self.layout.channels.get(channel) != count:
            raise LayoutError(f"the encoder asked {channel!r} for {count} bytes, which its description does not say")
        return self._noise[channel].to_bytes(count, "little")


def sibling_entry(metric: Metric) -> dict[str, Any]:
    """The metric's entry as a plan of the namespace ``NAMESPACE`` has it."""
    entry = dict(metric.entry)
    entry["fingerprint"] = definition_fingerprint(NAMESPACE, entry).hex()
    return entry


def sibling(metric: Metric) -> DeviceMetric:
    """The same definition in another namespace: another metric, with other permanent noise, and nothing else other."""
    return DeviceMetric(NAMESPACE, sibling_entry(metric))
