"""HTTPS from a board: the same file under CPython and MicroPython, against real TLS servers on loopback."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from hubbub_client import TransportError
from hubbub_firmware.transports.certificates import certificates
from hubbub_firmware.transports.https import HttpsTransport

from tests.firmware.transports.interpreters import INTERPRETERS, run
from tests.firmware.transports.servers import authority, response, server_context, serving

SENDING = """
from hubbub_client import TransportError
from hubbub_firmware.transports.https import HttpsTransport
import json
url, ca, calls, timeout = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
with open(ca, "rb") as file:
    authorities = file.read()
dates = []
transport = HttpsTransport(
    url, authorities if url.startswith("https") else None, url.startswith("http:"), timeout, dates.append
)
seen = []
for _ in range(calls):
    try:
        answer = transport.send(bytes(range(256)) * 8)
        seen.append([answer.status, answer.retry_after, answer.text])
    except TransportError as error:
        seen.append(str(error))
print(json.dumps([seen, dates]))
"""
BODY = bytes(range(256)) * 8


@pytest.fixture(scope="module")
def ca(tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("ca") / "ca.pem"
    path.write_bytes(authority("another").cert_pem.bytes() + authority().cert_pem.bytes())
    return str(path)


@pytest.mark.parametrize("interpreter", INTERPRETERS)
def test_an_upload_over_tls_is_what_the_protocol_says(interpreter: str, ca: str) -> None:
    """Over verified TLS: one POST with exactly these headers and the very body, and what the answer says comes back."""
    answer = response(
        503, "Date: Sun, 06 Nov 2033 08:49:37 GMT", "retry-after:  17 ", body=b"later\r\n\x1b[1m" + b"x" * 999
    )
    with serving(lambda _: answer, server_context("good")) as server:
        seen, dates = json.loads(run(interpreter, SENDING, server.url, ca, "1", "5"))
    assert seen == [[503, 17, ("later   [1m" + "x" * 999)[:200]]]
    assert dates == [2_014_879_777]
    (request,) = server.requests
    head, _, body = request.partition(b"\r\n\r\n")
    assert body == BODY
    assert head.decode().split("\r\n") == [
        "POST /v1/reports HTTP/1.1",
        f"Host: localhost:{server.port}",
        "User-Agent: hubbub",
        "Accept-Encoding: identity",
        "Connection: close",
        "Content-Type: application/msgpack",
        "Content-Length: 2048",
    ]


@pytest.mark.parametrize("interpreter", INTERPRETERS)
@pytest.mark.parametrize("fault", ["wrong-host", "expired", "not-yet", "strange-authority", "self-signed"])
def test_a_server_that_cannot_prove_who_it_is_gets_nothing(interpreter: str, fault: str, ca: str) -> None:
    """A certificate for another name, out of its dates, or of a strange authority: not a byte of a request."""
    with serving(lambda _: response(200), server_context(fault)) as server:
        seen, _ = json.loads(run(interpreter, SENDING, server.url, ca, "1", "5"))
    assert server.requests == []
    assert "not valid yet" in seen[0] if fault == "not-yet" else seen[0].startswith("no answer from localhost")


RAW = {
    "nothing": (b"", "closed in the middle"),
    "not HTTP": (b"\x00\xff\x16\x03garbage\r\n\r\n", "does not speak HTTP"),
    "a banner": (b"220 mail.example.org ESMTP\r\n\r\n", "does not speak HTTP"),
    "no status": (b"HTTP/1.1 banana\r\n\r\n", "does not speak HTTP"),
    "a status of no such form": (b"HTTP/1.1 2e2 OK\r\n\r\n", "does not speak HTTP"),
    "half a status": (b"HTTP/1.1 20", "closed in the middle"),
    "no end of the header": (b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n", "closed in the middle"),
    "an endless header": (b"HTTP/1.1 200 OK\r\nX: " + b"x" * 100_000 + b"\r\n\r\n", "endless header"),
    "too many headers": (b"HTTP/1.1 200 OK\r\n" + b"X: y\r\n" * 5000 + b"\r\n", "endless header"),
    "informational for ever": (b"HTTP/1.1 100 Continue\r\n\r\n" * 9, "never ends"),
    "a status below 100": (b"HTTP/1.1 020 OK\r\n\r\n", "status 20"),
    "continue first": (b"HTTP/1.1 100 Continue\r\n\r\n" + response(202), [202, None, ""]),
    "only line feeds": (b"HTTP/1.1 200 OK\nContent-Length: 2\n\nok", [200, None, "ok"]),
    "a torn body": (b"HTTP/1.1 200 OK\r\nContent-Length: 50\r\n\r\nshort", [200, None, "short"]),
    "a chunked body": (
        b"HTTP/1.1 400 No\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nodd\r\n0\r\n\r\n", [400, None, "odd  0"],
    ),
    "no reason": (b"HTTP/1.0 200\r\n\r\n", [200, None, ""]),
    "a huge body": (response(200, body=b"y" * 1_000_000), [200, None, "y" * 200]),
    "a long header line": (response(200, "Set-Cookie: " + "x" * 9000, "Retry-After: 5"), [200, 5, ""]),
    "a redirect": (response(307, "Location: http://127.0.0.1:1/"), [307, None, ""]),
    "nonsense to wait for": (response(503, "Retry-After: soon", "Date: soon"), [503, None, ""]),
    "a negative wait": (response(503, "Retry-After: -5"), [503, None, ""]),
    "an endless wait": (response(503, "Retry-After: " + "9" * 100), [503, None, ""]),
    "wait until a date": (
        response(503, "Retry-After: Sun, 06 Nov 2033 08:49:47 GMT", "Date: Sun, 06 Nov 2033 08:49:37 GMT"),
        [503, 10, ""],
    ),
}  # fmt: skip


@pytest.mark.parametrize("interpreter", INTERPRETERS)
def test_any_answer_is_a_status_or_a_transport_error_in_little_memory(interpreter: str, ca: str) -> None:
    """In a heap of 96 KB, each answer, however broken or large, gives its status or TransportError."""
    answers = iter([data for data, _ in RAW.values()])
    with serving(lambda _: next(answers)) as server:
        seen, _ = json.loads(run(interpreter, SENDING, server.url, ca, str(len(RAW)), "5", heap="96k"))
        assert len(server.requests) == len(RAW)
    for (name, (_, expected)), got in zip(RAW.items(), seen, strict=True):
        if isinstance(expected, str):
            assert isinstance(got, str), name
            assert expected in got, name
        else:
            assert got == expected, name


@pytest.mark.parametrize("interpreter", INTERPRETERS)
def test_a_server_that_says_nothing_is_given_up(interpreter: str, ca: str) -> None:
    """A server that never shakes hands, or takes the upload and is silent, is a TransportError in the end."""
    with serving(lambda _: None, server_context("good")) as server:
        seen, _ = json.loads(run(interpreter, SENDING, server.url, ca, "1", "1"))
    assert seen[0].startswith("no answer from localhost")


@pytest.mark.parametrize("interpreter", INTERPRETERS)
def test_a_refusal_before_the_body_was_read_is_an_answer(interpreter: str, ca: str) -> None:
    """A server that answers 413 and closes without reading everything is understood, or not heard: never a crash."""
    with serving(lambda _: response(413), greedy=False) as server:
        seen, _ = json.loads(run(interpreter, SENDING, server.url, ca, "1", "5"))
    assert seen[0] == [413, None, ""] or "no answer" in seen[0]


REFUSALS = [
    ("https://collector.example.org", None, False, "needs the certificate"),
    ("https://collector.example.org", b"", False, "needs the certificate"),
    ("https://collector.example.org", b"0\x03abc", False, "cannot be read"),
    ("https://collector.example.org", b"ssh-rsa AAAA", False, "no certificate"),
    ("https://collector.example.org", b"-----BEGIN CERTIFICATE-----\nAAAA", False, "cut off"),
    ("https://collector.example.org", b"-----BEGIN CERTIFICATE-----\n!\n-----END CERTIFICATE-----", False, "ca: "),
    ("https://collector.example.org", None, True, "needs the certificate"),
    ("http://collector.example.org", None, False, "say plain = True"),
    ("http://collector.example.org", b"x", True, "checks nothing over http"),
    ("ftp://x", None, False, "https://collector"),
    ("https://u:p@h", None, False, "https://collector"),
    ("https://h/\r\nX: y", None, False, "https://collector"),
    ("https://h:port", None, False, "https://collector"),
    ("https://h:0", None, False, "https://collector"),
    ("https://", None, False, "https://collector"),
    ("https://h?q", None, False, "https://collector"),
]  # fmt: skip


@pytest.mark.parametrize("interpreter", INTERPRETERS)
def test_what_could_not_be_checked_is_refused_before_anything_is_sent(interpreter: str) -> None:
    """No CA, a CA that is none, http that was not asked for, or an address that is none: TransportError at once."""
    program = """
