"""Looking for damage in a data directory, and mending it: ``hubbub store verify`` and ``hubbub store repair``.

``kinds.py`` says what the databases hold, ``database.py`` and ``sealed_check.py`` name what is damaged, ``verify.py``
is both, ``pages.py`` reads rows without SQLite, ``salvage.py`` finds the whole ones, and ``repair.py`` keeps them.
"""

from hubbub_collector.store_check.findings import Finding
from hubbub_collector.store_check.repair import Repaired, repair
from hubbub_collector.store_check.verify import verify

__all__ = ["Finding", "Repaired", "repair", "verify"]
