"""MQTT 3.1.1, as much of it as publishing at QoS 1 takes, with the interface of umqtt.simple.

umqtt.simple itself switches time-outs off once it waits for an answer, so a broker that dies at the wrong moment holds
a board for ever; here every wait has an end. Source: MQTT 3.1.1, OASIS Standard, sections 3.1 to 3.4 and 3.14.
"""

from hubbub_client.transport import TransportError
from hubbub_firmware.transports.connection import Connection, open_connection

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ssl import SSLContext

_CONNACK = 0x20
_PUBACK = 0x40
_REFUSALS = {1: "protocol version", 2: "client id", 3: "it is not available", 4: "user or password", 5: "not allowed"}


class MqttPublisher:
    """Publishes to the broker at ``server``. ``context`` is a TLS context that verifies, or None for plain TCP.

    Every method raises OSError or TransportError where the broker does not answer as it should within ``timeout``
    seconds; the connection is then to be closed. ``ntp`` as in HttpsTransport.
    """

    def __init__(
        self,
        client_id: bytes,
        server: str,
        port: int = 0,
        user: "str | None" = None,
        password: "str | None" = None,
        context: "SSLContext | None" = None,
        timeout: int = 20,
        ntp: str = "",
    ) -> None:
        self._client_id = client_id
        self._server = server
        self._port = port or (1883 if context is None else 8883)
        self._login = None if user is None else (user.encode(), (password or "").encode())
        self._context = context
        self._timeout = timeout
        self._ntp = ntp
        self._connection: Connection | None = None
        self._packet = 0

    def connect(self, clean_session: bool = True) -> None:
        """Connects and logs in, with a session that ends with the connection, and no keep-alive."""
        self.close()
        self._connection = connection = open_connection(
            self._server, self._port, self._context, self._timeout, self._ntp
        )
        flags = (2 if clean_session else 0) | (0xC0 if self._login else 0)
        payload = _text(b"MQTT") + bytes([4, flags, 0, 0]) + _text(self._client_id)
        if self._login:
            payload += _text(self._login[0]) + _text(self._login[1])
        connection.restart()
        connection.write(b"\x10" + _length(len(payload)) + payload)
        connection.restart()
        answer = connection.read_exactly(4)
        if answer[:2] != bytes([_CONNACK, 2]):
            raise TransportError("what answers does not speak MQTT; is there a broker at this address?")
        if answer[3]:
            raise TransportError("the broker refused this client: %s" % _REFUSALS.get(answer[3], "code %d" % answer[3]))

    def publish(self, topic: bytes, message: bytes, retain: bool = False, qos: int = 1) -> None:
        """Publishes, and at QoS 1 returns once the broker has said that it took the message."""
        connection = self._connection
        if connection is None:
            raise TransportError("not connected to the broker")
        head = _text(topic)
        if qos:
            self._packet = self._packet % 65535 + 1
            head += self._packet.to_bytes(2, "big")
        connection.restart()
        connection.write(bytes([0x30 | qos << 1 | retain]) + _length(len(head) + len(message)) + head)
        connection.write(message)
        if qos:
            connection.restart()
            if connection.read_exactly(4) != bytes([_PUBACK, 2]) + self._packet.to_bytes(2, "big"):
                raise TransportError("the broker answered something else than that it took the message")

    def disconnect(self) -> None:
        """Takes leave of the broker."""
        if self._connection is not None:
            self._connection.write(b"\xe0\x00")
        self.close()

    def close(self) -> None:
        """Closes the connection, whatever state it is in."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None


def _text(data: bytes) -> bytes:
    return len(data).to_bytes(2, "big") + data


def _length(count: int) -> bytes:
    """A remaining length (section 2.2.3): 7 bits a byte, the lowest first."""
    data = b""
    while count > 127:
        data += bytes([0x80 | count & 127])
        count >>= 7
    return data + bytes([count])
