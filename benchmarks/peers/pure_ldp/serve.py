"""Times pure-ldp, in its own environment, on request: one JSON object a line in, one out.

Request ``{"task": NAME, "number": N}``, answer ``{"seconds": S}``: the processor's seconds for one call, over N calls
in a row. The caller asks again and again, in turn with its own measurements, so that both meet the same machine.
"""

from __future__ import annotations

import json
import sys
import time
import timeit
from collections.abc import Callable
from itertools import cycle
from typing import Any

from pure_ldp.frequency_oracles.apple_cms import CMSClient, CMSServer
from pure_ldp.frequency_oracles.local_hashing import LHClient, LHServer
from pure_ldp.frequency_oracles.unary_encoding import UEClient, UEServer

EPSILON, HASHES, WIDTH, DOMAIN = 1, 256, 1024, 1024
REPORTS = 1000


def sketch_client(*, is_hadamard: bool) -> Callable[[], object]:
    """Privatises one value."""
    server = CMSServer(EPSILON, HASHES, WIDTH, is_hadamard=is_hadamard)
    client = CMSClient(EPSILON, server.get_hash_funcs(), WIDTH, is_hadamard=is_hadamard)
    return lambda: client.privatise("value 17")


def aggregate(client: Any, server: Any, values: list[Any]) -> Callable[[], object]:
    """Adds one report to the server's counts; the reports were made before."""
    reports = cycle([client.privatise(value) for value in values])
    return lambda: server.aggregate(next(reports))


def sketch_server(*, is_hadamard: bool) -> Callable[[], object]:
    """Adds one report to a sketch."""
    server = CMSServer(EPSILON, HASHES, WIDTH, is_hadamard=is_hadamard)
    client = CMSClient(EPSILON, server.get_hash_funcs(), WIDTH, is_hadamard=is_hadamard)
    return aggregate(client, server, [f"value {i}" for i in range(REPORTS)])


def unary_encoding_server() -> Callable[[], object]:
    """Adds one vector of DOMAIN bits to the sums."""
    client, server = UEClient(EPSILON, DOMAIN, use_oue=True), UEServer(EPSILON, DOMAIN, use_oue=True)
    return aggregate(client, server, list(range(1, REPORTS)))


def local_hashing_server() -> Callable[[], object]:
    """Adds one report to the support of every value of the domain."""
    client, server = LHClient(EPSILON, DOMAIN, use_olh=True), LHServer(EPSILON, DOMAIN, use_olh=True)
    return aggregate(client, server, list(range(1, REPORTS)))


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
    "hcms-server": lambda: sketch_server(is_hadamard=True),
    "cms-server": lambda: sketch_server(is_hadamard=False),
    "oue-server": unary_encoding_server,
    "olh-server": local_hashing_server,
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
        seconds = timeit.timeit(ready[name], timer=time.process_time, number=number) / number
        print(json.dumps({"seconds": seconds}), flush=True)


if __name__ == "__main__":
    main()
