from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import msgpack
import pytest

import hubbub_client
from hubbub_client.mechanisms.names import NAMES

from tests.client.reporter.reporting import NOW, Collector
from tests.firmware.portable.byte_code import compile_package
from tests.firmware.portable.interpreters import CLIENT
from tests.registries import registry_of

MICROPYTHON = Path(sys.executable).parent / "micropython"  # of the development environment

DEVICE = """
import sys
sys.path[:] = [sys.argv[1], ".frozen"]
from hubbub_client import Answer, FileStorage, HttpTransport, MemoryStorage, Reporter, TransportError

class Log:
    def send(self, body):
        with open(sys.argv[3] + "/log", "ab") as log:
            log.write(len(body).to_bytes(4, "big") + body)
        return Answer(200)

class Dead:
    def send(self, body):
        raise OSError(110)

now = int(sys.argv[4])
waits = []
def reporter(transport):
    state = sys.argv[3] + "/state/deep"
    return Reporter(sys.argv[2], state=state, transport=transport, clock=lambda: now, sleep=waits.append)

first = reporter(Dead())
for name in first.plan.metrics:
    value = "37" if name in ("one_bit_mean", "d_bit_flip", "hierarchical_histogram") else "a"
    assert first.record(name, value), (name, first.counts, first.problem)
    assert not first.record(name, value)
assert not first.record("nothing", "a")
assert not first.record("rappor", [1])
assert not first.record("randomized_response", "zz")
assert first.flush().kept == len(first.plan.metrics)
assert len(waits) == 3
first.close()
used_up = {"period-used-up": len(first.plan.metrics)}
used_up.update({"unknown-metric": 1, "type": 1, "not-in-values": 1})
assert first.counts == used_up, first.counts

second = reporter(Log())
assert second.flush().sent == len(second.plan.metrics)
now -= 86400
assert not second.record("rappor", "a")
assert second.counts == {"clock-went-back": 1}
with open(sys.argv[3] + "/state/deep/ledger", "ab") as ledger:
    ledger.write(b"x")
third = reporter(Log())
assert not third.record("rappor", "a")
assert third.counts == {"state-damaged": 1}, third.counts
try:
    HttpTransport("https://collector.example.org")
except TransportError as error:
    assert "needs CPython" in str(error)
else:
    raise AssertionError
memory = Reporter(third.plan, state=MemoryStorage(), transport=Log(), clock=lambda: now, device=b"this board")
assert memory.record("rappor", "a")
assert memory.spent() == memory.spent("rappor") == third.plan.metrics["rappor"].charges[0]
assert memory.flush().sent == 1
assert [state for state, _ in memory.log()] == ["sent"]
assert memory.set_enabled(False) and not memory.record("rappor", "a")
assert memory.set_enabled(True) and not memory.record("rappor", "a")
assert memory.counts == {"opted-out": 1, "period-used-up": 1}, memory.counts
assert not memory.replace_plan(b"{}") and memory.replace_plan(third.plan)
"""


@pytest.mark.parametrize(("form", "heap"), [("source", "768k"), ("byte code", "448k")])
def test_the_reporter_runs_unchanged_on_micropython(tmp_path: Path, form: str, heap: str) -> None:
    """On MicroPython, with all mechanisms in memory, each records, budgets hold, uploads retry and can be read."""
    registry = registry_of(tmp_path, **{name.replace("-", "_"): {"mechanism": name} for name in NAMES})
    (tmp_path / "plan.json").write_text(json.dumps(registry.document))
    (tmp_path / "device.py").write_text(DEVICE)
    client = CLIENT if form == "source" else compile_package(CLIENT / "hubbub_client", tmp_path / "lib")
    subprocess.run(
        [str(MICROPYTHON), "-X", f"heapsize={heap}", "device.py", str(client), "plan.json", ".", str(NOW)],
        check=True, cwd=tmp_path,
    )  # fmt: skip
    data = (tmp_path / "log").read_bytes()
    upload = data[4 : 4 + int.from_bytes(data[:4], "big")]
    assert len(data) > 4 + len(upload)  # what the last Reporter of the program sent comes after it
    version, upload_id, batches = msgpack.unpackb(upload)
    assert (version, len(upload_id)) == (1, 16)
    assert {fingerprint: len(records) for fingerprint, _, records in batches} == {
        metric.fingerprint: metric.device.record_bytes for metric in registry.metrics.values()
    }
    assert {period for _, period, _ in batches} == {NOW // 86_400}


def test_state_moves_between_interpreters(tmp_path: Path) -> None:
    """Budget and secret that CPython wrote are those that MicroPython reads: the used-up period stays used up."""
    registry = registry_of(tmp_path, rappor={"mechanism": "rappor", "reports_per_period": 2})
    (tmp_path / "plan.json").write_text(json.dumps(registry.document))
    state = str(tmp_path / "state")
    collector = Collector()
    with hubbub_client.Reporter(registry.plan, state=state, transport=collector, clock=lambda: NOW) as reporter:
        assert reporter.record("rappor", "a")
    program = (
        "import sys; sys.path[:] = [sys.argv[1], '.frozen']\n"
        "from hubbub_client import Reporter\n"
        "class Nowhere:\n    def send(self, body): raise OSError(1)\n"
        "r = Reporter('plan.json', state='state', transport=Nowhere(), clock=lambda: int(sys.argv[2]))\n"
        "assert [r.record('rappor', 'a') for _ in range(2)] == [True, False], r.problem\n"
    )
    client = Path(hubbub_client.__file__).parents[1]
    (tmp_path / "device.py").write_text(program)
    subprocess.run([str(MICROPYTHON), "device.py", str(client), str(NOW)], check=True, cwd=tmp_path)
    with hubbub_client.Reporter(registry.plan, state=state, transport=collector, clock=lambda: NOW) as reporter:
        assert not reporter.record("rappor", "a")
        assert reporter.flush().sent == 2
    ((_, _, records),) = next(iter(collector.uploads().values()))
    width = registry.metric("rappor").device.record_bytes
    cohorts = {int.from_bytes(records[at : at + width], "little") & 7 for at in (0, width)}
    assert len(cohorts) == 1
