"""What the gateway's tests share: a plan of small records, its frames, and the webhooks that carry them."""

from __future__ import annotations

from base64 import b64encode
from typing import Any

from hubbub_client import Plan
from hubbub_firmware.transports.frames import port_of

from tests.client.reporter.reporting import plan_of


def small_plan() -> Plan:
    """Index 0: 5 values in 3 bits, so that records 5 to 7 are none. Index 1: one-bit Hadamard sketch."""
    return plan_of(a={"mechanism": "randomized-response"}, b={"mechanism": "hadamard-count-mean-sketch"})


def frame(number: int) -> bytes:
    """A frame of metric ``b``, another one for each ``number`` below 64."""
    size = small_plan().metrics["b"].record_bytes
    return b"\x01" + (number % 64).to_bytes(size, "little")


def things_stack(data: bytes, counter: int = 1, device: str = "70B3D57ED0000001", **keys: Any) -> dict[str, Any]:
    """As The Things Stack v3 posts an uplink, with some of what a gateway has no use for."""
    uplink = {"f_port": port_of(small_plan()), "frm_payload": b64encode(data).decode(), "f_cnt": counter, **keys}
    if counter == 0:
        del uplink["f_cnt"]
    return {
        "end_device_ids": {"device_id": "d", "dev_eui": device, "dev_addr": "260B1234", "application_ids": {}},
        "correlation_ids": ["as:up:01"],
        "received_at": "2027-01-15T08:00:00.123456789Z",
        "uplink_message": {**uplink, "rx_metadata": [{"rssi": -35, "location": {"latitude": 52.1}}]},
    }


def chirpstack(data: bytes, counter: int = 1, device: str = "0101010101010101", **keys: Any) -> dict[str, Any]:
    """As ChirpStack v4 posts an ``up`` event."""
    return {
        "deduplicationId": "3ac7e3c4-4401-4b8d-9386-a5c902f9202d",
        "time": "2027-01-15T08:00:00+00:00",
        "deviceInfo": {"tenantName": "t", "deviceName": "d", "devEui": device},
        "devAddr": "00189440",
        "fCnt": counter,
        "fPort": port_of(small_plan()),
        "data": b64encode(data).decode(),
        **keys,
    }
