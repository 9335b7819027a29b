"""The one object that an app holds: it records values, under their budgets, and uploads the reports."""

from os import urandom

from hubbub_client.arguments import guarded, storage_of, transport_of
from hubbub_client.clock import EARLIEST, sleep_ms, unix_time
from hubbub_client.delivery import DAY, KEPT, REFUSED, SENT, FlushResult, Outcome, deliver
from hubbub_client.device_state import open_state
from hubbub_client.pending import Pending
from hubbub_client.plan import Plan, mechanism
from hubbub_client.reasons import RefusalError, reason_of, text_of
from hubbub_client.values import to_bytes

try:
    from _thread import allocate_lock
except ImportError:  # a board with one thread
    from hubbub_client.no_threads import allocate_lock  # type: ignore[assignment]

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from hubbub_client.budget import Budget
    from hubbub_client.plan import Metric
    from hubbub_client.sampling import ByteSource
    from hubbub_client.storage import Storage
    from hubbub_client.transport import Transport


class Reporter:
    """Records values and uploads reports of them, without ever raising into the app once it is made.

    ``plan`` is a Plan or the path of a compiled one; ``state`` a directory or a storage (see storage.py);
    ``transport`` a URL or a transport (see transport.py); ``limit`` bounds the bytes of pending reports. ``clock``
    gives Unix seconds, ``sleep`` waits for milliseconds; ``source`` gives random bytes for secret, noise, ids and
    waits, and must be a cryptographic generator that nobody can seed. Safe to use from several threads, not from
    signal handlers. Raises PlanError, OSError where the plan cannot be read, TransportError for
    a bad URL, and StateError where ``state`` is neither of the two.

    ``counts`` is reason (one of REASONS) -> number; ``problem`` the latest trouble as text, without any value.
    """

    def __init__(
        self,
        plan: "Plan | str",
        state: "Storage | str",
        transport: "Transport | str",
        limit: int = 1 << 20,
        clock: "Callable[[], int]" = unix_time,
        source: "ByteSource" = urandom,
        sleep: "Callable[[int], None]" = sleep_ms,
    ) -> None:
        self.plan = plan if isinstance(plan, Plan) else Plan.load(plan)
        self._storage = storage_of(state)
        self._transport = transport_of(transport)
        self._limit = limit
        self._clock = clock
        self._random = guarded(source)
        self._sleep = sleep
        self._lock = allocate_lock()
        self._flushing = allocate_lock()
        self._state: tuple[bytes, Budget] | None = None
        self._pending: Pending | None = None
        self._encoders: dict[str, Any] = {}
        self._not_before = 0
        self._dropped = 0
        self.counts: dict[str, int] = {}
        self.problem: str | None = None

    def record(self, name: str, value: object) -> bool:
        """Encodes ``value`` (str, UTF-8 bytes, bool or int) for metric ``name`` and queues the report.

        True where it was queued; False where it was not, and ``counts`` says why. Never raises, never waits for the
        network.
        """
        with self._lock:
            try:
                self._record(name, value)
            except Exception as error:  # noqa: BLE001 - telemetry must not break the app it is in; it is counted
                self._trouble(error)
                return False
            return True

    def flush(self) -> FlushResult:
        """Sends what is pending, oldest first, until done or until the collector cannot take more now. Never raises.

        May wait for the network and between attempts; ``record`` does not wait for it. A flush that finds another
        one running leaves the work to it.
        """
        result = FlushResult()
        if self._flushing.acquire(False):
            try:
                self._send_all(result)
            except Exception as error:  # noqa: BLE001 - as in record
                with self._lock:
                    result.problem = self._trouble(error)
            finally:
                self._flushing.release()
        else:
            result.problem = "another flush is running"
        with self._lock:
            if self._pending is not None:
                result.kept = self._pending.count()
            result.dropped = self.counts.get("dropped", 0) - self._dropped
            self._dropped += result.dropped
            self.problem = result.problem or self.problem
        return result

    def close(self) -> None:
        """Gives the state free. Sends nothing: what is pending waits for the next Reporter on the same state."""
        with self._lock:
            self._forget()
            self._storage.close()

    def __enter__(self) -> "Reporter":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _record(self, name: object, value: object) -> None:
        metric = self.plan.metrics.get(name) if isinstance(name, str) else None
        if metric is None:  # the name stays out of the message: it may be a value, where arguments were swapped
            names = ", ".join(sorted(self.plan.metrics))
            raise RefusalError(
                "unknown-metric", "that metric is not in the plan of %s: %s" % (self.plan.namespace, names)
            )
        data = to_bytes(value)
        if metric.values:
            metric.index_of(data)  # before anything is spent on a value that cannot be encoded
        now = self._now()
        if now >= metric.expires:
            raise RefusalError("expired", "metric %s expired; update the plan or stop recording it" % name)
        if self._state is None:
            self._state = open_state(self._storage, self._random)
        pending = self._open_pending()
        encoder = self._encoder(metric, self._state[0])
        # Drawn first, so that a dead source costs no budget.
        noise = self._random(encoder.random_bytes)
        if not pending.make_room(metric.record_bytes):
            raise RefusalError("full", "a report of metric %s is larger than the limit on pending reports" % name)
        refused = self._state[1].spend(metric, now)
        if refused is not None:
            raise RefusalError(refused, "metric %s: %s" % (name, refused))
        record = encoder.encode(data, lambda _: noise)
        pending.append(metric.fingerprint, now // metric.period, record)

    def _encoder(self, metric: "Metric", secret: bytes) -> "Any":
        found = self._encoders.get(metric.name)
        if found is None:
            found = self._encoders[metric.name] = mechanism(metric.mechanism).Encoder(metric, secret)
        return found

    def _open_pending(self) -> Pending:
        if self._pending is None:
            self._pending = Pending(self._storage, self._limit, self._random, self.counts)
        return self._pending

    def _now(self) -> int:
        try:
            now = int(self._clock())
        except Exception as error:  # noqa: BLE001 - whatever a clock raises, it gave no time
            raise RefusalError("clock", "the clock failed (%s)" % type(error).__name__) from None
        if now < EARLIEST:
            raise RefusalError("clock", "the clock was never set: it shows %d" % now)
        return now

    def _seconds(self) -> int:
        """The time, to tell how long to leave the collector alone; 0 where the clock fails."""
        try:
            return int(self._clock())
        except Exception:  # noqa: BLE001 - uploading needs no clock
            return 0

    def _send_all(self, result: FlushResult) -> None:
        closed = False
        while True:
            with self._lock:
                # Not past a day, the longest that deliver obeys: more than that, and it is the clock that went back.
                if 0 < self._not_before - self._seconds() <= DAY:
                    result.problem = "the collector asked to be left alone until %d" % self._not_before
                    return
                pending = self._open_pending()
                # What is open is closed last, so that flushing in vain does not make many small uploads.
                if not closed and not pending.uploads():
                    pending.close()
                    closed = True
                names = pending.uploads()
                if not names:
                    return
                body, reports, whole = pending.take(names[0])
            # A file with no whole report in it has nothing to send, and is done with.
            sent = Outcome(SENT, 0, None)
            outcome = deliver(self._transport, body, self._random, self._sleep) if reports else sent
            with self._lock:
                if outcome.verdict == KEPT:
                    self._open_pending().give_back()
                    now = self._seconds()
                    self._not_before = now + outcome.retry_after if now else 0
                    result.problem = outcome.problem
                    return
                self._settle(names[0], whole)
                if outcome.verdict == SENT:
                    result.sent += reports
                else:
                    result.refused += reports
                    result.problem = outcome.problem
                    self._count(REFUSED, reports)

    def _settle(self, name: str, whole: bool) -> None:
        """Removes an upload that is done with."""
        self._open_pending().remove(name)
        if not whole:
            self._count("torn", 1)

    def _trouble(self, error: Exception) -> str:
        """Counts an error under its reason, and returns it as text that holds no value."""
        reason = reason_of(error)
        self._count(reason, 1)
        if reason in ("state-damaged", "state-in-use", "storage", "internal"):
            self._forget()
        self.problem = text_of(error)
        return self.problem

    def _forget(self) -> None:
        """What is on storage is not known for sure: everything is read again before the next report."""
        self._state = self._pending = None
        self._encoders = {}

    def _count(self, reason: str, number: int) -> None:
        self.counts[reason] = self.counts.get(reason, 0) + number
