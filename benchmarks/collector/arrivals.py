"""Uploads that arrive at a rate of their own, whatever the server does. Plain sockets and epoll: it has to be cheaper
than the server that it is to overload.
"""

from __future__ import annotations

import contextlib
import os
import select
import socket
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field

_HEAD = b"POST /v1/reports HTTP/1.1\r\nHost: x\r\nContent-Type: application/msgpack\r\nContent-Length: %d\r\n\r\n"
_ID = slice(4, 20)
"""Where the upload id is in a body: after the array's head, the version, and the id's own head."""
_MOST_OPEN = 1024
_LAST_SECONDS = 10.0


@dataclass
class Tally:
    """What became of the uploads of one run; ``seconds`` are those of the ones that were stored."""

    offered: int = 0
    unsent: int = 0
    lost: int = 0
    statuses: Counter[int] = field(default_factory=Counter)
    acknowledged: set[bytes] = field(default_factory=set)
    unanswered: set[bytes] = field(default_factory=set)
    seconds: list[float] = field(default_factory=list)

    def percentile_ms(self, share: float) -> float:
        """The time within which this share of the stored uploads were answered, in milliseconds."""
        return 1000 * sorted(self.seconds)[int(share * len(self.seconds))] if self.seconds else 0.0

    def p99_ms(self) -> float:
        """The 99th percentile."""
        return self.percentile_ms(0.99)


class Arrivals:
    """Uploads like ``body``, each with an id of its own, to a port of this machine."""

    def __init__(self, port: int, body: bytes) -> None:
        self._address = ("127.0.0.1", port)
        self._before = _HEAD % len(body) + body[: _ID.start]
        self._after = body[_ID.stop :]
        self._poll = select.epoll()
        self._open: dict[int, socket.socket] = {}
        self._sent: dict[int, tuple[bytes, float]] = {}  # what waits for its answer, by socket
        self._free: list[int] = []
        self._tally = Tally()

    def saturate(self, connections: int, seconds: float) -> Tally:
        """Sends on ``connections`` as fast as they are answered."""
        return self._run(seconds, lambda _: connections - len(self._sent), connections, lambda: None)

    def offer(self, rate: float, seconds: float, each_second: Callable[[], None]) -> Tally:
        """Sends ``rate`` uploads a second. Those for which too many connections are open are not sent."""
        return self._run(seconds, lambda passed: int(rate * passed) - self._tally.offered, _MOST_OPEN, each_second)

    def _run(self, seconds: float, due: Callable[[float], int], most: int, each_second: Callable[[], None]) -> Tally:
        self._tally = tally = Tally()
        began = time.perf_counter()
        ticks = 0
        while (passed := time.perf_counter() - began) < seconds:
            if passed >= ticks:
                ticks += 1
                each_second()
            for _ in range(due(passed)):
                tally.offered += 1
                self._send(most)
            self._answers(0.001)
        while self._sent and time.perf_counter() - began < seconds + _LAST_SECONDS:
            self._answers(0.1)
        for number in list(self._open):
            self._lose(number)
        self._free.clear()
        return tally

    def _send(self, most: int) -> None:
        if self._free:
            number = self._free.pop()
        elif len(self._open) >= most:
            self._tally.unsent += 1
            return
        else:
            made = socket.socket()
            number = made.fileno()
            self._open[number] = made
            try:
                made.connect(self._address)
            except OSError:
                self._tally.lost += 1
                self._lose(number, registered=False)
                return
            made.setblocking(False)
            self._poll.register(number, select.EPOLLIN)
        id = os.urandom(16)
        self._sent[number] = id, time.perf_counter()
        try:
            self._open[number].send(self._before + id + self._after)
        except OSError:  # refused already
            self._lose(number)

    def _answers(self, timeout: float) -> None:
        for number, _ in self._poll.poll(timeout):
            try:
                data = self._open[number].recv(65536)
            except OSError:
                data = b""
            if not data:
                self._lose(number)
                continue
            id, began = self._sent.pop(number)
            status = int(data[9:12])
            self._tally.statuses[status] += 1
            if status == 200:
                self._tally.acknowledged.add(id)
                self._tally.seconds.append(time.perf_counter() - began)
                self._free.append(number)
            else:
                self._lose(number)

    def _lose(self, number: int, *, registered: bool = True) -> None:
        waiting = self._sent.pop(number, None)
        if waiting is not None:
            self._tally.lost += 1
            self._tally.unanswered.add(waiting[0])
        with contextlib.suppress(ValueError):
            self._free.remove(number)
        if registered:
            self._poll.unregister(number)
        self._open.pop(number).close()
