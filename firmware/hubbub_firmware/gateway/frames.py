"""What a frame says, checked against the plan: a report of one metric, or a trouble."""

from __future__ import annotations

from dataclasses import dataclass

from hubbub_client.clock import EARLIEST
from hubbub_client.dimension import record_fields
from hubbub_client.errors import HubbubError
from hubbub_client.plan import Metric, Plan
from hubbub_client.records import unpack
from hubbub_firmware.transports.frames import TROUBLE, metrics_in_order, port_of
from hubbub_firmware.trouble import REASONS

_TROUBLE_BYTES = 6


class FrameError(HubbubError):
    """A frame that is no report and no trouble. ``reason`` is one of FRAME_REASONS; the frame is not quoted."""

    def __init__(self, reason: str, message: str) -> None:
        super().__init__(message)
        self.reason = reason


class ClockError(HubbubError):
    """This machine's clock was never set, so no period can be stamped."""


FRAME_REASONS = ("empty", "index", "length", "range", "port", "expired", "trouble")


@dataclass(frozen=True)
class FrameReport:
    """One record, with the fingerprint of its metric and the period it was received in."""

    fingerprint: bytes
    period: int
    record: bytes


@dataclass(frozen=True)
class FrameTrouble:
    """A trouble of some sensor: a reason of trouble.REASONS, and how often it happened."""

    reason: str
    count: int


class FrameReader:
    """Reads frames of ``plan``. ``any_port`` takes them on whatever LoRaWAN port they came by."""

    def __init__(self, plan: Plan, any_port: bool = False) -> None:
        self._metrics = metrics_in_order(plan)
        self.port = port_of(plan)
        self._any_port = any_port

    def read(self, frame: bytes, port: int | None, now: int) -> FrameReport | FrameTrouble:
        """What ``frame`` says, received on LoRaWAN port ``port`` (None: no LoRaWAN) at Unix time ``now``.

        A record is checked as the collector would, which refuses a whole upload for one bad record. Raises FrameError,
        and ClockError.
        """
        if now < EARLIEST:
            raise ClockError(f"this machine's clock shows {now}, so it was never set; set it, frames wait until then")
        if port is not None and port != self.port and not self._any_port:
            raise FrameError("port", f"a frame on port {port}: sensors with this plan send on port {self.port}")
        if not frame:
            raise FrameError("empty", "an empty frame")
        if frame[0] == TROUBLE:
            return _trouble(frame)
        if frame[0] >= len(self._metrics):
            raise FrameError("index", f"a frame of metric {frame[0]}: the plan has {len(self._metrics)}, from 0")
        metric = self._metrics[frame[0]]
        _check(metric, frame[1:])
        if now >= metric.expires:
            raise FrameError("expired", f"metric {metric.name} expired; give sensors and gateway a newer plan")
        return FrameReport(metric.fingerprint, now // metric.period, frame[1:])


def _check(metric: Metric, record: bytes) -> None:
    """Raises FrameError unless ``record`` is one that the metric's encoder could have made."""
    if len(record) != metric.record_bytes:
        raise FrameError(
            "length", f"metric {metric.name}: a record of {len(record)} bytes, and not of {metric.record_bytes}"
        )
    # A domain of 0 means any bits; the bits past the fields are padding.
    fields = record_fields(metric)
    bits = sum(bits for _, bits, _ in fields)
    values = unpack(fields, record)
    if int.from_bytes(record, "little") >> bits or any(
        domain and value >= domain for value, (_, _, domain) in zip(values, fields, strict=True)
    ):
        raise FrameError("range", f"metric {metric.name}: a record that no sensor makes")


def _trouble(frame: bytes) -> FrameTrouble:
    if len(frame) != _TROUBLE_BYTES or frame[1] >= len(REASONS):
        raise FrameError("trouble", "a trouble frame of another length, or with a reason unknown here")
    return FrameTrouble(REASONS[frame[1]], int.from_bytes(frame[2:], "little"))
