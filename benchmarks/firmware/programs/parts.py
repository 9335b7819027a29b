"""RAPPOR and HCMS, a ledger, entropy and HTTP, by their parts: what a board holds that needs no queue of reports.

Arguments: PLAN. Each report is paid for in the ledger before it is encoded, and posted on its own.
"""

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any


def figures() -> "Iterator[object]":
    """As one_metric.py."""
    import stand_ins

    yield "start"
    from hubbub_client.device_state import open_state
    from hubbub_client.ledger import tag_of
    from hubbub_client.plan import Plan, mechanism
    from hubbub_client.upload import ID_BYTES, build
    from hubbub_client.values import to_bytes
    from hubbub_firmware.entropy import open_entropy
    from hubbub_firmware.transports.https import HttpsTransport

    plan = Plan.load(sys.argv[1])
    storage = stand_ins.Storage()
    yield "plan"
    entropy = open_entropy(stand_ins.Noise(), storage, "linux", "1.28.0")
    yield "entropy"
    secret, ledger = open_state(storage, entropy, None)
    yield "ledger"
    transport = HttpsTransport("http://collector.example.org", plain=True)
    yield "http"
    encoders = {}
    for name in sorted(plan.metrics):
        metric = plan.metric(name)
        encoders[name] = mechanism(metric.mechanism).Encoder(metric, secret)
    yield "mechanisms"

    def report(name: str, value: str) -> int:
        metric: Any = plan.metric(name)
        data = to_bytes(value)
        tag = tag_of(secret, metric, encoders[name].permanent_key(data)) if metric.charges else ""
        ledger.spend(metric, stand_ins.NOW, tag)
        record = encoders[name].encode(data, entropy)
        batch = (metric.fingerprint, stand_ins.NOW // metric.period, record)
        return transport.send(build(entropy(ID_BYTES), [batch])).status

    for name in ("app", "emoji"):
        if report(name, "a value") != 200:  # no assertion: byte code has none
            raise RuntimeError(name)
    yield "held"
