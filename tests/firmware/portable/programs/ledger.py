"""A ledger survives a restart, refuses what is used up, and is refused where it is not its own.

Arguments: CLIENT PLAN FOLDER.
"""

import json
import sys

sys.path.insert(0, sys.argv[1])

from hubbub_client.device_state import known_ledger, open_state
from hubbub_client.errors import OtherDeviceError, RolledBackError, StateError
from hubbub_client.file_storage import FileStorage
from hubbub_client.frames import Report
from hubbub_client.ledger import tag_of
from hubbub_client.pending import Pending
from hubbub_client.plan import Plan
from hubbub_client.reasons import RefusalError
from hubbub_client.storage import MemoryStorage

NOW = 1800000000
DAY = 86400
drawn = 0


def source(count: int) -> bytes:
    global drawn
    drawn += 1
    return bytes([(drawn * 31 + i) & 0xFF for i in range(count)])


def refused(reason: str, now: int) -> None:
    generation = ledger.generation
    try:
        ledger.spend(metric, now, tag)
    except RefusalError as error:
        assert error.reason == reason, error.reason
    else:
        raise AssertionError("it spent what was %s" % reason)
    assert ledger.generation == generation


plan = Plan.load(sys.argv[2])
metric = plan.metric("app")
# The file system that a browser is given numbers its errors in a way of its own; no board does.
storage = MemoryStorage() if sys.platform == "webassembly" else FileStorage(sys.argv[3])
secret, ledger = open_state(storage, source, b"this board")
tag = tag_of(secret, metric, b"a value")
assert [ledger.spend(metric, NOW + i * DAY, tag) for i in range(3)] == [
    metric.charges[0], metric.charges[1] - metric.charges[0], metric.charges[2] - metric.charges[1]
]  # fmt: skip
refused("period-used-up", NOW + 2 * DAY)
refused("clock-went-back", NOW)

same, ledger = open_state(storage, source, b"this board")
assert same == secret and ledger.total() == metric.charges[2] and ledger.generation == 5
assert ledger.entries["app"].reports_of(tag) == 3
refused("period-used-up", NOW + 2 * DAY)
other = tag_of(secret, metric, b"another value")
assert ledger.spend(metric, NOW + 3 * DAY, other) == metric.charges[0]
# 64 bits and more, where small integers end after 31 or 63.
ledger.entries["app"].spent = metric.lifetime_nano - metric.charges[0] + 1 if metric.lifetime_nano else 0
tag = tag_of(secret, metric, b"a third value")
refused("lifetime-used-up", NOW + 4 * DAY)


def opens(kind: "type[Exception]", device: "bytes | None") -> None:
    try:
        open_state(storage, source, device)
    except kind as error:
        assert type(error) is kind, error
    else:
        raise AssertionError("a state was taken for this device's own")


opens(OtherDeviceError, b"another board")
opens(OtherDeviceError, None)
old = storage.read("ledger") or b""
_, ledger = open_state(storage, source, b"this board")
ledger.spend(metric, NOW + 5 * DAY, tag)
pending = Pending(storage, 1 << 16, source, {})
assert pending.make_room("app", metric.record_bytes, ledger.catch_up)
pending.append(Report("app", metric.fingerprint, 1, ledger.generation, 1, bytes(metric.record_bytes)))
new = storage.read("ledger") or b""
storage.write("ledger", old)
opens(RolledBackError, b"this board")
for at in (0, 31, 32, len(new) - 1):
    storage.write("ledger", new[:at] + bytes([new[at] ^ 1]) + new[at + 1 :])
    opens(StateError, b"this board")
storage.write("ledger", b"")
opens(StateError, b"this board")
storage.write("ledger", new)
found = known_ledger(storage)
assert found is not None
print(json.dumps([found.generation, found.total(), found.secret, found.device, found.entries["app"].tags]))
