"""MQTT from a board: the same file under CPython and MicroPython, against a real broker and against false ones."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from paho.mqtt.client import Client, MQTTMessage
from paho.mqtt.enums import CallbackAPIVersion

from hubbub_client import TransportError
from hubbub_firmware.transports.mqtt import MqttTransport, publisher
from hubbub_firmware.transports.mqtt_publisher import MqttPublisher

from tests.firmware.bridge.broker import Broker
from tests.firmware.transports.interpreters import INTERPRETERS, run
from tests.firmware.transports.raw_server import talking
from tests.firmware.transports.servers import authority, server_context

PUBLISHING = """
from hubbub_firmware.transports.mqtt import MqttTransport, publisher
from os import urandom
port, ca = int(sys.argv[1]), sys.argv[2]
authorities = None
if ca:
    with open(ca, "rb") as file:
        authorities = file.read()
transport = MqttTransport(publisher("localhost", urandom, port, authorities, not ca, "user", "word"))
for size in (1, 100, 127, 128, 20000):
    assert transport.send(bytes([size & 255]) * size).status == 200
assert transport.send_troubles({"clock": 2}).status == 200
"""


class Subscriber:
    """Collects what is published, through paho."""

    def __init__(self, port: int, count: int) -> None:
        self.messages: list[tuple[str, bytes, int]] = []
        self._count = count
        self._ready, self._done = threading.Event(), threading.Event()
        self._client = Client(CallbackAPIVersion.VERSION2)
        self._client.on_message = self._on_message
        self._client.on_subscribe = lambda *_: self._ready.set()
        self._client.connect("127.0.0.1", port)
        self._client.subscribe("hubbub/v1/#", 1)
        self._client.loop_start()
        assert self._ready.wait(10)

    def _on_message(self, _client: Client, _data: Any, message: MQTTMessage) -> None:
        self.messages.append((message.topic, bytes(message.payload), message.qos))
        if len(self.messages) == self._count:
            self._done.set()

    def all(self) -> list[tuple[str, bytes, int]]:
        assert self._done.wait(10)
        self._client.disconnect()
        self._client.loop_stop()
        return self.messages


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("broker")


@pytest.fixture(scope="module")
def broker(folder: Path) -> Iterator[Broker]:
    """One listener in the clear, and one over TLS."""
    from tests.firmware.bridge.broker import free_port

    certificate = authority().issue_cert("localhost")
    certificate.private_key_pem.write_to_path(folder / "key.pem")
    certificate.cert_chain_pems[0].write_to_path(folder / "certificate.pem")
    authority().cert_pem.write_to_path(folder / "ca.pem")
    authority("strange").cert_pem.write_to_path(folder / "strange.pem")
    port = free_port()
    files = [f"certfile {folder}/certificate.pem", f"keyfile {folder}/key.pem"]
    found = Broker(folder, f"listener {port} 127.0.0.1", *files)
    found.tls_port = port  # type: ignore[attr-defined]
    with found:
        yield found


@pytest.mark.parametrize("interpreter", INTERPRETERS)
@pytest.mark.parametrize("tls", [False, True])
def test_uploads_of_any_length_reach_a_real_broker(interpreter: str, tls: bool, broker: Any, folder: Path) -> None:
    """Plain or over verified TLS, each body arrives as it was at QoS 1 on the reports' topic, troubles on theirs."""
    subscriber = Subscriber(broker.port, 6)
    port, ca = (broker.tls_port, str(folder / "ca.pem")) if tls else (broker.port, "")
    run(interpreter, PUBLISHING, str(port), ca)
    *reports, troubles = subscriber.all()
    expected = [bytes([size & 255]) * size for size in (1, 100, 127, 128, 20000)]
    assert reports == [("hubbub/v1/reports", body, 1) for body in expected]
    assert (troubles[0], json.loads(troubles[1]), troubles[2]) == ("hubbub/v1/troubles", {"clock": 2}, 1)


@pytest.mark.parametrize("interpreter", INTERPRETERS)
def test_a_broker_that_cannot_prove_who_it_is_gets_no_login(interpreter: str, folder: Path) -> None:
    """With a certificate of a strange authority, or another's name, not even the MQTT login is sent."""
    program = PUBLISHING[: PUBLISHING.index("for size")]
    program += """
try:
    transport.send(b"x")
except (OSError, ValueError):
    pass
else:
    raise AssertionError
"""
    authority().cert_pem.write_to_path(folder / "ca.pem")
    for kind in ("strange-authority", "wrong-host"):
        with talking([b""], server_context(kind)) as server:
            run(interpreter, program, str(server.port), str(folder / "ca.pem"))
            assert server.heard == b""


