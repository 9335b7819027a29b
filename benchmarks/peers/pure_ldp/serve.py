"""Times pure-ldp, in its own environment, on request: one JSON object a line in, one out.

Request ``{"task": NAME, "number": N}``, answer ``{"seconds": S}``: the seconds of one call, over N calls in a row. The
caller asks again and again, in turn with its own measurements, so that both meet the same machine.
"""

from __future__ import annotations

import json
import sys
import timeit
from collections.abc import Callable

from pure_ldp.frequency_oracles.apple_cms import CMSClient, CMSServer

EPSILON, HASHES, WIDTH, DOMAIN = 1, 256, 1024, 1024


def sketch_client(*, is_hadamard: bool) -> Callable[[], object]:
    """Privatises one value."""
    server = CMSServer(EPSILON, HASHES, WIDTH, is_hadamard=is_hadamard)
    client = CMSClient(EPSILON, server.get_hash_funcs(), WIDTH, is_hadamard=is_hadamard)
    return lambda: client.privatise("value 17")


def estimate_all() -> Callable[[], object]:
    """Estimates every value of the domain from a sketch of a thousand reports, the transform included."""
    server = CMSServer(EPSILON, HASHES, WIDTH, is_hadamard=True)
    client = CMSClient(EPSILON, server.get_hash_funcs(), WIDTH, is_hadamard=True)
    for i in range(1000):
        server.aggregate(client.privatise(f"value {i}"))
    values = [f"value {i}" for i in range(DOMAIN)]

    def run() -> list[float]:
        server.last_estimated = 0  # as after a new report: the transform is due
        return [server.estimate(value, suppress_warnings=True) for value in values]

    return run


TASKS = {
    "hcms-client": lambda: sketch_client(is_hadamard=True),
    "cms-client": lambda: sketch_client(is_hadamard=False),
    "hcms-estimate": estimate_all,
}


def main() -> None:
    """Answers requests until the input ends."""
    ready: dict[str, Callable[[], object]] = {}
    for line in sys.stdin:
        request = json.loads(line)
        name, number = request["task"], request["number"]
        if name not in ready:
            ready[name] = TASKS[name]()
            ready[name]()
        print(json.dumps({"seconds": timeit.timeit(ready[name], number=number) / number}), flush=True)


if __name__ == "__main__":
    main()
