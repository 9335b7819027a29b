"""A Reporter's transport through a shuffler."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from hubbub_client.http_transport import HttpTransport
from hubbub_client.plan import Plan
from hubbub_client.transport import Answer
from hubbub_sealing.keys import PublicKey
from hubbub_sealing.upload import PATH, UnknownFingerprintError, seal_upload

if TYPE_CHECKING:
    from hubbub_client.transport import Transport

_NO_PLAN = (
    "not sent: some of these reports are of a metric that SealedTransport has no plan for; "
    "give it the plans of earlier releases in older="
)


class SealedTransport:
    """Seals each record of an upload to the analyst's key, and sends them to a shuffler.

    ``SealedTransport("https://shuffler.example.org", "analyst.public.json", "plan.json")``. ``transport`` is a URL, or
    a transport that takes bodies to a shuffler's ``/v1/sealed``; ``key`` a PublicKey or its file; ``plan`` a Plan or
    its file. All records are padded to the longest one of all plans. ``older`` are the plans of earlier releases, of
    which reports may still wait on a device: an upload with reports of no plan given here is refused, as by a
    collector. Raises KeyFileError, PlanError, TransportError, OSError.
    """

    def __init__(
        self, transport: Transport | str, key: PublicKey | str | Path, plan: Plan | str | Path,
        older: Iterable[Plan | str | Path] = (),
    ) -> None:  # fmt: skip
        self._transport = HttpTransport(transport, path=PATH) if isinstance(transport, str) else transport
        self._key = key if isinstance(key, PublicKey) else PublicKey.load(key)
        plans = [one if isinstance(one, Plan) else Plan.load(str(one)) for one in [plan, *older]]
        metrics = [metric for one in plans for metric in one.metrics.values()]
        self._widths = {metric.fingerprint: metric.record_bytes for metric in metrics}
        self._room = max(self._widths.values(), default=1)
        self._sealed: tuple[bytes, list[bytes]] = b"", []

    def send(self, body: bytes) -> Answer:
        """Sends one upload. Raises what the transport raises where no answer came. Success once all of it is taken."""
        if self._sealed[0] != body:
            try:
                self._sealed = body, seal_upload(body, self._key, self._widths, self._room)
            except UnknownFingerprintError:
                return Answer(400, None, _NO_PLAN)
        answer = Answer(200)
        for sealed in self._sealed[1]:
            answer = self._transport.send(sealed)
            if not 200 <= answer.status < 300:
                break
        return answer
