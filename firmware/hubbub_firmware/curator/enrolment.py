"""The sensors of a gateway: a list that is fixed beforehand, and so says nothing of any reading.

Without it the gateway would have to stop somewhere at new names, and a sensor that reports would then keep another one
out: it would move a statistic by more than its own readings. Nor could a minimum be kept without leaking how many
sensors reported. Both bounds are on the list instead.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from hubbub_firmware.curator.errors import EnrolmentError
from hubbub_registry.curator import Curated
from hubbub_registry.lists import ListError, read_list


def read_sensors(path: Path, metrics: Iterable[Curated]) -> frozenset[str]:
    """The sensors of a UTF-8 file, one a line. Raises EnrolmentError where a metric's bounds do not allow so many."""
    try:
        sensors = frozenset(read_list(path))
    except ListError as error:
        raise EnrolmentError(f"sensors: {error}") from None
    for curated in metrics:
        if not curated.sensors_minimum <= len(sensors) <= curated.sensors:
            raise EnrolmentError(
                f"sensors: {path} has {len(sensors)}, and curated.{curated.name} asks for {curated.sensors_minimum} to "
                f"{curated.sensors}; enrol others, or change the registry"
            )
    return sensors
