"""Random bytes for boards: tested noise into a generator that refuses rather than guesses (docs/entropy.md)."""

import gc
import sys

from hubbub_firmware.entropy.refusal import EntropyRefusal

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from hubbub_client.storage import Storage
    from hubbub_firmware.entropy.generator import Entropy
    from hubbub_firmware.entropy.raw import RawSource

__all__ = ["EntropyRefusal", "open_entropy"]

# Needed once in a boot: a third of what all of it takes in memory.
_ONCE = ("boot", "boots", "trust", "lags")
_SMALL = sys.implementation.name == "micropython"


def open_entropy(raw: "RawSource", storage: "Storage", platform: str, release: "Any", device: bytes = b"") -> "Entropy":
    """The random bytes of this board, for this boot.

    ``raw`` is one of entropy/raw; ``platform`` is ``sys.platform`` and ``release`` ``sys.implementation``; ``device``
    is bytes that only this board has: two boards with one source and one storage still differ. Writes to ``storage``
    before it returns. Raises EntropyRefusal, an EntropyError, and then counts why in ``storage`` (trouble.py).
    """
    if _SMALL:
        gc.collect()  # what stays is laid side by side then, and not between garbage
    from hubbub_firmware.entropy.boot import boot

    try:
        return boot(raw, storage, platform, release, device)
    finally:
        if _SMALL:
            for name in _ONCE:
                sys.modules.pop(__name__ + "." + name, None)
                globals().pop(name, None)
