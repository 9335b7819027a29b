"""What is timed of multi-freq-ldpy, in its own environment, by ``hubbub_simulations/bench/answering.py``."""

from __future__ import annotations

from collections.abc import Callable

from multi_freq_ldpy.pure_frequency_oracles.LH import LH_Aggregator_MI, LH_Client

EPSILON, DOMAIN = 1, 1024
REPORTS = 20


def local_hashing_server() -> Callable[[], object]:
    """Adds up REPORTS reports and estimates every value of the domain."""
    reports = [LH_Client(i, DOMAIN, EPSILON) for i in range(REPORTS)]
    return lambda: LH_Aggregator_MI(reports, DOMAIN, EPSILON)


TASKS = {"olh-server-20-reports": local_hashing_server}
