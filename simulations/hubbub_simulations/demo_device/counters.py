"""What a running part counted, from its Prometheus page; and waiting for it."""

from __future__ import annotations

import time
from collections.abc import Callable
from http.client import HTTPConnection, HTTPException

from hubbub_simulations.demo.pipeline import DemoError

_STEP_SECONDS = 0.05


def counted(port: int, name: str) -> int:
    """A counter on a loopback port; 0 where nobody answers there yet."""
    connection = HTTPConnection("127.0.0.1", port, timeout=5)
    try:
        connection.request("GET", "/metrics")
        page = connection.getresponse().read().decode()
    except (OSError, HTTPException):
        return 0
    finally:
        connection.close()
    return sum(int(float(line.split()[-1])) for line in page.splitlines() if line.startswith(f"{name} "))


def wait_until(holds: Callable[[], bool], what: str, seconds: float = 20) -> None:
    """Returns once ``holds()``. Raises DemoError, which says ``what`` did not happen, after ``seconds``."""
    end = time.monotonic() + seconds
    while not holds():
        if time.monotonic() > end:
            raise DemoError(f"{what} within {seconds:g} s")
        time.sleep(_STEP_SECONDS)