ACCEPTED = b"\x20\x02\x00\x00"
WRONG: dict[str, tuple[list[bytes | None], str]] = {
    "wrong login": ([b"\x20\x02\x00\x05"], "not allowed"),
    "wrong password": ([b"\x20\x02\x00\x04"], "user or password"),
    "unknown refusal": ([b"\x20\x02\x00\x63"], "code 99"),
    "no MQTT": ([b"HTTP/1.1 400 Bad Request\r\n\r\n"], "does not speak MQTT"),
    "closed at once": ([b""], "closed"),
    "closed before the acknowledgement": ([ACCEPTED, b""], "closed"),
    "another packet's acknowledgement": ([ACCEPTED, b"\x40\x02\x00\x09"], "something else"),
    "another packet": ([ACCEPTED, b"\xd0\x00\xd0\x00"], "something else"),
    "silence instead of a connection": ([None], "timed out|ETIMEDOUT|no answer"),
    "silence instead of an acknowledgement": ([ACCEPTED, None], "timed out|ETIMEDOUT|no answer"),
}


@pytest.mark.parametrize("kind", WRONG)
def test_what_is_no_acknowledgement_is_no_delivery(kind: str) -> None:
    """Only this packet's PUBACK is an answer; a refusal, garbage, an end or silence raises, and soon."""
    script, message = WRONG[kind]
    with talking(script) as server:
        transport = MqttTransport(MqttPublisher(b"id", "localhost", server.port, timeout=1))
        with pytest.raises((TransportError, OSError), match=message):
            transport.send(b"body")


def test_the_same_transport_connects_anew_each_time() -> None:
    """After a failure the next upload makes its own connection, with a packet id of its own, and arrives."""
    transport: MqttTransport
    with talking([ACCEPTED, b"", ACCEPTED, b"\x40\x02\x00\x02"], connections=2) as server:
        transport = MqttTransport(MqttPublisher(b"id", "localhost", server.port, timeout=2))
        with pytest.raises(TransportError):
            transport.send(b"body")
        assert transport.send(b"body").status == 200


class Umqtt:
    """What umqtt.simple's MQTTClient looks like to the transport: no close, but a ``sock``."""

    def __init__(self, error: Exception | None = None) -> None:
        self.calls: list[Any] = []
        self.sock: Any = self
        self.error = error

    def connect(self, clean_session: bool = True) -> int:
        self.calls.append("connect")
        return 0

    def publish(self, topic: bytes, msg: bytes, retain: bool = False, qos: int = 0) -> None:
        self.calls.append((topic, msg, retain, qos))
        if self.error is not None:
            raise self.error

    def disconnect(self) -> None:
        self.calls.append("disconnect")
        raise OSError(32)

    def _close(self) -> None:
        self.calls.append("closed")


def test_a_client_of_umqtt_s_kind_may_be_given() -> None:
    """connect, publish at QoS 1, disconnect; a failure to take leave changes nothing, one to publish closes the socket
    and is passed on."""
    client = Umqtt()
    assert MqttTransport(client, "a/b").send(b"x").status == 200
    assert client.calls == ["connect", (b"a/b/reports", b"x", False, 1), "disconnect"]
    failing = Umqtt(OSError(104))
    failing.sock = type("Socket", (), {"close": failing._close})
    failing.sock.close = failing._close
    with pytest.raises(OSError, match="104"):
        MqttTransport(failing).send(b"x")
    assert failing.calls[-1] == "closed"


def test_neither_plain_nor_ca_and_both_are_refused() -> None:
    """TLS needs a CA, no TLS needs to be said, and a prefix is one topic."""
    random = bytes
    for ca, plain in ((None, False), (b"", False), (b"x", True)):
        with pytest.raises(TransportError):
            publisher("localhost", random, ca=ca, plain=plain)
    for prefix in ("", "a/#", "+/b"):
        with pytest.raises(TransportError, match="prefix"):
            MqttTransport(publisher("localhost", random, plain=True), prefix)
    assert isinstance(publisher("localhost", random, ca=authority().cert_pem.bytes()), MqttPublisher)


def test_the_client_id_names_no_device() -> None:
    """It is drawn at each start, so that two starts have nothing in common."""
    import os

    ids = [publisher("localhost", os.urandom, plain=True)._client_id for _ in range(3)]
    assert len(set(ids)) == 3
    assert all(len(name) == 16 for name in ids)
