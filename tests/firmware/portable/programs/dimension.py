"""Reports with a public dimension: what is in front, what is refused, and what stays the same. Arguments: CLIENT PLAN.

The metric ``m`` has permanent noise, and the versions 1.0, 1.1 and other; other stands for the rest.
"""

import gc
import sys

sys.path.insert(0, sys.argv[1])

from hubbub_client.plan import Plan

plan = Plan.load(sys.argv[2])  # first: checking it takes the most memory
metric = plan.metrics["m"]
gc.collect()

from hubbub_client import Answer, MemoryStorage, Reporter  # noqa: E402 - once there is room for it

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class Log:
    def __init__(self) -> None:
        self.bodies: "list[bytes]" = []

    def send(self, body: bytes) -> "Any":
        self.bodies.append(body)
        return Answer(200)


def source(count: int) -> bytes:
    """The same each time: no noise, so that records can be held against each other."""
    return bytes([i * 89 + 7 & 255 for i in range(count)])


sent = []
for version in ("1.0", b"1.1", "2.0", "other"):
    log = Log()
    reporter = Reporter(plan, MemoryStorage(), log, 4096, lambda: 1800000000, source)
    assert reporter.record("m", "a", version), reporter.problem
    assert reporter.flush().sent == 1
    sent.append(log.bodies[0][-metric.record_bytes :])
    del reporter, log
    gc.collect()
assert [record[0] for record in sent] == [0, 1, 2, 2], sent
assert sent[0][1:] == sent[1][1:] == sent[2][1:] == sent[3][1:]
storage = MemoryStorage()
reporter = Reporter(plan, storage, Log(), 4096, lambda: 1800000000, source)
wrongs: "list[object]" = [None, 1.5, [], "x" * 257, b"\xff"]
for wrong in wrongs:
    assert not reporter.record("m", "a", wrong)
assert not reporter.record("m", "a")
assert reporter.counts == {"dimension": 6}, reporter.counts
assert not storage.names()
print(" ".join(["%02x" % byte for byte in sent[1]]))
