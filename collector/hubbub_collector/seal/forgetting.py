"""When upload ids may be forgotten: once no collector takes uploads for their period any more, whatever its clock says.

The sealer announces in every worker's store by when a period must not have ended for its uploads to be taken. It
forgets, in a later run, what it announced in an earlier one, as far as its clock still says so. So a clock that is
wrong for one run forgets nothing, and an id that is forgotten is one whose upload is refused, also after ``--late`` was
raised. What was acknowledged in spite of that, such as in a store that was restored from a copy, is kept aside.
"""

from __future__ import annotations

from collections.abc import Iterable

from hubbub_collector.seal.sorted_store import SortedStore
from hubbub_collector.store import Source
from hubbub_collector.window import LATE
from hubbub_registry import Registry

_ID_MARGIN = 86_400
"""Upload ids are kept this many seconds past the acceptance window: clocks differ, and uploads wait."""
_LATE, _ANNOUNCED, _FORGOTTEN = "late", "announced", "forgotten"


def forget(registry: Registry, target: SortedStore, stores: Iterable[Source], now: float) -> None:
    """Forgets, at Unix time ``now``, and announces what comes next in all ``stores``; they are all that there are.

    Without any it does nothing: nobody was told, and the first collector would take what is taken for closed. Raises
    DamagedError, StoreError, sqlite3.Error.
    """
    stores = list(stores)
    if not stores:
        return
    late = max(LATE, target.noted(_LATE), *(store.late() for store in stores))
    target.note(_LATE, late)
    due = int(now - late - _ID_MARGIN)
    forgotten = max(target.noted(_FORGOTTEN), min(due, target.noted(_ANNOUNCED)))
    target.note(_FORGOTTEN, forgotten)
    for metric in registry.metrics.values():
        target.prune(metric.fingerprint, forgotten // metric.period)
    announced = max(due, forgotten)
    for store in stores:
        store.close_before(announced)
    target.note(_ANNOUNCED, announced)
