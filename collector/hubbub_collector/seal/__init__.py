"""Sealing: from the workers' stores to the sealed data set, each upload exactly once, in no order.

``sort.py`` moves uploads out of the stores, ``release.py`` out of their quarantines, ``group.py`` turns what waits for
one metric and period into parts, and ``recover.py`` ends what a crash interrupted. ``run.py`` is one run of all that,
and ``report.py`` what it says. docs/collecting.md gives the order of the steps and why a crash between any two of them
loses and repeats nothing.
"""

from hubbub_collector.seal.report import GroupReport, SealReport
from hubbub_collector.seal.run import SealOptions, seal

__all__ = ["GroupReport", "SealOptions", "SealReport", "seal"]
