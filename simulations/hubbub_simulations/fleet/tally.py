"""What became of a fleet's reports."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any


@dataclass
class Tally:
    """Counts, while the fleet runs and when it is done."""

    devices: int = 0
    """Values read: one device each."""
    accepted: int = 0
    """Reports that the collector has on stable storage and can seal."""
    quarantined: int = 0
    """Reports that the collector keeps aside, since it does not know this definition of the metric."""
    refused: Counter[str] = field(default_factory=Counter)
    """Reports that were not accepted, by reason: the client's own reasons, or ``HTTP <status> <code>``."""
    uploads: int = 0
    """Uploads that the collector answered with success."""
    refused_uploads: int = 0
    retries: int = 0
    seconds: float = 0.0
    """From the first device to the last answer."""

    @property
    def reports_per_second(self) -> float:
        """Accepted reports a second, encoding included."""
        return self.accepted / self.seconds if self.seconds else 0.0

    def to_dict(self) -> dict[str, Any]:
        """For ``--json``."""
        return {
            "devices": self.devices,
            "reports": {
                "accepted": self.accepted,
                "quarantined": self.quarantined,
                "refused": dict(sorted(self.refused.items())),
            },
            "uploads": {"accepted": self.uploads, "refused": self.refused_uploads, "retries": self.retries},
            "seconds": round(self.seconds, 3),
            "reports_per_second": round(self.reports_per_second, 1),
        }
