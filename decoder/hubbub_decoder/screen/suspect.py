"""What a reader is told of a part that looks made up."""

from __future__ import annotations

from typing import NamedTuple


class Suspect(NamedTuple):
    """A sealed part with records that honest devices hardly ever send."""

    file: str
    """Its file's name, in the folder of ``period``."""
    period: int
    records: int
    p_value: float
    """An upper bound of the chance that honest devices make such a part."""
    what: str
    """What is least likely about its records."""

    def note(self) -> str:
        """The sentence that is shown beside the figures."""
        return (
            f"{self.file} of period {self.period} ({self.records:,} records) is suspicious: honest devices alone give "
            f"it such a {self.what} with probability {self.p_value:.0e} at most. Somebody may have sent made-up ones; "
            "compare the figures with those of other periods (--period)"
        )
