"""Runs the record vectors with the client alone, under CPython or MicroPython.

Arguments: FOLDER CLIENT_ROOT [METRIC...]; all metrics where none is named. One metric, and of its cases one, is in
memory at a time, so that each metric fits a board.
"""

import gc
import json
import sys

folder = sys.argv[1]
sys.path.insert(0, sys.argv[2])

from hubbub_client.errors import RejectedValueError  # noqa: E402 - the path comes first
from hubbub_client.plan import Plan, mechanism  # noqa: E402
from hubbub_client.values import to_bytes  # noqa: E402

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any


def head_and_parts(path: str, names: "list[str]") -> "Iterator[Any]":
    """What a file of vectors says before its list, and then each part of the list, by the indentation of make.py.

    Of parts that have a name, only those in ``names`` are kept, where there are any.
    """
    held: list[str] = []
    left_out = False
    with open(path) as file:
        for line in file:
            if left_out or (names and line.startswith('   "name": ') and line.split('"')[3] not in names):
                left_out = not line.startswith("  }")
            elif line.startswith("  {"):
                held = ["{"]
            elif line.startswith("  }"):
                held.append("}")
                part = json.loads("".join(held))
                held, line = [], ""
                yield part
                del part
                gc.collect()
            elif line.endswith("[\n") and line.startswith(' "'):
                yield json.loads("".join(held).strip().rstrip(",") + "}")
            else:
                held.append(line)


def run(metric: "Any", path: str) -> int:
    """How many cases of one metric hold. Raises AssertionError where one does not."""
    parts = head_and_parts(path, [])
    encoder = mechanism(metric.mechanism).Encoder(metric, bytes.fromhex(next(parts)["secret"]))
    held = 0
    for case in parts:
        noise = bytes.fromhex(case["random"])
        try:
            front = b""
            if metric.dimension is not None:
                from hubbub_client.dimension import front_of

                front = front_of(metric, case["dimension"])
            if metric.mechanism == "joint":
                from hubbub_client.pairs import pair_bytes

                data = pair_bytes(case["value"])
            else:
                data = to_bytes(case["value"])
            record = front + encoder.encode(data, lambda _, noise=noise: noise)
        except RejectedValueError as error:
            if case.get("bad") != error.reason:
                raise
        else:
            if case.get("record") != "".join(["%02x" % byte for byte in record]):
                raise AssertionError("%s: another record than the vector's" % metric.name)
        held += 1
        del case, noise  # before the next one is read
    return held


entries = head_and_parts(folder + "/plan.json", sys.argv[3:])
head = next(entries)
passed = 0
for entry in entries:
    head["metrics"] = [entry]
    mechanism(entry["mechanism"])  # code needs the longest stretches of memory, so it comes first
    gc.collect()
    plan = Plan(head)
    passed += run(plan.metric(entry["name"]), folder + "/records_" + entry["name"] + ".json")
    del plan
    gc.collect()
print("%d vectors hold" % passed)
