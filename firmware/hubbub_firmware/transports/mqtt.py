"""Uploads over MQTT: the same body, published at QoS 1; ``hubbub bridge mqtt`` takes it to the collector."""

import json

from hubbub_client.transport import Answer, TransportError
from hubbub_firmware.transports.mqtt_publisher import MqttPublisher

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Protocol

    from hubbub_client.sampling import ByteSource

    class Client(Protocol):
        """What this transport takes of umqtt.simple's MQTTClient, or of another client, for type checkers."""

        def connect(self, clean_session: bool = True) -> object: ...  # noqa: D102
        def publish(self, topic: bytes, message: bytes, retain: bool = False, qos: int = 0) -> object: ...  # noqa: D102
        def disconnect(self) -> object: ...  # noqa: D102


PREFIX = "hubbub/v1"
_ID_BYTES = 8


class MqttTransport:
    """Publishes uploads to ``<prefix>/reports`` and troubles to ``<prefix>/troubles`` through ``client``.

    ``client`` has umqtt.simple's interface; ``publisher`` below makes one. An Answer of 200 means that the broker has
    taken the message, and no more than that: docs/transports.md says what the broker must then be set up to do.
    Connects for each message, so that a broker, or a network, that came back is found, and no connection needs to be
    kept alive through a sleep.
    """

    def __init__(self, client: "Client", prefix: str = PREFIX) -> None:
        if not prefix or [letter for letter in prefix if letter in "+#\0"]:
            raise TransportError("mqtt: a prefix is like %s, without + and #, and not %r" % (PREFIX, prefix))
        self._client = client
        self._prefix = prefix

    def send(self, body: bytes) -> Answer:
        """Publishes one upload. Raises what the client raises, where the broker did not say that it took it."""
        return self._publish("/reports", body)

    def send_troubles(self, counts: "dict[str, int]") -> Answer:
        """Publishes how often each trouble happened. Raises what the client raises."""
        return self._publish("/troubles", json.dumps(counts).encode())

    def _publish(self, topic: str, message: bytes) -> Answer:
        client = self._client
        try:
            client.connect()
            client.publish((self._prefix + topic).encode(), message, False, 1)
        except Exception:
            _give_up(client)
            raise
        try:
            client.disconnect()
        except OSError:
            pass  # the broker has taken it; how the connection ends does not matter
        return Answer(200)


def publisher(
    server: str,
    source: "ByteSource",
    port: int = 0,
    ca: "bytes | None" = None,
    plain: bool = False,
    user: "str | None" = None,
    password: "str | None" = None,
    timeout: int = 20,
    ntp: str = "",
) -> MqttPublisher:
    """A client for MqttTransport: TLS with ``ca`` (PEM or DER), or nothing of the kind where ``plain`` is True.

    Its client id is drawn from ``source`` at each start, since one that stays would name the device in each
    connection. For the same reason give all devices one login. ``ntp`` as in HttpsTransport. Raises TransportError for
    neither or both of ``ca`` and ``plain``, and EntropyError.
    """
    if plain and ca is not None:
        raise TransportError("ca: a certificate checks nothing without TLS; leave out plain")
    if not plain and not ca:
        raise TransportError(
            "mqtt: without TLS nothing is encrypted or checked; give a ca, or say plain = True in the settings"
        )
    client_id = "".join(["%02x" % byte for byte in source(_ID_BYTES)]).encode()
    context = None
    if not plain:
        from hubbub_firmware.transports.certificates import verifying_context  # and TLS, only where it is used

        context = verifying_context(ca)
    return MqttPublisher(client_id, server, port, user, password, context, timeout, ntp)


def _give_up(client: "Client") -> None:
    """Closes what is left of a connection: umqtt.simple has no close, and its disconnect writes to a dead socket."""
    close = getattr(client, "close", None) or getattr(getattr(client, "sock", None), "close", None)
    if close is not None:
        try:
            close()
        except OSError:
            pass  # it is gone, which is what was wanted
