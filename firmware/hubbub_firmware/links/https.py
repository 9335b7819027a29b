"""The settings of uploads over HTTPS."""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from hubbub_client.sampling import ByteSource
    from hubbub_firmware.transports.https import HttpsTransport

KEYS = {"collector": "https://collector.example.org", "token": "", "ntp": ""}


def transport_of(
    settings: "dict[str, Any]", ca: "bytes | None", _source: "ByteSource", learn: "Callable[[int], object]", *_: object
) -> "HttpsTransport":
    """A transport to the collector that the settings name. It draws nothing from the source."""
    from hubbub_firmware.transports.https import HttpsTransport  # not before it is needed: a start takes memory, too

    return HttpsTransport(
        settings["collector"], ca, settings["plain"], settings["timeout"], learn, settings["token"] or None,
        settings["ntp"],
    )  # fmt: skip
