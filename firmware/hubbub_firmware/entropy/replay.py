"""A test for a source that plays the same piece again, which may be too long for any other test to notice.

Its bound needs nothing but the assessed entropy: whatever came before, a sample equals a given one with probability
at most 2**-H, so ceil(30 / H) of them equal a given piece with at most 2**-30.
"""

from hubbub_firmware.entropy.cutoffs import replay_length
from hubbub_firmware.entropy.refusal import EntropyRefusal


class ReplayTest:
    """Whether the newest ceil(30 / H) samples came before, within what was sampled at once and the piece before it.

    Finds every exact period up to that length. An alarm by chance: at most 2**-20 for each 1,024 samples.
    """

    def __init__(self, entropy_milli: int) -> None:
        self._length = replay_length(entropy_milli)
        self._before = b""

    def take(self, samples: bytes) -> None:
        """Looks at what was sampled at once. Raises EntropyRefusal where its end came before."""
        together = self._before + samples
        end = together[-self._length :]
        if together.find(end) < len(together) - self._length:
            raise EntropyRefusal("entropy", "the source gave one sequence twice: it repeats itself")
        self._before = end