from hubbub_client import TransportError
from hubbub_firmware.transports.https import HttpsTransport
for url, ca, plain, expected in REFUSALS:
    try:
        HttpsTransport(url, ca, plain)
    except TransportError as error:
        assert expected in str(error), (url, str(error))
    else:
        raise AssertionError(url)
"""
    run(interpreter, f"REFUSALS = {REFUSALS!r}\n" + program)


def test_authorities_may_be_pem_or_der() -> None:
    """Each certificate of a PEM file, and the one of a DER file, come out as the same DER."""
    import ssl

    pems = [authority("another").cert_pem.bytes(), authority().cert_pem.bytes()]
    ders = [ssl.PEM_cert_to_DER_cert(pem.decode()) for pem in pems]
    assert certificates(b"# a comment\n" + b"".join(pems)) == ders
    assert certificates(ders[0]) == ders[:1]


def test_nobody_listening_is_a_transport_error(tmp_path: Path) -> None:
    """A refused connection and a name that nobody has give TransportError, and not OSError."""
    with serving(lambda _: response(200)) as server:
        url = server.url
    for address in (url, "http://no-such-host.invalid"):
        with pytest.raises(TransportError, match="no answer from"):
            HttpsTransport(address, plain=True, timeout=2).send(b"x")


def test_troubles_and_time_have_their_own_requests() -> None:
    """Troubles are posted as JSON to /v1/troubles, and the time is asked for with a GET that has no body."""
    dates: list[int] = []
    with serving(lambda _: response(200, "Date: Sun, 06 Nov 2033 08:49:37 GMT")) as server:
        transport = HttpsTransport(server.url + "/base/", plain=True, learn=dates.append, token="abc.def")  # noqa: S106
        assert transport.send_troubles({"entropy": 3}).status == 200
        assert transport.ask_time().status == 200
    troubles, health = server.requests
    assert troubles.startswith(b"POST /base/v1/troubles HTTP/1.1\r\n")
    assert b"\r\nContent-Type: application/json\r\n" in troubles
    assert json.loads(troubles.partition(b"\r\n\r\n")[2]) == {"entropy": 3}
    assert health.startswith(b"GET /base/healthz HTTP/1.1\r\n")
    assert health.endswith(b"\r\n\r\n")
    assert b"Content" not in health
    assert dates == [2_014_879_777] * 2
    assert all(b"\r\nAuthorization: Bearer abc.def\r\n" in request for request in server.requests)
    for token in ("", "a b", "a\r\nX: y", "\xe9"):
        with pytest.raises(TransportError, match="hubbub token issue"):
            HttpsTransport("http://h", plain=True, token=token)
