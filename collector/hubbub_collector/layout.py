"""Where things lie in a data directory."""

from __future__ import annotations

import re
from dataclasses import dataclass
from hashlib import sha256
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

    def worker_store(self, worker: int, generation: int = 0) -> Path:
        """The store of worker number ``worker``, from 0. It has a next generation where the one before was damaged."""
        return self.intake / (f"worker-{worker}-{generation}.sqlite" if generation else f"worker-{worker}.sqlite")

    def newest_generation(self, worker: int) -> int:
        """Of the stores of ``worker``; 0 where there is none."""
        found = (re.fullmatch(rf"worker-{worker}-([1-9][0-9]*)", path.stem) for path in self.worker_stores())
        return max((int(match[1]) for match in found if match), default=0)

    def worker_stores(self) -> list[Path]:
        """The stores there are, also those of workers that no longer run."""
        return sorted(self.intake.glob("worker-*.sqlite"))

    @property
    def damaged(self) -> Path:
        """Where hubbub store repair puts damaged files."""
        return self.root / "damaged"

    @property
    def source(self) -> Path:
        """Says which data directory seals what this one takes, where that is another."""
        return self.root / "sealed-by"

    @property
    def sorted_store(self) -> Path:
        """What the sealer has sorted and not sealed."""
        return self.root / "sealing" / "sorted.sqlite"

    @property
    def tokens(self) -> Path:
        """The tokens that may send, where the collector asks for one."""
        return self.root / "access" / "tokens.json"

    @property
    def token_lock(self) -> Path:
        """Held while the tokens are changed."""
        return self.root / "token.lock"

    @property
    def caps(self) -> Path:
        """How much each token has contributed."""
        return self.root / "access" / "caps.sqlite"

    @property
    def parts(self) -> Path:
        """The folder of all that is sealed."""
        return self.root / "sealed"

    @property
    def run(self) -> Path:
        """What a running collector keeps for its workers; emptied at its start."""
        return self.root / "run"

    @property
    def last_tokens(self) -> Path:
        """A copy of the last file of tokens that was right."""
        return self.run / "tokens.json"

    def sealed(self, metric: str, fingerprint: bytes, period: int) -> Path:
        """The folder of the sealed parts of one metric and period."""
        return self.parts / metric / fingerprint.hex() / str(period)

    def states(self, metric: str, fingerprint: str, digest: str) -> list[Path]:
        """What a decoder that keeps its counts beside the data has of the part with the SHA-256 ``digest`` (hex), as
        docs/decoding.md says.
        """
        folder = self.root / "states" / metric / fingerprint
        return sorted(folder.glob(sha256(digest.encode()).hexdigest()[:32] + "*.state"))
