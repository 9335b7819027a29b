"""A device that is killed again and again. Arguments: PATHS PLAN STATE SINK ACKNOWLEDGED KILLS MODE.

It forks a child that records and flushes without end, kills it with SIGKILL at a random moment after a random number of
reports, or while it still opens its state, and begins again.
SINK, a folder, gets every upload as a file, which appears whole or not at all; ACKNOWLEDGED gets one byte for each
``record`` that returned True. MODE ``late`` is a broken client, which stores what it spent only after it queued the
report; MODE ``joined`` stores it with the report, as boards do. Exits with 3 where a child met trouble.
"""

import json
import os
import random
import signal
import sys
import time

sys.path[:0] = json.loads(sys.argv[1])

from hubbub_client import Answer, FileStorage, Plan, Reporter  # noqa: E402 - the path comes first
from hubbub_client.ledger import Ledger  # noqa: E402
from hubbub_client.pending import Pending  # noqa: E402

PLAN, STATE, SINK, ACKNOWLEDGED, KILLS, MODE = sys.argv[2:]
NOW = 1_800_000_000
TROUBLE = 3
MOST_REPORTS = 8
LONGEST_WAIT = 0.001  # seconds: a child records and flushes some reports in it


def append(path: str, data: bytes) -> None:
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    os.write(descriptor, data)
    os.close(descriptor)


class Sink:
    def send(self, body: bytes) -> Answer:
        name = f"{SINK}/{os.getpid()}-{time.monotonic_ns()}"
        append(name + ".part", body)
        os.rename(name + ".part", name)
        return Answer(200)


def break_the_order() -> None:
    save, add = Ledger.save, Pending.append
    waiting: list[Ledger] = []
    Ledger.save = lambda self: waiting.append(self)  # type: ignore[method-assign]

    def late(self: Pending, report: object) -> None:
        add(self, report)  # type: ignore[arg-type]
        save(waiting.pop())

    Pending.append = late  # type: ignore[method-assign]


def live(plan: Plan, alive: int) -> None:
    if MODE == "late":
        break_the_order()
    if MODE == "joined":
        FileStorage.journal = True  # type: ignore[attr-defined]
    reporter = Reporter(plan, state=STATE, transport=Sink(), clock=lambda: NOW)
    while True:
        for name in ("m", "r", "m"):
            if not reporter.record(name, "a"):
                return
            append(ACKNOWLEDGED, name.encode())
            os.write(alive, b".")
        if reporter.flush().problem or not set(reporter.counts) <= {"torn"}:
            return


def main() -> None:
    os.makedirs(SINK, exist_ok=True)
    plan = Plan.load(PLAN)
    moment = random.Random(1)
    for _ in range(int(KILLS)):
        watch, alive = os.pipe()
        child = os.fork()
        if not child:
            try:
                live(plan, alive)
            finally:
                os._exit(TROUBLE)
        os.close(alive)
        for _ in range(moment.randrange(MOST_REPORTS)):
            os.read(watch, 1)
        time.sleep(moment.uniform(0, LONGEST_WAIT))
        os.kill(child, signal.SIGKILL)
        os.close(watch)
        if not os.WIFSIGNALED(os.waitpid(child, 0)[1]):
            sys.exit(TROUBLE)


main()
