from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

from hubbub_client import MemoryStorage
from hubbub_client.budget import Budget
from hubbub_client.frames import parse

from tests.client.reporter.reporting import NOW, Collector, reporter_of, sketch_plan

ROUNDS = 40
LOOP = """
import json, os, sys
sys.path[:0] = json.loads(sys.argv[2])
from tests.client.reporter.reporting import NOW, sketch_plan
from hubbub_client import Answer, Reporter
class Collector:
    def send(self, body):
        with open(sys.argv[3], "ab") as log:
            log.write(len(body).to_bytes(4, "big") + body)
        return Answer(200)
plan = sketch_plan(reports=1000000)
while True:
    if os.fork() == 0:
        reporter = Reporter(plan, state=sys.argv[1], transport=Collector(), clock=lambda: NOW)
        os.write(1, b"child %d\\n" % os.getpid())
        while True:
            for _ in range(5):
                assert reporter.record("m", "a")
                os.write(1, b"made\\n")
            assert set(reporter.counts) <= {"torn"}, reporter.counts
            reporter.flush()
    if os.WIFEXITED(os.wait()[1]):
        sys.exit("the child failed")
"""


def test_a_process_killed_at_any_moment_never_undercounts(tmp_path: Path) -> None:
    """Killed with SIGKILL again and again, a device has paid for every report, and loses none that it made."""
    plan = sketch_plan(reports=1_000_000)
    state, log = tmp_path / "state", tmp_path / "log"
    moment = random.Random(1)
    parent = subprocess.Popen(
        [sys.executable, "-c", LOOP, str(state), json.dumps([p for p in sys.path if p]), str(log)],
        stdout=subprocess.PIPE, cwd=Path(__file__).parents[3], start_new_session=True,
    )  # fmt: skip
    acknowledged = 0
    try:
        assert parent.stdout is not None
        for _ in range(ROUNDS):
            line = parent.stdout.readline()
            while line == b"made\n":  # the last words of the child before
                acknowledged += 1
                line = parent.stdout.readline()
            child = int(line.removeprefix(b"child"))
            for _ in range(moment.randrange(12)):
                assert parent.stdout.readline() == b"made\n"
                acknowledged += 1
            time.sleep(moment.uniform(0, 0.005))
            os.kill(child, signal.SIGKILL)
    finally:
        os.killpg(parent.pid, signal.SIGKILL)
        parent.wait()
        assert parent.stdout is not None
        parent.stdout.close()
    deadline = time.monotonic() + 30
    collector = Collector()
    data = log.read_bytes()
    at = 0
    while at + 4 <= len(data):
        end = at + 4 + int.from_bytes(data[at : at + 4], "big")
        if end <= len(data):
            collector.bodies.append(data[at + 4 : end])
        at = end
    last = reporter_of(plan, str(state), collector)
    while last.flush().problem:  # the last child may take a moment to die
        assert time.monotonic() < deadline
        time.sleep(0.01)
    last.close()
    files = MemoryStorage()
    files.files = {file.name: file.read_bytes() for file in state.iterdir()}
    assert not [parse(content) for name, content in files.files.items() if name.startswith(("open-", "upload-"))]
    budget = Budget.load(files)
    assert budget is not None
    metric = plan.metric("m")
    records = collector.records(metric.record_bytes)
    assert len(records) == len(set(records)) >= acknowledged > ROUNDS
    assert len(records) <= budget.entries["m"][3] // metric.epsilon_nano == budget.entries["m"][2]
    assert budget.entries["m"][0] <= NOW
