"""Time for a device without a clock: never ahead of real time, so no allowance comes early.

Frames carry no time back, and a board wakes up in 1970 or 2000. This clock begins at a moment that has surely passed
(when the firmware was built), adds the uptime it sees, a little less than all of it, and keeps what it reached in
storage. Every error makes it slower: a reboot loses what was not stored yet, a tick counter that wrapped around unseen
adds nothing, a board that was off stands still.

**What that guarantees.** Given a ``floor`` that had passed, a tick counter that runs at most 1/``slack`` too fast, and
dates (``learn``) that were not ahead: the clock is never ahead of real time. So up to any moment of real time the
ledger has opened at most the periods that had begun since the floor, with ``reports_per_period`` in each. Where no
date is learnt in between, a stretch of real time T opens at most floor(T / period) + 2 of them, the two for its ends,
as with any clock whose periods begin at no agreed moment. A lifetime is bound by the ledger, whatever the clock says.

**What a lying server can do.** A ``Date`` that goes back is not taken. One far ahead opens periods before their time:
it can spend what is left of the budget early, and it leaves the device silent until real time catches up
(``clock-went-back``), but it cannot go past ``lifetime_epsilon``. A metric with an unbounded lifetime has no such end.
``latest`` caps it: a date past the last metric's expiry is of no use to an honest server. And one answer alone moves
the clock by 30 days at most: a date further ahead is taken once a second one agrees with it, so that one damaged or
mistaken header does nothing. A server that says it twice is believed, for good.
"""

from hashlib import sha256

from hubbub_client.clock import EARLIEST
from hubbub_firmware.system_clock import set_system_clock
from hubbub_firmware.ticks import ticks_diff, ticks_ms

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from hubbub_client.storage import Storage

NAME = "slow-clock"
_CHECK = 4
_FAR = 30 * 86400  # seconds, past which one date is not enough
_AGREE = 3600  # how far two dates may be apart, but for the uptime between them


class SlowClock:
    """Callable: Unix seconds. ``floor`` is where it begins: the build's time, or 0 for unset until it learns a date.

    ``save_every`` is in seconds: a write each time that the clock moved on by as much, which is also the most a reboot
    loses. Of the uptime, 1 part in ``slack`` is left out: 1024 covers any crystal; a board on an RC oscillator that
    may be 1 % fast needs 64. Call it at least every 6 days, or what passed in between is lost. ``learnt`` says
    whether a date was heard of since the start.
    """

    def __init__(
        self,
        storage: "Storage",
        floor: int,
        save_every: int = 3600,
        slack: int = 1024,
        latest: "int | None" = None,
        ticks: "Callable[[], int]" = ticks_ms,
        diff: "Callable[[int, int], int]" = ticks_diff,
    ) -> None:
        self._storage = storage
        self._save_every = save_every
        self._slack = slack
        self._latest = latest
        self._ticks = ticks
        self._diff = diff
        self._last = ticks()
        self._uptime = 0  # milliseconds since _base, all of them
        self._saved = self._base = max(floor, _stored(storage))
        self._far: int | None = None  # a date far ahead, as it was when the uptime was 0
        self.learnt = False
        set_system_clock(self._base)

    def __call__(self) -> int:
        """The time now, in Unix seconds, and a write where enough of it passed."""
        tick = self._ticks()
        passed = self._diff(tick, self._last)
        self._last = tick
        if passed > 0:  # negative: more than half a wrap-around went by unseen
            self._uptime += passed
        now = self._now()
        if now - self._saved >= self._save_every:
            self.save()
        return now

    def learn(self, seconds: int) -> bool:
        """Takes a date that somebody else vouches for; False for one before this, past ``latest``, or far ahead and
        the first to say so."""
        if seconds < EARLIEST or (self._latest is not None and seconds > self._latest):
            return False
        now = self()
        if seconds > now + _FAR:
            first = self._far
            self._far = seconds - self._uptime // 1000
            if first is None or abs(self._far - first) > _AGREE:
                return False
        self._far = None
        self.learnt = True
        if seconds <= now:
            return False
        self._base = seconds
        self._uptime = 0
        set_system_clock(seconds)
        self()
        return True

    def slept(self, milliseconds: int) -> None:
        """Adds a sleep in which the ticks stood still and that surely lasted this long, and stores the time."""
        self._uptime += max(0, milliseconds)
        self()
        self.save()

    def save(self) -> None:
        """Stores the time, before power goes; also called from time to time.

        Where the storage fails nothing is raised: an older floor is a slower clock, and the reports, which need the
        same storage, tell of it.
        """
        now = self._now()
        if now == self._saved:
            return
        self._saved = now
        text = b"%d" % now
        try:
            self._storage.write(NAME, sha256(text).digest()[:_CHECK] + text)
        except OSError:
            pass

    def _now(self) -> int:
        return self._base + self._uptime * (self._slack - 1) // (1000 * self._slack)


def _stored(storage: "Storage") -> int:
    """What was stored; 0 where there is nothing, or it is damaged or unreadable: the floor is then the time."""
    try:
        data = storage.read(NAME) or b""
        text = data[_CHECK:]
        return int(text) if text and sha256(text).digest()[:_CHECK] == data[:_CHECK] else 0
    except (OSError, ValueError):
        return 0
