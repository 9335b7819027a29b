"""Fills a LittleFS to every number of free blocks, records, and gives the space back. Arguments: PATHS PLAN KIND.

Prints a JSON object for each number.
"""

import json
import os
import sys

sys.path[:] = json.loads(sys.argv[1]) + [".frozen"]

from hubbub_client import Plan  # noqa: E402
from hubbub_client.ledger import Ledger  # noqa: E402

from tests.firmware.storage.programs.block_device import BLOCK, Flash  # noqa: E402 - the path comes first
from tests.firmware.storage.programs.little import WHERE, Collector, mount, reporter_on, state  # noqa: E402

BLOCKS = 24
kind = sys.argv[3]
plan = Plan.load(sys.argv[2])
cost = plan.metrics["m"].epsilon_nano


def fill(free: int) -> None:
    """Takes all blocks but so many."""
    left = os.statvfs(WHERE)[3] - free
    try:
        with open(WHERE + "/filler", "wb") as file:
            for _ in range(left):
                file.write(b"x" * (BLOCK - 64))
    except OSError:
        pass


for free in range(8):
    flash = Flash(BLOCKS)
    flash.keeps = False
    mount(flash, kind, make=True)
    collector = Collector(lambda: 0)
    assert reporter_on(state(), plan, collector, 0, 16384).record("m", "a")
    fill(free)
    reporter = reporter_on(state(), plan, collector, 0, 16384)
    recorded = sum([reporter.record("m", "a") for _ in range(40)])
    line = {"free": free, "recorded": recorded, "refused": 40 - recorded, "counts": reporter.counts}
    ledger = Ledger.load(state())
    line["unpaid"] = (1 + recorded) * cost - ledger.total() if ledger else None
    os.remove(WHERE + "/filler")
    line["later"] = reporter.record("m", "a")
    line["sent"] = reporter.flush().sent
    print(json.dumps(line))
