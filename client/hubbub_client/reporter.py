"""The one object that an app holds: it records values, under their budgets, and uploads the reports."""

from hubbub_client.arguments import guarded, storage_of, transport_of
from hubbub_client.clock import EARLIEST, sleep_ms, unix_time
from hubbub_client.delivery import DAY, KEPT, REFUSED, SENT, FlushResult, Outcome, deliver
from hubbub_client.frames import Report
from hubbub_client.ledger import tag_of
from hubbub_client.let_go import let_go
from hubbub_client.plan import Plan, mechanism
from hubbub_client.reasons import RefusalError
from hubbub_client.report_files import read_log
from hubbub_client.session import Session
from hubbub_client.values import to_bytes

try:
    from _thread import allocate_lock
except ImportError:  # a board with one thread
    from hubbub_client.no_threads import allocate_lock  # type: ignore[assignment]

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, TypeVar

    from hubbub_client.plan import Metric
    from hubbub_client.sampling import ByteSource
    from hubbub_client.storage import Storage
    from hubbub_client.transport import Transport

    Result = TypeVar("Result")


class Reporter:
    """Records values and uploads reports of them, without ever raising into the app once it is made.

    ``plan`` is a Plan or the path of a compiled one; ``state`` a directory or a storage (see storage.py);
    ``transport`` a URL or a transport (see transport.py); ``limit`` bounds the bytes of pending reports. ``clock``
    gives Unix seconds, ``sleep`` waits for milliseconds; ``source`` gives random bytes for secret, noise, ids and
    waits, and must be a cryptographic generator that nobody can seed (without one, the operating system's, and where
    there is none, on most boards, nothing is recorded: docs/entropy.md); ``device`` is bytes that only this device has,
    with which state copied from another one is noticed. Safe to use from several threads, not from signal handlers.
    Raises PlanError, OSError where the plan cannot be read, TransportError for a bad URL, and StateError where
    ``state`` is neither of the two, or ``limit`` below one report.

    ``counts`` is reason (one of REASONS) -> number; ``problem`` the latest trouble as text, without any value.
    """

    def __init__(
        self,
        plan: "Plan | str",
        state: "Storage | str",
        transport: "Transport | str",
        limit: int = 1 << 20,
        clock: "Callable[[], int]" = unix_time,
        source: "ByteSource | None" = None,
        sleep: "Callable[[int], None]" = sleep_ms,
        device: "bytes | None" = None,
    ) -> None:
        self.plan = plan if isinstance(plan, Plan) else Plan.load(plan)
        from hubbub_client.making import check_limit, default_source

        storage = storage_of(state)
        check_limit(limit, self.plan, storage)
        self._session = Session(storage, guarded(source or default_source()), device, limit)
        let_go(("making",))
        self._transport = transport_of(transport)
        self._clock = clock
        self._sleep = sleep
        self._lock = allocate_lock()
        self._flushing = allocate_lock()
        self._not_before = 0
        self._dropped = 0
        self._opt_outs = 0
        self._closings = 0
        self.counts = self._session.counts

    @property
    def problem(self) -> "str | None":
        """The latest trouble as text, without any value."""
        return self._session.problem

    def record(self, name: str, value: object, dimension: object = None) -> bool:
        """Encodes ``value`` (str, UTF-8 bytes, bool or int; a pair for a joint metric) and queues the report.

        ``dimension`` is the value of the metric's public dimension, which is sent AS IT IS: never derive it from
        ``value``. Where the plan's metric has none it is not sent, so a remote plan may drop it. True where it was
        queued; False where it was not, and ``counts`` says why. Never raises, never waits for the network.
        """
        return self._safely(False, self._record, name, value, dimension)

    def flush(self) -> FlushResult:
        """Sends what is pending, oldest first, until done or until the collector cannot take more now. Never raises.

        May wait for the network and between attempts; ``record`` does not wait for it. A flush that finds another
        one running leaves the work to it.
        """
        result = FlushResult()
        if self._flushing.acquire(False):
            try:
                self._send_all(result)
            except Exception as error:  # noqa: BLE001 - as in _safely
                with self._lock:
                    result.problem = self._session.trouble(error)
            finally:
                self._flushing.release()
        else:
            result.problem = "another flush is running"
        with self._lock:
            result.kept = self._session.waiting()
            result.dropped = self.counts.get("dropped", 0) - self._dropped
            self._dropped += result.dropped
            self._session.problem = result.problem or self._session.problem
        return result

    def set_enabled(self, enabled: bool) -> bool:
        """Opts out, or in again; stored, so that it holds in all later runs. False where that failed. Never raises.

        Out: uploads are cancelled, and the secret, what waits and the log are removed; what was spent is kept. In: a
        new secret is made, so permanent noise is new and every value is charged as new, within the same lifetime.
        """
        return self._safely(False, self._set_enabled, enabled)

    def replace_plan(self, document: "bytes | dict[str, Any] | Plan") -> bool:
        """Takes a remote plan in place of the one in force, unless it asks for more. Never raises, stores nothing.

        False where it was refused, and ``counts`` and ``problem`` say why. A later run begins with the plan it is
        given; ``Plan.replaced_by`` holds a remote plan that the app stored against the app's own.
        """
        return self._safely(False, self._replace_plan, document)

    def spent(self, name: "str | None" = None) -> "int | None":
        """What this device has spent on metric ``name``, or on all metrics, those of earlier plans too; in 1e-9.

        None where state cannot be read, which is counted. Never raises.
        """
        return self._safely(None, self._spent, name)

    def log(self) -> "list[tuple[str, Report]]":
        """What was recorded, oldest first: (``"pending"``, ``"sent"``, ``"refused"`` or ``"dropped"``, Report).

        The oldest are forgotten in time; empty where state cannot be read, which is counted. Never raises.
        """
        return self._safely([], read_log, self._session.storage)

    def close(self) -> None:
        """Gives the state free. Sends nothing: what is pending waits for the next Reporter on the same state."""
        with self._lock:
            self._closings += 1  # a flush that is running takes nothing up again
            self._session.forget()
            self._session.storage.close()

    def __enter__(self) -> "Reporter":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _safely(self, otherwise: "Result", action: "Callable[..., Result]", *arguments: object) -> "Result":
        with self._lock:
            try:
                return action(*arguments)
            except Exception as error:  # noqa: BLE001 - telemetry must not break the app it is in; it is counted
                self._session.trouble(error)
                return otherwise

    def _record(self, name: object, value: object, dimension: object) -> bool:
        metric = self.plan.metrics.get(name) if isinstance(name, str) else None
        if metric is None:  # the name stays out of the message: it may be a value, where arguments were swapped
            names = ", ".join(sorted(self.plan.metrics))
            raise RefusalError(
                "unknown-metric", "that metric is not in the plan of %s: %s" % (self.plan.namespace, names)
            )
        if metric.mechanism == "joint":
            from hubbub_client.pairs import pair_bytes  # only where a plan has one

            data = pair_bytes(value)
        else:
            data = to_bytes(value)
            if metric.values:
                metric.index_of(data)  # before anything is spent on a value that cannot be encoded
        front = b""
        if metric.dimension is not None:
            from hubbub_client.dimension import front_of  # only where a plan has one

            front = front_of(metric, dimension)
        now = self._now()
        if now >= metric.expires:
            raise RefusalError("expired", "metric %s expired; update the plan or stop recording it" % name)
        secret, ledger = self._session.open_state()
        if not ledger.enabled:
            raise RefusalError("opted-out", "this device opted out; nothing is recorded")
        pending = self._session.open_pending()
        encoder = self._encoder(metric, secret)
        # Rejects a value that cannot be encoded, before anything is spent on it.
        key = encoder.permanent_key(data) if hasattr(encoder, "permanent_key") else b""
        # Drawn first, so that a dead source costs no budget.
        noise = self._session.source(encoder.random_bytes)
        if not pending.make_room(metric.name, metric.record_bytes, ledger.catch_up):
            raise RefusalError("full", "no room for a report of metric %s beside what is being sent" % name)
        tag = tag_of(secret, metric, key) if metric.charges else ""
        try:
            charge = ledger.spend(metric, now, tag)
            record = front + encoder.encode(data, lambda _: noise)
            report = Report(metric.name, metric.fingerprint, now // metric.period, ledger.generation, charge, record)
            report.journal = ledger.journal(metric.name, tag)
            pending.append(report)
            if ledger.joined:
                ledger.count_up()
        except RefusalError:
            raise
        except BaseException:  # what was spent in memory, whatever interrupted it, may not be on storage
            self._session.forget()
            raise
        return True

    def _encoder(self, metric: "Metric", secret: bytes) -> "Any":
        encoders = self._session.encoders
        if metric.name not in encoders:
            encoders[metric.name] = mechanism(metric.mechanism).Encoder(metric, secret)
        return encoders[metric.name]

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

    def _set_enabled(self, enabled: bool) -> bool:
        from hubbub_client.opt_out import opt_in, opt_out  # a board that never does has no memory to spare for it

        session = self._session
        session.forget()
        if enabled:
            opt_in(session.storage, session.source, session.device)
        else:
            self._opt_outs += 1  # an upload that is being sent is not tried again
            opt_out(session.storage)
        return True

    def _replace_plan(self, document: "bytes | dict[str, Any] | Plan") -> bool:
        self.plan = self.plan.replaced_by(document)
        self._session.encoders.clear()
        return True

    def _spent(self, name: "str | None") -> int:
        ledger = self._session.ledger()
        if ledger is None:
            return 0
        if name is None:
            return ledger.total()
        return ledger.entries[name].spent if name in ledger.entries else 0

    def _send_all(self, result: FlushResult) -> None:
        closed = False
        opt_outs, closings = self._opt_outs, self._closings
        while True:
            with self._lock:
                if self._closings != closings:
                    return
                # Not past a day, the longest that deliver obeys: more than that, and it is the clock that went back.
                if 0 < self._not_before - self._seconds() <= DAY:
                    result.problem = "the collector asked to be left alone until %d" % self._not_before
                    return
                if self._opt_outs != opt_outs or self._session.opted_out():
                    result.problem = "this device opted out; nothing is sent"
                    return
                pending = self._session.open_pending()
                # What is open is closed last, so that flushing in vain does not make many small uploads.
                if not closed and not pending.uploads():
                    pending.close(self._session.catch_up)
                    closed = True
                names = pending.uploads()
                if not names:
                    return
                body, reports, whole = pending.take(names[0])
            outcome = Outcome(SENT, 0, None)
            if reports:  # a file with no whole report in it has nothing to send, and is done with
                outcome = deliver(
                    self._transport, body, self._session.source, self._sleep, lambda: self._opt_outs != opt_outs
                )
            with self._lock:
                if self._closings != closings:
                    result.problem = "the reporter was closed; what was being sent is sent again, and counts once"
                    return
                if outcome.verdict == KEPT:
                    self._session.open_pending().give_back()
                    now = self._seconds()
                    self._not_before = now + outcome.retry_after if now else 0
                    result.problem = outcome.problem
                    return
                self._session.open_pending().settle(names[0], outcome.verdict)
                if not whole:
                    self._session.count("torn", 1)
                if outcome.verdict == SENT:
                    result.sent += reports
                else:
                    result.refused += reports
                    result.problem = outcome.problem
                    self._session.count(REFUSED, reports)
