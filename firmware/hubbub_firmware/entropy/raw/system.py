"""A host's operating system, for the ports whose ``os.urandom`` the trust table trusts: unix, and CPython."""

from os import urandom

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable


class SystemSource:
    """Eight bits a sample. What it gives is conditioned already: the tests on it find a dead call and nothing finer."""

    name = "system"
    sample_bits = 8
    entropy_milli = 4000

    def __init__(self, read: "Callable[[int], bytes]" = urandom) -> None:
        self._read = read

    def ready(self) -> bool:
        """Always: the operating system waits until it is seeded."""
        return True

    def sample(self, count: int) -> bytes:
        """``count`` samples."""
        return self._read(count)
