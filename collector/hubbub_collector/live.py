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
from hubbub_collector.errors import CollectorError
from hubbub_collector.layout import DataDirectory
from hubbub_collector.limits.rate import RateLimit, parse_rate
from hubbub_collector.limits.source import Sources
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
_MARGIN = 86_400
"""Counts are kept this many seconds past the acceptance window: the clock may have been set back meanwhile."""


class Live:
    """Made while the event loop runs. ``use``, where it is set, is called with each new validator."""

    def __init__(self, settings: WorkerSettings, clock: Callable[[], float] = time.time) -> None:
        """Raises RegistryError, CollectorError."""
        self._settings = settings
        self._clock = clock
        self._pruned = 0.0
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
            self._tokens = Tokens(data.tokens)
            self._cashier = Cashier(Caps(data.caps))
        self.gate = Gate(rate, self._tokens, self._cashier) if rate is not None or settings.require_token else None
        self.use: Callable[[Validator], None] | None = None
        self.validator: Validator
        self._read_registry()

    def reload(self, what: str) -> None:
        """Reads ``what`` again; where it cannot be used the old one stays, and the log says so."""
        try:
            if what == REGISTRY:
                self._read_registry()
            elif what == TLS and self.certificate is not None:
                self.certificate.reload()
            elif what == TOKENS and self._tokens is not None:
                self._tokens.refresh()
        except (RegistryError, CollectorError) as error:
            log.error("not reloaded, and as before: %s", error)

    async def tick(self) -> None:
        """What is to be done about once a second."""
        if self._tokens is not None:
            self._tokens.refresh()
        now = self._clock()
        if self._cashier is not None and abs(now - self._pruned) > _PRUNE_SECONDS:
            self._pruned = now
            await self._cashier.prune(int(now - self._settings.late - _MARGIN))

    async def close(self) -> None:
        """Closes what it opened."""
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
