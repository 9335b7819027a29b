from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from hubbub_firmware.gateway.webhooks import CHIRPSTACK, KINDS, THINGS_STACK, WebhookError, read_webhook
from hubbub_firmware.transports.frames import port_of

from tests.firmware.gateway.gateways import chirpstack, small_plan, things_stack

MAKERS: dict[str, Callable[..., dict[str, Any]]] = {THINGS_STACK: things_stack, CHIRPSTACK: chirpstack}


def read(kind: str, document: object) -> Any:
    return read_webhook(kind, json.dumps(document).encode())


@pytest.mark.parametrize("kind", KINDS)
def test_the_frame_and_its_port_come_out(kind: str) -> None:
    """Whatever else a network server says, the payload and the port are what counts; an empty payload is one too."""
    for data in (b"\x01\x02", b"\xfb\xff", b""):
        uplink = read(kind, MAKERS[kind](data))
        assert (uplink.frame, uplink.port) == (data, port_of(small_plan()))


@pytest.mark.parametrize("kind", KINDS)
def test_a_repetition_is_told_by_sensor_and_counter(kind: str) -> None:
    """The same transmission reads the same, though it was posted again; another sensor or counter reads otherwise."""
    first = read(kind, MAKERS[kind](b"x", 7)).repetition
    again = MAKERS[kind](b"x", 7)
    again["received_at"] = again["time"] = "later"
    assert read(kind, again).repetition == first
    others = [MAKERS[kind](b"x", 8), MAKERS[kind](b"x", 0), MAKERS[kind](b"x", 7, "another")]
    assert len({first, *(read(kind, other).repetition for other in others)}) == 4


@pytest.mark.parametrize("kind", KINDS)
def test_other_events_are_none(kind: str) -> None:
    """A join, a status, an acknowledgement: nothing to read, and no error."""
    assert read(kind, {"end_device_ids": {}, "join_accept": {"session_key_id": "x"}}) is None
    assert read(kind, {"deviceInfo": {}, "devAddr": "00189440", "margin": 10, "batteryLevel": 80}) is None


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("body", [b"", b"{", b"[]", b"1", b"\xff\xfe", b'"x"', b"[" * 100_000])
def test_what_is_no_webhook_is_an_error(kind: str, body: bytes) -> None:
    """No JSON, or no object, is a WebhookError."""
    with pytest.raises(WebhookError):
        read_webhook(kind, body)


@pytest.mark.parametrize(
    ("kind", "change"),
    [
        (THINGS_STACK, {"uplink_message": 5}),
        (THINGS_STACK, {"end_device_ids": None}),
        (THINGS_STACK, {"end_device_ids": {}}),
        (THINGS_STACK, {"uplink_message": {"f_port": 1, "frm_payload": "!!!!"}}),
        (THINGS_STACK, {"uplink_message": {"f_port": 1, "frm_payload": [1]}}),
        (THINGS_STACK, {"uplink_message": {"frm_payload": "AAA="}}),
        (THINGS_STACK, {"uplink_message": {"f_port": True, "frm_payload": "AAA="}}),
        (CHIRPSTACK, {"deviceInfo": None}),
        (CHIRPSTACK, {"deviceInfo": {}}),
        (CHIRPSTACK, {"data": "A"}),
        (CHIRPSTACK, {"data": 7}),
        (CHIRPSTACK, {"fPort": "1"}),
    ],
)
def test_a_webhook_with_a_part_missing_is_an_error(kind: str, change: dict[str, Any]) -> None:
    """A payload that is no base64, no port, no sensor: a WebhookError, and nothing of it is quoted."""
    with pytest.raises(WebhookError) as caught:
        read(kind, {**MAKERS[kind](b"x"), **change})
    assert "!!!!" not in str(caught.value)
