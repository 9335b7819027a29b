"""What a request has to pass besides being right: its source's rate, its token, the token's metrics and caps."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from aiohttp import web

from hubbub_collector.access.caps import Charge
from hubbub_collector.access.cashier import Cashier
from hubbub_collector.access.token import Token
from hubbub_collector.access.tokens import Tokens
from hubbub_collector.errors import Refusal, StoreError, StoreFullError
from hubbub_collector.limits.rate import RateLimit
from hubbub_collector.limits.source import Sources
from hubbub_collector.upload import Batch, Upload
from hubbub_registry import Metric

CAP = "token-cap"


class Gate:
    """Any of the three parts may be missing, and asks nothing then. ``cashier`` needs ``tokens``."""

    def __init__(
        self, rate: tuple[Sources, RateLimit] | None = None, tokens: Tokens | None = None,
        cashier: Cashier | None = None,
    ) -> None:  # fmt: skip
        self._rate = rate
        self._tokens = tokens
        self._cashier = cashier
        self._shapes: dict[bytes, tuple[int, int]] = {}  # fingerprint -> bytes of a record, seconds of a period

    def use(self, metrics: Iterable[Metric]) -> None:
        """Takes ``metrics`` to be those of the registry, from now on. Of those before it keeps the shapes, which their
        fingerprints fix: an upload that was checked with them may be waiting for its charge.
        """
        metrics = list(metrics)
        self._shapes |= {metric.fingerprint: (metric.device.record_bytes, metric.period) for metric in metrics}
        if self._tokens is not None:
            self._tokens.use(metrics)

    def admit(self, request: web.BaseRequest) -> Token | None:
        """Before a byte of the body is read: the token it came with. Raises Refusal (429, 401)."""
        if self._rate is not None:
            sources, limit = self._rate
            limit.spend(sources.of(request))
        if self._tokens is None:
            return None
        return self._tokens.holder(request.headers.get("Authorization"))

    async def charge(self, token: Token | None, upload: Upload) -> set[tuple[bytes, int]]:
        """Charges the batches of ``upload`` to ``token``; returns those (fingerprint, period) that its caps do not let
        in. Raises Refusal: 401 for a token that has ended meanwhile, 403 for a metric that it is not for, 503 or 507
        where the counts cannot be kept.
        """
        if token is None or self._tokens is None:
            return set()
        self._tokens.check_scope(token, (batch.fingerprint for batch in upload.known))
        self._tokens.check_scope(token, (batch.fingerprint for _, batch in upload.unknown))
        if token.cap is None or self._cashier is None:
            return set()
        if upload.unknown:  # how many records they are, and when their period ends, nobody knows here
            raise Refusal(403, "token-scope", "a token with a cap is for metrics that this collector knows")
        charges = self._charges(token.id, token.cap, upload)
        try:
            fits = await self._cashier.charge(charges)
        except StoreFullError:
            raise Refusal(507, "disk-full", "the collector's disk is full; nothing was stored", 60) from None
        except StoreError:
            raise Refusal(503, "store", "the collector could not count the upload; nothing was kept", 5) from None
        return {(one.fingerprint, one.period) for one, fit in zip(charges, fits, strict=True) if not fit}

    def records(self, batches: Iterable[Batch]) -> int:
        """How many records ``batches`` of known metrics hold."""
        return sum(len(batch.records) // self._shapes[batch.fingerprint][0] for batch in batches)

    def _charges(self, token: str, cap: int, upload: Upload) -> list[Charge]:
        together: Counter[tuple[bytes, int]] = Counter()
        for batch in upload.known:
            together[batch.fingerprint, batch.period] += self.records([batch])
        return [
            Charge(token, cap, upload.id, fingerprint, period, records, (period + 1) * self._shapes[fingerprint][1])
            for (fingerprint, period), records in together.items()
        ]
