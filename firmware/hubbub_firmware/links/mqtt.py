"""The settings of uploads over MQTT."""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from hubbub_client.sampling import ByteSource
    from hubbub_firmware.transports.mqtt import MqttTransport

KEYS = {"broker": "broker.example.org", "port": 0, "user": "", "password": "", "prefix": "hubbub/v1", "ntp": ""}


def transport_of(settings: "dict[str, Any]", ca: "bytes | None", source: "ByteSource", *_: object) -> "MqttTransport":
    """A transport to the broker that the settings name. MQTT carries no date to learn from."""
    from hubbub_firmware.transports.mqtt import MqttTransport, publisher  # not before it is needed, as in https.py

    client = publisher(
        settings["broker"], source, settings["port"], ca, settings["plain"], settings["user"] or None,
        settings["password"] or None, settings["timeout"], settings["ntp"],
    )  # fmt: skip
    return MqttTransport(client, settings["prefix"])
