"""Cuts the power at every program and erasure of a life on real LittleFS, before it and half way.

Arguments: PATHS PLAN KIND MODE, with KIND as little.mount has it. MODE ``as-it-is`` is the client; ``unpaid`` a broken
one, which stores a little less than was spent; ``remove-first`` one that removes a file before it replaces it.

The life runs once; each cut is the flash after so many entries of its log. Prints JSON: what the life acknowledged and
sent, by the entries before it; then, for each cut, what was found, and what the next two days did with it.
"""

import json
import sys

sys.path[:] = json.loads(sys.argv[1]) + [".frozen"]

from hubbub_client import Plan  # noqa: E402
from hubbub_client.ledger import Ledger  # noqa: E402
from hubbub_client.report_files import read_log  # noqa: E402
from hubbub_firmware.storage.littlefs import LittleFsStorage  # noqa: E402

from tests.firmware.storage.programs.block_device import Flash, redo  # noqa: E402 - the path comes first
from tests.firmware.storage.programs.little import Collector, mount, reporter_on, state, waiting  # noqa: E402

BLOCKS = 16
kind = sys.argv[3]
plan = Plan.load(sys.argv[2])
flash = Flash(BLOCKS)
mount(flash, kind, make=True)
made = bytes(flash.data)
flash.log = []

mode = sys.argv[4]
journal, write = Ledger.journal, LittleFsStorage.write


def unpaid(self: Ledger, name: str, tag: str) -> bytes:
    entry = self.entries[name]
    entry.spent -= 1
    text = journal(self, name, tag)
    entry.spent += 1
    return text


def remove_first(self: LittleFsStorage, name: str, data: bytes) -> None:
    if self.read(name) is not None:
        self.remove(name)
    write(self, name, data)


if mode == "unpaid":
    Ledger.journal = unpaid  # type: ignore[method-assign]
if mode == "remove-first":
    LittleFsStorage.write = remove_first  # type: ignore[method-assign]

collector = Collector(lambda: len(flash.log))
acknowledged = []
for day, steps in enumerate(("mr-m", "m-rmr-", "mrmrm", "rm-mm-r")):
    reporter = reporter_on(state(), plan, collector, day)
    state().write("entropy-seed", bytes([day]) * 100)
    for step in steps:
        if step == "-":
            assert reporter.flush().problem is None
        elif reporter.record(step, "ab"[day % 2]):
            acknowledged.append((len(flash.log), read_log(state())[-1][1].record.hex(), reporter.spent()))
log = flash.log
print(json.dumps({"acknowledged": acknowledged, "sent": [(at, body.hex()) for at, body in collector.bodies]}))


def spent() -> int:
    ledger = Ledger.load(state())
    return ledger.total() if ledger else 0


def look(at: int, half: bool) -> None:
    left = Flash(BLOCKS, bytes(flash.data))
    left.keeps = False
    if half:
        redo(left, log[at], True)
    mount(left, kind)
    seed = state().read("entropy-seed")
    found: dict[str, object] = {
        "seed": seed and seed.hex(),
        "at": at,
        "half": half,
        "spent": spent(),
        "waiting": waiting(state()),
    }
    again = Collector(lambda: 0)
    reporter = reporter_on(state(), plan, again, 4)
    found["recorded"] = reporter.record("m", "b") and reporter.record("r", "a")
    found["kept"] = reporter.flush().kept
    found["counts"] = reporter.counts
    found["sent"] = [body.hex() for _, body in again.bodies]
    found["spent_then"] = spent()
    print(json.dumps(found))


flash = Flash(BLOCKS, made)
for at in range(len(log)):
    look(at, False)
    look(at, True)
    redo(flash, log[at])
look(len(log), False)
