"""Runs the record vectors with the client alone, under CPython or MicroPython. Arguments: FOLDER CLIENT_ROOT."""

import json
import sys

folder = sys.argv[1]
sys.path.insert(0, sys.argv[2])

from hubbub_client.errors import RejectedValueError  # noqa: E402 - the path comes first
from hubbub_client.plan import Plan, mechanism  # noqa: E402
from hubbub_client.values import to_bytes  # noqa: E402


def unhex(text: str) -> bytes:
    return bytes([int(text[i : i + 2], 16) for i in range(0, len(text), 2)])


plan = Plan.load(folder + "/plan.json")
passed = 0
for name in sorted(plan.metrics):
    with open(folder + "/records_" + name + ".json") as file:
        vectors = json.load(file)
    metric = plan.metric(name)
    encoder = mechanism(metric.mechanism).Encoder(metric, unhex(vectors["secret"]))
    for case in vectors["cases"]:
        noise = unhex(case["random"])
        try:
            record = encoder.encode(to_bytes(case["value"]), lambda _, noise=noise: noise)
        except RejectedValueError as error:
            if case.get("bad") != error.reason:
                raise
        else:
            if case.get("record") != "".join(["%02x" % byte for byte in record]):
                raise AssertionError("%s: another record than the vector's" % name)
        passed += 1
print("%d vectors hold" % passed)
