"""The gateway's ledger: the client's own, with an entry for each curated metric and one release a period."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from hubbub_client.errors import RolledBackError
from hubbub_client.ledger import Ledger
from hubbub_firmware.curator.errors import CuratorError
from hubbub_registry.curator import Curated

if TYPE_CHECKING:
    from hubbub_client.plan import Metric

_UNITS = ("epsilon", "rho")


class _Charged:
    """A curated metric as the ledger sees one: a release costs the same each time, and a period has one."""

    def __init__(self, curated: Curated) -> None:
        self.name = entry_name(curated)
        self.period = curated.period
        self.reports_per_period = 1
        self.epsilon_nano = curated.charge_nano
        self.lifetime_nano = curated.lifetime_nano
        self.charges: list[int] = []


def entry_name(curated: Curated) -> str:
    """The entry of a metric: by name and unit, not by fingerprint, so that a new definition refills nothing."""
    return f"{curated.name}:{curated.unit}"


def check_units(ledger: Ledger, curated: Curated) -> None:
    """Raises CuratorError where the metric spent in the other unit before: epsilon and rho do not add up."""
    for unit in _UNITS:
        if unit != curated.unit and f"{curated.name}:{unit}" in ledger.entries:
            raise CuratorError(
                f"curated.{curated.name}: it has spent {unit} before, and {curated.unit} would begin its life anew; "
                "put its noise back, or give the new definition a name of its own"
            )


def used_up(ledger: Ledger, curated: Curated) -> bool:
    """Whether the life of the metric pays for no further release."""
    entry = ledger.entries.get(entry_name(curated))
    return entry is not None and entry.spent + curated.charge_nano > curated.lifetime_nano


def pay_once(ledger: Ledger, curated: Curated, period: int, serial: int) -> None:
    """Pays for the release of one period, durably, as generation ``serial``; nothing where that is done already.

    Nothing else is paid for between the marking of an aggregate with its serial and its release, so the ledger is one
    generation behind it or has just reached it, with this very period. Raises RolledBackError where it is neither,
    RefusalError with nothing changed, and OSError.
    """
    if ledger.generation == serial - 1:
        ledger.spend(cast("Metric", _Charged(curated)), period * curated.period, "")
        return
    entry = ledger.entries.get(entry_name(curated))
    if ledger.generation != serial or entry is None or not entry.start <= period * curated.period < entry.end:
        raise RolledBackError("state: the ledger and what is open are not of one time; put the newest state back")
