"""What is timed of pure-ldp, in its own environment, by ``hubbub_simulations/bench/answering.py``."""

from __future__ import annotations

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
