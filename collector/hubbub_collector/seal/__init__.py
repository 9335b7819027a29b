"""Sealing: from the workers' stores to the sealed data set, each upload exactly once, in no order.

``sort.py`` moves uploads out of the stores, ``group.py`` turns what waits for one metric and period into parts, and
``recover.py`` ends what a crash interrupted. ``run.py`` is one run of all that. docs/collecting.md gives the order of
the steps and why a crash between any two of them loses and repeats nothing.
"""

from hubbub_collector.seal.run import SealOptions, SealReport, seal

__all__ = ["SealOptions", "SealReport", "seal"]
