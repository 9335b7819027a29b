"""What a worker can change while it runs: its metrics, its tokens, its certificate."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from hubbub_collector.access.caps import Caps
from hubbub_collector.access.cashier import Cashier
from hubbub_collector.access.gate import Gate
from hubbub_collector.access.tokens import Tokens
from hubbub_collector.errors import CollectorError, UnreadableError
from hubbub_collector.layout import DataDirectory
from hubbub_collector.limits.rate import RateLimit, parse_rate
from hubbub_collector.limits.source import Sources
from hubbub_collector.spare_files import SpareFiles
from hubbub_collector.tls import Certificate
from hubbub_collector.upload import Validator
from hubbub_collector.window import Window
from hubbub_registry import RegistryError, load_registry

if TYPE_CHECKING:
    from hubbub_collector.worker import WorkerSettings

log = logging.getLogger("hubbub.collector")

REGISTRY, TLS, TOKENS = "registry", "tls", "tokens"
"""What the parent may tell a worker to read again."""
_PRUNE_SECONDS = 3600.0


class Live:
    """Made while the event loop runs. ``use``, where it is set, is called with each new validator."""

    def __init__(self, settings: WorkerSettings, clock: Callable[[], float] = time.time) -> None:
        """Raises RegistryError, CollectorError."""
        self._settings = settings
        self._clock = clock
        self._pruned = 0.0
        self._spare = SpareFiles()
        self._again: set[str] = set()
        self._tokens: Tokens | None = None
        self._cashier: Cashier | None = None
        self.certificate: Certificate | None = None
        if settings.tls_cert is not None and settings.tls_key is not None:
            self.certificate = Certificate(settings.tls_cert, settings.tls_key)
        rate: tuple[Sources, RateLimit] | None = None
        if settings.rate is not None:
            limit = RateLimit(parse_rate(settings.rate))
            rate = Sources(settings.trusted, rotated=limit.forget), limit
        if settings.require_token:
            data = DataDirectory(Path(settings.data))
            self._tokens = Tokens(data.tokens, data.last_tokens)
            self._cashier = Cashier(_open_caps(data.caps, settings.late))
        self.gate = Gate(rate, self._tokens, self._cashier) if rate is not None or settings.require_token else None
        self.use: Callable[[Validator], None] | None = None
        self.validator: Validator
        self._read_registry()

    def reload(self, what: str) -> None:
        """Reads ``what`` again. The parent has found it right: where it cannot be read here the log says so once, the
        old one stays, and it is tried again at each tick.
        """
        told = what in self._again
        self._again.discard(what)
        try:
            with self._spare.released():
                self._read(what)
        except (RegistryError, CollectorError, OSError) as error:
            self._again.add(what)
            if not told:
                log.error("not reloaded yet, and as before: %s", error)

    def _read(self, what: str) -> None:
        if what == REGISTRY:
            self._read_registry()
        elif what == TLS and self.certificate is not None:
            self.certificate.reload()
        elif what == TOKENS and self._tokens is not None:
            self._tokens.refresh()

    async def tick(self) -> None:
        """What is to be done about once a second."""
        for what in list(self._again):
            self.reload(what)
        if self._tokens is not None:
            with self._spare.released():
                self._tokens.refresh()
        now = self._clock()
        if self._cashier is not None and abs(now - self._pruned) > _PRUNE_SECONDS:
            self._pruned = now
            await self._cashier.prune(int(now), self.validator.closed)

    async def close(self) -> None:
        """Closes what it opened."""
        self._spare.close()
        if self._cashier is not None:
            await self._cashier.close()

    def _read_registry(self) -> None:
        metrics = load_registry(self._settings.registry, candidates=False).metrics.values()
        fresh = Validator(metrics, Window(late=self._settings.late))
        if self.use is not None:
            fresh.closed = self.validator.closed
        self.validator = fresh
        if self.gate is not None:
            self.gate.use(metrics)
        if self.use is not None:
            self.use(self.validator)


def _open_caps(path: Path, late: int) -> Caps | None:
    """None where the file is damaged: with an empty one in its place every cap would be full again."""
    try:
        return Caps(path, late)
    except UnreadableError as error:
        log.error(
            "tokens with a cap are refused, and no others: %s. Stop the collector and repair it, or put it back from a "
            "copy",
            error,
        )  # fmt: skip
        return None
