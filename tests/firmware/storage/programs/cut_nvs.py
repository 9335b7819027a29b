"""Cuts the power at every set, erasure and commit of a life on a model of NVS. Arguments: PATHS PLAN.

Prints how many there are.
"""

import json
import sys

sys.path[:] = json.loads(sys.argv[1]) + [".frozen"]

from hubbub_client import Answer, Plan, Reporter  # noqa: E402
from hubbub_firmware.storage.nvs import NvsStorage  # noqa: E402

from tests.firmware.storage.fake_nvs import FakeNvs, PowerCut  # noqa: E402 - the path comes first

plan = Plan.load(sys.argv[2])
cost = plan.metrics["m"].epsilon_nano


class Collector:
    def send(self, body: bytes) -> Answer:
        return Answer(200)


def reporter_on(nvs: FakeNvs) -> Reporter:
    return Reporter(plan, NvsStorage(nvs), Collector(), 4096, lambda: 1_800_000_000, sleep=lambda _: None)


cut, operations = 0, 1
while cut <= operations:
    for kept in ("none", "all", "some"):
        nvs = FakeNvs(6, cut, kept)
        acknowledged = 0
        try:
            reporter = reporter_on(nvs)
            for at in range(6):
                acknowledged += reporter.record("m", "a")
                if at == 3:
                    reporter.flush()
        except PowerCut:
            pass
        if not cut:
            operations = nvs.operations
        left = FakeNvs(6, 0, "none", nvs.left)
        again = reporter_on(left)
        assert again.record("m", "a"), again.problem
        kept_log = len(again.log())
        assert acknowledged + 1 <= kept_log <= acknowledged + 2, (cut, kept, acknowledged, kept_log)
        assert again.spent() == kept_log * cost
        assert again.flush().kept == 0
    cut += 1
print(json.dumps(operations))
