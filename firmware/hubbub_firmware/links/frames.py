"""The settings of reports as frames, for boards without an IP network: a gateway takes them to the collector."""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from hubbub_client.plan import Plan
    from hubbub_client.storage import Storage
    from hubbub_firmware.transports.frames import FrameTransport

KEYS = {"frame_bytes": 11}  # what every data rate of LoRaWAN carries


def transport_of(
    settings: "dict[str, Any]", _ca: object, _source: object, _learn: object, board: "Any", plan: "Plan",
    storage: "Storage",
) -> "FrameTransport":  # fmt: skip
    """A transport through the board's own ``send_frame``. A frame carries no time back, and nothing to learn."""
    from hubbub_firmware.transports.frames import FrameTransport  # not before it is needed, as in https.py

    return FrameTransport(plan, board.send_frame, settings["frame_bytes"], storage)
