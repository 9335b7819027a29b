"""Where things lie in a data directory."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from hubbub_collector.errors import CollectorError


@dataclass(frozen=True)
class DataDirectory:
    """The paths of a data directory; see docs/collecting.md for what each holds."""

    root: Path

    def check(self) -> None:
        """Raises CollectorError unless a collector has made this directory its data directory."""
        if not self.root.is_dir():
            raise CollectorError(f"{self.root}: there is no data directory; name the one that hubbub collect was given")
        if not self.intake.is_dir():
            raise CollectorError(
                f"{self.root}: is no collector's data directory (it has no folder intake); "
                "name the one that hubbub collect was given"
            )

    @property
    def collector_lock(self) -> Path:
        """Held by a running collector."""
        return self.root / "collector.lock"

    @property
    def seal_lock(self) -> Path:
        """Held by a running sealer."""
        return self.root / "seal.lock"

    @property
    def intake(self) -> Path:
        """The folder of the workers' stores."""
        return self.root / "intake"

    def worker_store(self, worker: int) -> Path:
        """The store of worker number ``worker``, from 0."""
        return self.intake / f"worker-{worker}.sqlite"

    def worker_stores(self) -> list[Path]:
        """The stores there are, also those of workers that no longer run."""
        return sorted(self.intake.glob("worker-*.sqlite"))

    @property
    def sorted_store(self) -> Path:
        """What the sealer has sorted and not sealed."""
        return self.root / "sealing" / "sorted.sqlite"

    def sealed(self, metric: str, fingerprint: bytes, period: int) -> Path:
        """The folder of the sealed parts of one metric and period."""
        return self.root / "sealed" / metric / fingerprint.hex() / str(period)
