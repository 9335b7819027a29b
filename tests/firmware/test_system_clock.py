"""The board's own clock, under both interpreters, with stand-ins for ``machine`` and ``ntptime``."""

from __future__ import annotations

import json

import pytest

from hubbub_client.http_date import unix_time_of

from tests.firmware.transports.interpreters import INTERPRETERS, run
from tests.firmware.transports.servers import authority, response, server_context, serving

STAND_INS = """
import json
calls = []
class RTC:
    def datetime(self, value):
        calls.append(list(value))
class Machine:
    pass
Machine.RTC = RTC
sys.modules["machine"] = Machine
class Ntp:
    host = ""
    failing = False
    def settime(self):
        calls.append(self.host)
        if self.failing:
            raise OSError(110)
ntp = sys.modules["ntptime"] = Ntp()
from hubbub_client import MemoryStorage
from hubbub_client.clock import unix_time
"""


@pytest.mark.parametrize("interpreter", INTERPRETERS)
def test_a_clock_that_is_behind_is_set_and_never_set_back(interpreter: str) -> None:
    """At the start to the floor, and when a later date is learnt to that; not where the board's clock is ahead."""
    program = """
from hubbub_firmware.slow_clock import SlowClock
SlowClock(MemoryStorage(), 1700000000)
assert calls == []
clock = SlowClock(MemoryStorage(), 4102444800)
clock.learn(4102444799)
clock.learn(4103913599)
print(json.dumps(calls))
"""
    calls = json.loads(run(interpreter, STAND_INS + program))
    assert calls == [[2100, 1, 1, 5, 0, 0, 0, 0], [2100, 1, 17, 7, 23, 59, 59, 0]]
    assert unix_time_of("Sun, 17 Jan 2100 23:59:59 GMT") == 4_103_913_599


@pytest.mark.parametrize("interpreter", INTERPRETERS)
def test_ntp_is_asked_only_where_it_is_named_and_the_clock_is_behind(interpreter: str) -> None:
    """A certificate that is not valid yet says so; with an NTP server in the settings that is asked once, and the
    certificate is checked again. An expired one, or a strange authority's, asks nobody. Nothing is sent either way."""
    program = """
from hubbub_client import TransportError
from hubbub_firmware.transports.https import HttpsTransport
ca = sys.argv[2].encode()
with open(sys.argv[2], "rb") as file:
    ca = file.read()
told = []
for ntp.failing, host in ((False, ""), (False, "ntp.example.org"), (True, "ntp.example.org")):
    try:
        HttpsTransport(sys.argv[1], ca, timeout=5, ntp=host).send(b"x")
    except TransportError as error:
        told.append(str(error))
print(json.dumps([told, calls]))
"""
    import tempfile

    with tempfile.NamedTemporaryFile() as file:
        file.write(authority().cert_pem.bytes())
        file.flush()
        found = {}
        for fault in ("not-yet", "expired", "strange-authority"):
            with serving(lambda _: response(200), server_context(fault)) as server:
                found[fault] = json.loads(run(interpreter, STAND_INS + program, server.url, file.name))
            assert server.requests == []
    told, calls = found["not-yet"]
    assert "set the clock" in told[0]
    assert "set the clock" in told[1]
    assert told[2] == "ntp: no time from ntp.example.org (OSError)"
    assert calls == ["ntp.example.org", "ntp.example.org"]
    for fault in ("expired", "strange-authority"):
        assert found[fault][1] == []
        assert all("no answer from localhost" in text for text in found[fault][0])


@pytest.mark.parametrize("interpreter", INTERPRETERS)
def test_a_machine_without_such_a_clock_is_left_alone(interpreter: str) -> None:
    """Without ``machine``, without its RTC, or with one that cannot be set: nothing happens, and nothing is raised."""
    program = """
from hubbub_firmware.system_clock import set_from_ntp, set_system_clock
from hubbub_client import TransportError
set_system_clock(4102444800)
for rtc in (None, int):
    Machine.RTC = rtc
    set_system_clock(4102444800)
del Machine.RTC
set_system_clock(4102444800)
assert len(calls) == 1
"""
    run(interpreter, STAND_INS + program)
