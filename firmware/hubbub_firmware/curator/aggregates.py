"""What is open: for each curated metric the next period to release, and the aggregates of those not yet released.

No reading is kept, only what it adds up to, and for each sensor (under a keyed hash that is another one in each period)
how many of its readings were counted.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

from hubbub_firmware.curator.checked import read_checked, write_checked
from hubbub_registry.curator import Curated

if TYPE_CHECKING:
    from hubbub_client.storage import Storage

NAME = "curator"


@dataclass
class Aggregate:
    """One metric and period: exact cells, and keyed hash of a sensor -> readings counted.

    ``serial`` is 0 while readings may still come. After that it is the generation of the ledger that pays for the
    release, and nothing of the aggregate changes any more.
    """

    cells: list[int]
    counted: dict[str, int] = field(default_factory=dict)
    serial: int = 0


@dataclass
class Open:
    """One definition: the next period to release, by its number, and the aggregates from there on."""

    name: str
    next: int
    aggregates: dict[int, Aggregate] = field(default_factory=dict)

    def aggregate(self, curated: Curated, period: int) -> Aggregate:
        """The aggregate of a period; a new one, of zeros, where there is none."""
        return self.aggregates.setdefault(period, Aggregate([0] * len(curated.cells)))


def load(storage: Storage) -> dict[str, Open] | None:
    """Fingerprint, in hex -> what is open; None at first use. Raises StateError where it is damaged, and OSError."""
    document = read_checked(storage, NAME)
    return None if document is None else {fingerprint: _open(each) for fingerprint, each in document.items()}


def save(storage: Storage, everything: Mapping[str, Open]) -> None:
    """Stores all of it, durably, or nothing. Raises OSError."""
    write_checked(storage, NAME, {fingerprint: asdict(each) for fingerprint, each in everything.items()})


def _open(document: dict[str, Any]) -> Open:
    aggregates = {int(period): Aggregate(**each) for period, each in document["aggregates"].items()}
    return Open(document["name"], document["next"], aggregates)
