"""Counts what 200 reports program and erase on LittleFS. Arguments: PATHS PLAN joined|apart. Prints a JSON object."""

import json
import sys

sys.path[:] = json.loads(sys.argv[1]) + [".frozen"]

from hubbub_client import Plan  # noqa: E402
from hubbub_firmware.storage.littlefs import LittleFsStorage  # noqa: E402

from tests.firmware.storage.programs.block_device import Flash  # noqa: E402 - the path comes first
from tests.firmware.storage.programs.little import WHERE, Collector, mount, reporter_on  # noqa: E402

BLOCKS = 64
counts = {"writes": 0, "appends": 0, "renames": 0, "removes": 0}


class Counting(LittleFsStorage):
    journal = sys.argv[3] == "joined"

    def write(self, name: str, data: bytes) -> None:
        counts["writes"] += 1
        LittleFsStorage.write(self, name, data)

    def append(self, name: str, data: bytes) -> None:
        counts["appends"] += 1
        LittleFsStorage.append(self, name, data)

    def rename(self, old: str, new: str) -> None:
        counts["renames"] += 1
        LittleFsStorage.rename(self, old, new)

    def remove(self, name: str) -> None:
        counts["removes"] += 1
        LittleFsStorage.remove(self, name)


flash = Flash(BLOCKS)
flash.keeps = False
mount(flash, make=True)
plan = Plan.load(sys.argv[2])
assert reporter_on(Counting(WHERE + "/hubbub"), plan, Collector(lambda: 0), 0).record("m", "a")  # first use
for name in counts:
    counts[name] = 0
flash.programs = flash.erasures = 0
flash.erased = [0] * BLOCKS
reports = 0
for day in range(1, 5):
    reporter = reporter_on(Counting(WHERE + "/hubbub"), plan, Collector(lambda: 0), day, 16384)
    for at in range(50):
        reports += reporter.record("mr"[at % 2], "abc"[at % 3])
        if at % 10 == 9:
            assert reporter.flush().problem is None
counts.update({"reports": reports, "programs": flash.programs, "erasures": flash.erasures, "blocks": BLOCKS})
counts["most_erased"] = max(flash.erased)
print(json.dumps(counts))
