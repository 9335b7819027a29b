"""What LoRaWAN network servers post: the frame inside it, and what tells a repetition of it.

Sources: The Things Stack v3, "Webhooks", ``ApplicationUp`` with ``uplink_message``; ChirpStack v4, "HTTP integration",
event ``up``. Everything else that they say of a sensor (its names, keys, radio) is not looked at.
"""

from __future__ import annotations

import json
from base64 import b64decode
from dataclasses import dataclass
from typing import Any

from hubbub_client.errors import HubbubError

THINGS_STACK = "things-stack"
CHIRPSTACK = "chirpstack"
KINDS = (THINGS_STACK, CHIRPSTACK)


class WebhookError(HubbubError):
    """A request that no network server of that kind makes."""


@dataclass(frozen=True)
class Uplink:
    """A frame and its port. ``repetition`` is the same for the same transmission; it names the sensor, so it is never
    kept as it is (see duplicates.py)."""

    frame: bytes
    port: int
    repetition: str


def read_webhook(kind: str, body: bytes) -> Uplink | None:
    """The uplink in a request of ``kind``; None for other events (a join, a status). Raises WebhookError."""
    try:
        document = json.loads(body)
    except ValueError:
        raise WebhookError("not JSON") from None
    except RecursionError:
        raise WebhookError("JSON of too many levels") from None
    if not isinstance(document, dict):
        raise WebhookError("not a JSON object")
    return _things_stack(document) if kind == THINGS_STACK else _chirpstack(document)


def _things_stack(document: dict[str, Any]) -> Uplink | None:
    uplink = document.get("uplink_message")
    if uplink is None:
        return None
    sensor = document.get("end_device_ids")
    if not isinstance(uplink, dict) or not isinstance(sensor, dict):
        raise WebhookError("uplink_message or end_device_ids is no object")
    # A counter of 0 and an empty payload are left out: that is how protocol buffers are written as JSON.
    who = sensor.get("dev_eui", sensor.get("device_id"))
    return _uplink(
        uplink.get("frm_payload", ""), uplink.get("f_port"), [who, sensor.get("dev_addr"), uplink.get("f_cnt", 0)]
    )


def _chirpstack(document: dict[str, Any]) -> Uplink | None:
    if "data" not in document and "fPort" not in document:
        return None
    sensor = document.get("deviceInfo")
    if not isinstance(sensor, dict):
        raise WebhookError("deviceInfo is no object")
    return _uplink(
        document.get("data", ""),
        document.get("fPort"),
        [sensor.get("devEui"), document.get("devAddr"), document.get("fCnt", 0)],
    )


def _uplink(payload: object, port: object, transmission: list[object]) -> Uplink:
    if not isinstance(payload, str) or type(port) is not int or not isinstance(transmission[0], str):
        raise WebhookError("the payload, the port or the sensor's EUI is missing")
    try:
        frame = b64decode(payload, validate=True)
    except ValueError:
        raise WebhookError("the payload is not base64") from None
    return Uplink(frame, port, json.dumps(transmission))
