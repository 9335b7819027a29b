"""Packs reports into uploads once enough of them wait, and sees each upload through to the collector's verdict."""

from __future__ import annotations

import json
import logging
import threading
import time

from hubbub_client.delivery import KEPT, SENT
from hubbub_firmware.bridge.link import CollectorLink, post_until_settled, troubles_verdict
from hubbub_firmware.gateway.counters import GatewayCounters
from hubbub_firmware.gateway.store import GatewayStore

_LOOK_EVERY = 0.5  # seconds

log = logging.getLogger(__name__)


class Sender:
    """Sends from ``store`` to ``link``, in a thread of its own, until stopped.

    An upload is made once ``least`` reports wait, or once ``patience`` seconds went by with some waiting: so one
    report travels alone only where no other came. How long a report waits is nowhere written down; after a restart the
    patience begins anew.
    """

    def __init__(
        self, store: GatewayStore, link: CollectorLink, counters: GatewayCounters, least: int, patience: float
    ) -> None:
        self._store = store
        self._link = link
        self._counters = counters
        self._least = least
        self._patience = patience
        self._stop = threading.Event()
        self._since: float | None = None
        self._thread = threading.Thread(target=self._run, name="collector")

    def start(self) -> None:
        """Begins."""
        self._thread.start()

    def stop(self) -> None:
        """Ends, after the attempt that is under way. What has no verdict stays in the store."""
        self._stop.set()
        self._thread.join()

    def _run(self) -> None:
        while not self._stop.is_set():
            try:
                self._pack()
                self._send_uploads()
                self._send_troubles()
            except Exception as error:  # noqa: BLE001 - a full disk is no reason to stop for good
                log.warning("sending failed (%s); trying again", type(error).__name__)
                self._stop.wait(_LOOK_EVERY)
            self._counters.waiting.set(self._store.waiting)
            self._stop.wait(_LOOK_EVERY)

    def _pack(self) -> None:
        now = time.monotonic()
        if self._store.waiting == 0:
            self._since = None
            return
        self._since = now if self._since is None else self._since
        if self._store.waiting >= self._least or now - self._since >= self._patience:
            self._store.pack()
            self._since = None

    def _send_uploads(self) -> None:
        while upload := self._store.next_upload():
            upload_id, reports, body = upload
            settled = post_until_settled(self._link.send, body, self._stop, failed=self._attempt_failed)
            if settled.verdict == KEPT:
                return
            if settled.verdict != SENT:
                log.warning("the collector refused %d reports for good: %s", reports, settled.problem)
            self._counters.reports.labels(settled.verdict).inc(reports)
            self._store.settle(upload_id)

    def _send_troubles(self) -> None:
        counts = self._store.troubles()
        if not counts:
            return
        body = json.dumps(counts).encode()
        settled = post_until_settled(
            self._link.send_troubles, body, self._stop, troubles_verdict, failed=self._attempt_failed
        )
        if settled.verdict == KEPT:
            return
        if settled.verdict != SENT:
            log.warning("the collector did not take counts of troubles: %s", settled.problem)
        self._store.troubles_told(counts)

    def _attempt_failed(self, problem: str) -> None:
        self._counters.attempts.inc()
        log.warning("the collector did not take an upload, which is kept: %s", problem)
