"""The random bytes of a board: HMAC_DRBG over a tested source, which refuses for good after the first failure."""

import os

from hubbub_client.errors import EntropyError
from hubbub_client.reasons import text_of
from hubbub_firmware.entropy.drbg import MOST_BYTES, RESEED_LIMIT
from hubbub_firmware.entropy.refusal import trouble_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hubbub_firmware.entropy.drbg import HmacDrbg
    from hubbub_firmware.entropy.source import CheckedSource
    from hubbub_firmware.trouble import Troubles

# Requests after which fresh noise is mixed in, where the source is ready for it.
RESEED_AFTER = 256
# The number of this process; 0 on a board, which has none.
_process = getattr(os, "getpid", int)


class Entropy:
    """A source of random bytes as hubbub_client takes it: ``entropy(count)``. Made by ``open_entropy``.

    ``problem`` is why it refuses, in words, or None. The first failure is counted in ``troubles``; a board has to boot
    again, and pass the start-up tests again, before it gives out anything more. It belongs to one process: a child
    that ``os.fork`` made would give out the same bytes, so there it refuses.
    """

    def __init__(self, source: "CheckedSource", drbg: "HmacDrbg", troubles: "Troubles") -> None:
        self._source = source
        self._drbg = drbg
        self._troubles = troubles
        self.problem: str | None = None
        self._process = _process()

    def __call__(self, count: int) -> bytes:
        """``count`` bytes, 0 to 65,536. Raises ValueError outside that, and EntropyError where it refuses.

        After 256 requests fresh noise is mixed in; while the source is not ready, such as with the radio off, that
        waits for up to 65,536 requests, and then this raises until the source is ready.
        """
        return self._draw(count, False)

    def fresh(self, count: int) -> bytes:
        """The same with prediction resistance: fresh noise is mixed in first, whatever was drawn before."""
        return self._draw(count, True)

    def _draw(self, count: int, fresh: bool) -> bytes:
        if not 0 <= count <= MOST_BYTES:
            raise ValueError("a request for %d random bytes; ask for 0 to %d at a time" % (count, MOST_BYTES))
        if self._process != _process():
            raise EntropyError("forked: open the entropy of this process itself")
        if self.problem is not None:
            raise EntropyError(self.problem)
        try:
            if self._refreshed(fresh):
                return self._drbg.generate(count)
        except Exception as error:  # noqa: BLE001 - whatever it was, nothing after it may be trusted
            self.problem = "no random bytes until the next boot: " + text_of(error)
            self._troubles.count(trouble_of(error))
            raise EntropyError(self.problem) from None
        raise EntropyError("fresh noise is due and the source is not ready; switch on what it depends on")

    def _refreshed(self, fresh: bool) -> bool:
        """Mixes in fresh noise where it is due; False where nothing may be given out before that, and it cannot be."""
        if not fresh and self._drbg.requests <= RESEED_AFTER:
            return True
        if self._source.ready():
            self._drbg.reseed(self._source.block())
            return True
        return not fresh and self._drbg.requests <= RESEED_LIMIT
