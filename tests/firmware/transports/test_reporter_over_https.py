"""The real Reporter on real MicroPython, over a network and to a collector that fail in every way."""

from __future__ import annotations

import json
from pathlib import Path

import msgpack
import pytest

from tests.client.reporter.reporting import NOW
from tests.firmware.transports.interpreters import INTERPRETERS, run
from tests.firmware.transports.servers import authority, response, server_context, serving
from tests.registries import registry_of

DEVICE = """
import json
from hubbub_client import FileStorage, Reporter
from hubbub_firmware.slow_clock import SlowClock
from hubbub_firmware.transports.https import HttpsTransport
url, now = sys.argv[1], int(sys.argv[2])
storage = FileStorage("state")
clock = SlowClock(storage, 0)
with open("ca.pem", "rb") as file:
    transport = HttpsTransport(url, file.read(), timeout=1, learn=clock.learn)
reporter = Reporter("plan.json", storage, transport, clock=clock, sleep=lambda _: None)
assert not reporter.record("m", "a")
assert reporter.counts == {"clock": 1}, reporter.counts
transport.ask_time()
assert not clock.learnt  # from 0 it is far, which one answer alone may not say
transport.ask_time()
assert clock.learnt and now <= clock() < now + 60
assert reporter.record("m", "a") and reporter.record("m", "b"), reporter.problem
results = []
while reporter.flush().kept:
    results.append(reporter.problem)
assert reporter.record("m", "c")
result = reporter.flush()
print(json.dumps([results, result.sent, result.refused, result.problem, reporter.counts]))
"""
DATE = "Date: Fri, 15 Jan 2027 08:00:00 GMT"  # NOW
FAILURES = [
    b"",
    b"\x00\x01\x02 nothing that speaks HTTP",
    b"HTTP/1.1 20",
    response(429, "Retry-After: 0"),
    response(500),
    response(503, "Retry-After: 0"),
    response(404),
    response(302, "Location: https://localhost/"),
    None,
]


@pytest.mark.parametrize("interpreter", INTERPRETERS)
@pytest.mark.parametrize("final", [400, 413, 415])
def test_nothing_is_lost_and_only_a_refusal_of_the_upload_refuses(interpreter: str, final: int, tmp_path: Path) -> None:
    """Through cut connections, garbage, silence, 302, 404, 429, 500 and 503 the very same upload is sent until it is
    taken; 400, 413 and 415 alone refuse one for good; and a board without a clock records once it has the time."""
    failures = FAILURES if final == 400 else FAILURES[:-1]  # silence takes its second once
    answers = iter([response(200, DATE), response(200, DATE), *failures, response(200), response(final, body=b"why")])
    registry = registry_of(tmp_path, m={"mechanism": "count-mean-sketch", "reports_per_period": 3})
    (tmp_path / "plan.json").write_text(json.dumps(registry.document))
    authority().cert_pem.write_to_path(tmp_path / "ca.pem")
    with serving(lambda _: next(answers), server_context("good")) as server:
        told = run(interpreter, DEVICE, server.url, str(NOW), heap="256k", cwd=tmp_path)
    problems, sent, refused, problem, counts = json.loads(told)
    assert problems
    assert (sent, refused, problem) == (0, 1, f"status {final} why")
    assert counts == {"clock": 1, "refused": 1}
    assert all(request.startswith(b"GET /healthz ") for request in server.requests[:2])
    bodies = [request.partition(b"\r\n\r\n")[2] for request in server.requests[2:]]
    *first, second = bodies
    assert len(set(first)) == 1
    ((fingerprint, period, records),) = msgpack.unpackb(first[0])[2]
    width = registry.metric("m").device.record_bytes
    assert (fingerprint, period, len(records)) == (registry.metric("m").fingerprint, NOW // 86_400, 2 * width)
    assert len(msgpack.unpackb(second)[2][0][2]) == width


@pytest.mark.parametrize("interpreter", INTERPRETERS)
def test_the_wifi_may_go_in_the_middle_of_an_upload(interpreter: str, tmp_path: Path) -> None:
    """Wherever the connection ends, in head, body or answer, the reports stay, and arrive as the very same upload."""
    program = """
from hubbub_client import MemoryStorage, Reporter
from hubbub_firmware.transports.connection import Connection
from hubbub_firmware.transports.https import HttpsTransport
write, taken = Connection.write, 0
def broken(self, data):
    global taken
    taken += 3
    write(self, data if data[:5] == b"POST " and taken > 9 else data[:taken])
    if taken <= 9 or data[:5] != b"POST ":
        raise OSError(113, "no route")
Connection.write = broken
reporter = Reporter(
    "plan.json", MemoryStorage(), HttpsTransport(sys.argv[1], plain=True, timeout=2),
    clock=lambda: int(sys.argv[2]), sleep=lambda _: None,
)
for value in ("a", "b", "c"):
    assert reporter.record("m", value)
for _ in range(8):
    result = reporter.flush()
    assert (result.kept, result.sent) == (3, 0) and "no answer" in result.problem, result
Connection.write = write
assert reporter.flush().sent == 3 and reporter.counts == {}
"""
    registry = registry_of(tmp_path, m={"mechanism": "count-mean-sketch", "reports_per_period": 3})
    (tmp_path / "plan.json").write_text(json.dumps(registry.document))
    with serving(lambda _: response(200)) as server:
        run(interpreter, program, server.url, str(NOW), heap="256k", cwd=tmp_path)
    bodies = [request.partition(b"\r\n\r\n")[2] for request in server.requests]
    assert len(bodies) > 1  # the last ones had only lost the answer
    assert len(set(bodies)) == 1
