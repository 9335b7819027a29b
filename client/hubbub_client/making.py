"""What is settled once, when a Reporter is made: a module of its own, so that a board can let go of it."""

import sys

from hubbub_client.errors import EntropyError, StateError
from hubbub_client.frames import room_for

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hubbub_client.plan import Plan
    from hubbub_client.sampling import ByteSource
    from hubbub_client.storage import Storage


def default_source() -> "ByteSource":
    """os.urandom where it is the operating system's generator; elsewhere a source of which every draw fails.

    What MicroPython calls os.urandom differs from port to port, and a board's may be none (docs/entropy.md).
    """
    if sys.implementation.name == "cpython" or sys.platform in ("linux", "darwin"):
        try:
            from os import urandom

            return urandom
        except ImportError:
            pass
    return _no_source


def _no_source(_: int) -> bytes:
    raise EntropyError(
        "os.urandom of this port (%s) is not to be trusted; pass a source, as hubbub_firmware.entropy makes it"
        % sys.platform
    )


def check_limit(limit: int, plan: "Plan", storage: "Storage") -> None:
    """Raises StateError where a report of some metric alone would be more than ``limit`` bytes."""
    joined = getattr(storage, "journal", False)
    needed = max([0] + [room_for(metric.name, metric.record_bytes, joined) for metric in plan.metrics.values()])
    if limit < needed:
        raise StateError("state: a limit of %d bytes holds no report of this plan; give at least %d" % (limit, needed))
