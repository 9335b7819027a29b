"""One board between its start and its end: what the main loop does, step by step.

What it prints tells an operator with a cable what is wrong, and never holds a value. docs/firmware.md has the list.
"""

import gc
import sys

from hubbub_client.clock import sleep_ms
from hubbub_client.errors import EntropyError
from hubbub_client.reasons import text_of
from hubbub_client.reporter import Reporter
from hubbub_client.sampling import uniform_below
from hubbub_firmware.ticks import ticks_diff, ticks_ms
from hubbub_firmware.trouble import REASONS, Troubles

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any

    Read = Callable[[], Iterable[tuple[Any, ...]]]

# How long a sleep lasts before the watchdog is fed again; those of boards bite after 8 seconds and more.
_SLICE_MS = 1000
_MOST = 1 << 30


def say(text: str) -> None:
    """A line on the console."""
    print("hubbub: " + text)


class Device:
    """A board with its settings, its plan, its state and its way out; the arguments are those of loop.run.

    ``reporter`` is its Reporter; ``problem`` what went wrong last, in words. Raises HubbubError for files that cannot
    be used, and OSError where storage cannot be opened.
    """

    def __init__(
        self,
        board: "Any",
        folder: str = "",
        transport: "Any" = None,
        feed: "Callable[[], object]" = gc.collect,
        clock: "Callable[[], int] | None" = None,
    ) -> None:
        from hubbub_firmware import start

        plan, self.settings, built = start.files(board, folder)
        storage = board.storage()
        self.problem: str | None = None
        self._board = board
        self._feed = feed
        self._troubles = Troubles(storage)
        self._noted: dict[str, int] = {}
        slow = start.clock_of(storage, plan, built)
        self._slow = slow if clock is None else None
        self._connect()  # before the source is opened: where the radio makes the noise, it must be on
        self._source, problem = start.noise_of(board, storage)
        self._alive = problem is None
        if problem is not None:
            self._complain(problem + "; nothing is recorded before the next start")
        # A transport draws a client id and nothing else. Where there is no noise, all devices share one.
        source = self._source if self._alive else bytes
        self._transport = transport or start.transport_of(
            self.settings, folder, source, slow.learn, board, plan, storage
        )
        self.reporter = Reporter(
            plan, storage, self._transport, min(self.settings["pending_bytes"], getattr(board, "PENDING_BYTES", _MOST)),
            clock or slow, self._source, self.wait, board.device(),
        )  # fmt: skip
        _let_go(start.MODULES)
        self.schedule()

    def record(self, read: "Read") -> None:
        """Reads the sensor, and records what it gives. Without noise the sensor is not even read."""
        if not self._alive:
            return
        try:
            for reading in read():
                if not self.reporter.record(*reading):
                    self._complain(self.reporter.problem)
        except Exception as error:  # noqa: BLE001 - the program's own; its text may hold a value, its type does not
            self._complain("reading the sensor failed (%s)" % type(error).__name__)
        gc.collect()

    def wait(self, milliseconds: int) -> None:
        """Waits, and feeds the watchdog meanwhile."""
        while milliseconds > 0:
            self._feed()
            sleep_ms(min(milliseconds, _SLICE_MS))
            milliseconds -= _SLICE_MS
        self._feed()

    def schedule(self) -> None:
        """Draws when to upload next: uniform between half of and one and a half times ``flush_seconds`` from now.

        From the source alone, so that the moment of an upload says nothing of what is in it, and so that devices which
        were switched on together do not stay together.
        """
        span = 1000 * self.settings["flush_seconds"]
        try:
            drawn = uniform_below(int.from_bytes(self._source(8), "little"), span + 1, 64)
        except EntropyError:
            drawn = span // 2
        self._due_ms = span // 2 + drawn
        self._last = ticks_ms()

    def upload_where_due(self) -> None:
        """Uploads, where the time that was drawn has come."""
        now = ticks_ms()
        self._due_ms -= max(0, ticks_diff(now, self._last))
        self._last = now
        if self._due_ms <= 0:
            self.upload()
            self.schedule()

    def upload(self) -> None:
        """Sends what waits and the troubles, and learns the time where no answer has told it yet."""
        self._note()
        if not self._connect():
            return
        self._attempt("no time", self._ask_time)
        self._feed()
        self._complain(self.reporter.flush().problem)
        self._feed()
        self._note()
        self._attempt("troubles stay untold", self._tell)
        gc.collect()

    def _connect(self) -> bool:
        self._feed()
        try:
            self._board.connect(self.settings)
            return True
        except Exception as error:  # noqa: BLE001 - drivers raise what they like; none of them knows a value
            self._complain("no network (%s)" % (str(error) or type(error).__name__))
            return False

    def _ask_time(self) -> None:
        for _ in range(2):  # a date far ahead is taken from a second answer only
            if self._slow is not None and not self._slow.learnt and hasattr(self._transport, "ask_time"):
                self._transport.ask_time()

    def _tell(self) -> None:
        counts = self._troubles.counts()
        if counts and hasattr(self._transport, "send_troubles"):
            answer = self._transport.send_troubles(counts)
            if 200 <= answer.status < 300:
                self._troubles.settle(counts)

    def _note(self) -> None:
        """Stores what the Reporter counted since the last time, once for each upload and not for each reading.

        The source of noise counts its own troubles.
        """
        counts = self.reporter.counts
        for reason in REASONS:
            more = counts.get(reason, 0) - self._noted.get(reason, 0)
            if more and reason != "entropy":
                self._troubles.count(reason, more)
            self._noted[reason] = counts.get(reason, 0)

    def _attempt(self, what: str, action: "Callable[[], object]") -> None:
        try:
            action()
        except Exception as error:  # noqa: BLE001 - a transport raises what it likes; whatever it is, the loop goes on
            self._complain("%s (%s)" % (what, text_of(error)))

    def _complain(self, problem: "str | None") -> None:
        """Prints a problem, once for as long as it stays the same."""
        if problem is not None and problem != self.problem:
            say(problem)
            self.problem = problem


def _let_go(names: "tuple[str, ...]") -> None:
    """Forgets modules of this package, and those below them, on a board; a host keeps them."""
    if sys.implementation.name != "micropython":
        return
    package = sys.modules["hubbub_firmware"]
    for name in names:
        for module in list(sys.modules):
            if (module + ".").startswith("hubbub_firmware.%s." % name):
                del sys.modules[module]
        if hasattr(package, name):
            delattr(package, name)
