"""Times multi-freq-ldpy, in its own environment, on request: one JSON object a line in, one out.

Request ``{"task": NAME, "number": N}``, answer ``{"seconds": S}``: the processor's seconds for one call, over N calls
in a row. The caller asks again and again, in turn with its own measurements, so that both meet the same machine.
"""

from __future__ import annotations

import json
import sys
import time
import timeit
from collections.abc import Callable

from multi_freq_ldpy.pure_frequency_oracles.LH import LH_Aggregator_MI, LH_Client

EPSILON, DOMAIN = 1, 1024
REPORTS = 20


def local_hashing_server() -> Callable[[], object]:
    """Adds up REPORTS reports and estimates every value of the domain."""
    reports = [LH_Client(i, DOMAIN, EPSILON) for i in range(REPORTS)]
    return lambda: LH_Aggregator_MI(reports, DOMAIN, EPSILON)


TASKS = {"olh-server-20-reports": local_hashing_server}


def main() -> None:
    """Answers requests until the input ends."""
    ready: dict[str, Callable[[], object]] = {}
    for line in sys.stdin:
        request = json.loads(line)
        name, number = request["task"], request["number"]
        if name not in ready:
            ready[name] = TASKS[name]()
            ready[name]()
        seconds = timeit.timeit(ready[name], timer=time.process_time, number=number) / number
        print(json.dumps({"seconds": seconds}), flush=True)


if __name__ == "__main__":
    main()
