"""A test for a source that plays the same piece again, which may be too long for any other test to notice.

Its bounds need nothing but the assessed entropy: whatever came before, a sample equals a given one with probability
at most 2**-H, so ceil(b / H) of them equal a given piece with at most 2**-b.
"""

from hubbub_firmware.entropy.cutoffs import reference_length, replay_length
from hubbub_firmware.entropy.refusal import EntropyRefusal


class ReplayTest:
    """Whether samples came before: three looks, which hold a few hundred bytes together.

    - The newest ceil(30 / H) samples, within what was sampled at once and the piece before it: finds a period of up to
      that length, whenever it begins. By chance: at most 2**-20 for each 1,024 samples.
    - The first R = ceil(64 / H) samples since the start, in all that follow: finds every exact period P once P + R
      samples were taken.
    - A reference of R samples that moves up whenever twice as many samples were taken (Brent 1980), in all that follow
      it: finds every period P that begins after some samples T within 3 max(T, P + R) samples and two readings.

    The last two alarm by chance with at most 2**-63 for each sample.
    """

    def __init__(self, entropy_milli: int) -> None:
        self._length = replay_length(entropy_milli)
        self._reference = reference_length(entropy_milli)
        self._before = b""
        self._first = b""
        self._moving = b""
        self._taken = 0
        self._moves_at = 1

    def take(self, samples: bytes) -> None:
        """Looks at what was sampled at once. Raises EntropyRefusal where some of it came before."""
        # Only the seam is copied, and never all samples: a board has no kilobyte to spare in one piece.
        length = self._reference
        seam = self._before + samples[:length]
        again = self._came_before(samples)
        start = 0 if self._before else 1
        if not self._first and len(seam) >= length:
            self._first = seam[:length]
        for reference in (self._first, self._moving):
            # What begins the seam was looked at in the reading before, or is the reference itself.
            if reference and (seam.find(reference, 1) >= 0 or samples.find(reference, start) >= 0):
                again = True
        if again:
            raise EntropyRefusal("entropy", "the source gave one sequence twice: it repeats itself")
        self._taken += len(samples)
        self._before = (seam if len(samples) <= length else samples)[-length:]
        if self._taken >= self._moves_at and self._first:
            self._moving = self._before
            self._moves_at = 2 * self._taken

    def _came_before(self, samples: bytes) -> bool:
        """Whether the newest ceil(30 / H) samples came before, in ``samples`` or across the seam."""
        length = self._length
        before = self._before[-length:]
        if len(samples) < length:
            before += samples
            return before.find(before[-length:]) < len(before) - length
        end = samples[-length:]
        return samples.find(end) < len(samples) - length or (before + samples[: length - 1]).find(end) >= 0
