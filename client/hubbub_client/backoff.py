"""How long to wait before the next attempt: exponential backoff with full jitter.

Source: Brooker, "Exponential Backoff And Jitter", AWS Architecture Blog, 2015. Full jitter, so that a fleet that was
turned away together does not come back together.
"""

from hubbub_client.sampling import read, uniform_below

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hubbub_client.sampling import ByteSource

BASE_MS = 1000
CAP_MS = 60000


def bound_ms(attempt: int) -> int:
    """The longest wait, in milliseconds, after attempt number ``attempt`` (from 0) failed."""
    if attempt > 16:
        return CAP_MS
    return min(CAP_MS, BASE_MS << attempt)


def wait_ms(attempt: int, source: "ByteSource") -> int:
    """A wait uniform in [0, ``bound_ms(attempt)``], in milliseconds. Raises EntropyError."""
    return uniform_below(int.from_bytes(read(source, 8), "little"), bound_ms(attempt) + 1, 64)
