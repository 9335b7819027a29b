"""RAPPOR and HCMS under a Reporter, with entropy and HTTP: all that a board holds. Arguments: PLAN [peak]."""

import gc
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

allocated = getattr(gc, "mem_alloc")  # noqa: B009 - CPython, whose type checker reads this, has none


def figures() -> "Iterator[object]":
    """As one_metric.py."""
    import stand_ins

    yield "start"
    from hubbub_client.plan import Plan

    plan = Plan.load(sys.argv[1])
    yield "plan"
    storage = stand_ins.Storage()
    from hubbub_firmware.entropy import open_entropy

    entropy = open_entropy(stand_ins.Noise(), storage, "linux", "1.28.0")
    yield "entropy"
    from hubbub_firmware.transports.https import HttpsTransport

    transport = HttpsTransport("http://collector.example.org", plain=True)
    yield "http"
    from hubbub_client.reporter import Reporter

    now = [stand_ins.NOW]
    reporter = Reporter(plan, storage, transport, 4096, lambda: now[0], entropy, lambda _: None, b"a board")
    yield "reporter"
    taken = [reporter.record(name, "a value") for name in ("emoji", "app")]
    if taken != [True, True] or reporter.flush().sent != 2:  # no assertion: byte code has none
        raise RuntimeError(reporter.problem)
    yield "held"
    for name in ("emoji", "app") if sys.argv[-1] != "peak" else ():
        now[0] += 86400
        gc.disable()
        before = allocated()
        taken.append(reporter.record(name, "a value"))
        yield name, allocated() - before
        gc.enable()
