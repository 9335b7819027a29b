"""One metric with the client alone: import, plan, encoder, and reports of it.

Arguments: PLAN METRIC VALUE REPORTS [peak]; with ``peak`` nothing is done that needs more memory than the reports do.
"""

import gc
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

allocated = getattr(gc, "mem_alloc")  # noqa: B009 - CPython, whose type checker reads this, has none


def source(count: int) -> bytes:
    return bytes(count)


def figures() -> "Iterator[object]":
    """Where the heap is measured: a label for what is held there, a pair for what was allocated meanwhile."""
    path, name, value, reports = sys.argv[1:5]
    yield "start"
    from hubbub_client.plan import Plan, mechanism
    from hubbub_client.values import to_bytes

    metric = Plan.load(path).metric(name)
    encoder = mechanism(metric.mechanism).Encoder(metric, bytes(range(32)))
    data = to_bytes(value)
    record = encoder.encode(data, source)
    yield "held"
    if sys.argv[-1] != "peak":
        gc.disable()
        before = allocated()
        encoder.encode(to_bytes(value), source)
        yield "report", allocated() - before
        gc.enable()
    yield "before"
    for _ in range(int(reports)):
        record = encoder.encode(to_bytes(value), source)
    yield "after"
    yield "frame", 1 + len(record)  # the metric's place in the plan, and the record
