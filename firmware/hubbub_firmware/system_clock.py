"""The board's own clock, which nothing of hubbub goes by, but which TLS checks the dates of certificates against.

A board wakes up in 2000 or 2021, when the collector's certificate was not valid yet, and mbedTLS then refuses it. So
the clock is set to what is surely past, and, if the settings name a server, by NTP. Neither decides what is spent: the
ledger's time is SlowClock's.
"""

import time

from hubbub_client.clock import unix_time
from hubbub_client.transport import TransportError


def set_system_clock(seconds: int) -> None:
    """Sets the board's clock to this Unix time where it is behind it; never back. Nothing on a host."""
    try:
        from machine import RTC
    except ImportError:
        return
    ahead = seconds - unix_time()
    if ahead <= 0 or not hasattr(RTC, "datetime"):
        return
    now = time.gmtime(int(time.time()) + ahead)  # in the epoch of the board
    RTC().datetime((now[0], now[1], now[2], now[6] + 1, now[3], now[4], now[5], 0))


def set_from_ntp(host: str) -> None:
    """Sets the board's clock from an NTP server. Raises TransportError where that failed.

    Nobody vouches for such an answer. One that lies has an expired certificate pass for a valid one, or a valid one
    for an expired one; whose certificate it is, is checked all the same.
    """
    try:
        import ntptime

        ntptime.host = host
        ntptime.settime()
    except (ImportError, OSError, ValueError, OverflowError, IndexError) as error:
        raise TransportError("ntp: no time from %s (%s)" % (host, type(error).__name__)) from None
