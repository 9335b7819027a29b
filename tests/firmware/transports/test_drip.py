"""A server that sends a byte now and then, which no time-out of a single wait would ever end."""

from __future__ import annotations

import contextlib
import json
import socket
import ssl
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.firmware.transports.interpreters import INTERPRETERS, run
from tests.firmware.transports.servers import authority, server_context

_BYTES = 60
_EVERY = 0.3  # seconds, so 18 in all, where the time-out is 1
_HELLO = b"\x16\x03\x03\x40\x00\x02\x00\x3f\xfc\x03\x03" + bytes(_BYTES)  # the start of a handshake of 16 KB

PROGRAM = """
from hubbub_client import TransportError
from hubbub_firmware.transports.certificates import verifying_context
from hubbub_firmware.transports.https import HttpsTransport
from hubbub_firmware.transports.mqtt_publisher import MqttPublisher
import json
with open(sys.argv[2], "rb") as file:
    authorities = file.read()
port = int(sys.argv[3])
if sys.argv[1] == "https":
    send = lambda: HttpsTransport("https://localhost:%d" % port, authorities, timeout=1).send(b"x")
else:
    context = verifying_context(authorities) if sys.argv[1] == "mqtts" else None
    send = MqttPublisher(b"id", "localhost", port, context=context, timeout=1).connect
try:
    send()
    print(json.dumps(""))
except (OSError, TransportError) as error:
    print(json.dumps(type(error).__name__))
"""


def _drip(connection: socket.socket, data: bytes, stop: threading.Event) -> int:
    """How many of ``data``'s bytes the other side waited for."""
    sent = 0
    with contextlib.suppress(OSError):
        for byte in data:
            if stop.wait(_EVERY):
                break
            connection.sendall(bytes([byte]))
            sent += 1
    return sent


def _in_the_handshake(connection: socket.socket, stop: threading.Event) -> int:
    connection.recv(4096)
    return _drip(connection, _HELLO[:_BYTES], stop)


def _in_a_record(connection: socket.socket, stop: threading.Event) -> int:
    """Shakes hands as it should, then drips a record of application data that would be 16 KB."""
    incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
    tls = server_context("good").wrap_bio(incoming, outgoing, server_side=True)
    while True:
        try:
            tls.do_handshake()
            break
        except ssl.SSLWantReadError:
            connection.sendall(outgoing.read())
            incoming.write(connection.recv(4096))
    connection.sendall(outgoing.read())
    return _drip(connection, b"\x17\x03\x03\x40\x00" + bytes(_BYTES - 5), stop)


@contextmanager
def dripping(how: Callable[[socket.socket, threading.Event], int]) -> Iterator[tuple[int, list[int]]]:
    """A port, and a list in which there is, in the end, how many bytes its client waited for."""
    listening = socket.create_server(("127.0.0.1", 0))
    waited: list[int] = []
    stop = threading.Event()

    def serve() -> None:
        connection, _ = listening.accept()
        with connection:
            waited.append(how(connection, stop))

    thread = threading.Thread(target=serve)
    thread.start()
    try:
        yield listening.getsockname()[1], waited
    finally:
        stop.set()
        thread.join()
        listening.close()


@pytest.mark.parametrize("interpreter", INTERPRETERS)
@pytest.mark.parametrize("how", [_in_the_handshake, _in_a_record])
@pytest.mark.parametrize("transport", ["https", "mqtts"])
def test_a_dripping_tls_server_does_not_hold_a_board(
    interpreter: str, how: Callable[[socket.socket, threading.Event], int], transport: str, tmp_path: Path
) -> None:
    """In a handshake and in a record, bytes that drip are given up by the deadline, not waited for to the end."""
    (tmp_path / "ca").write_bytes(authority().cert_pem.bytes())
    with dripping(how) as (port, waited):
        seen = json.loads(run(interpreter, PROGRAM, transport, str(tmp_path / "ca"), str(port)))
    assert seen in ("OSError", "TransportError", "TimeoutError")
    assert waited[0] < _BYTES


@pytest.mark.parametrize("interpreter", INTERPRETERS)
def test_a_dripping_answer_over_plain_tcp_is_given_up(interpreter: str, tmp_path: Path) -> None:
    """Four bytes of an MQTT answer have one time-out together, and not one each."""
    (tmp_path / "ca").write_bytes(authority().cert_pem.bytes())

    def slowly(connection: socket.socket, stop: threading.Event) -> int:
        connection.recv(4096)
        sent = 0
        with contextlib.suppress(OSError):
            for byte in b"\x20\x02\x00\x00":
                if stop.wait(0.8):
                    break
                connection.sendall(bytes([byte]))
                sent += 1
        return sent

    with dripping(slowly) as (port, _):
        assert json.loads(run(interpreter, PROGRAM, "mqtt", str(tmp_path / "ca"), str(port))) == "TransportError"
