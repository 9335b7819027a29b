"""The continuous health tests on raw samples: repetition count and adaptive proportion (SP 800-90B, section 4.4).

They look at what the noise source gave, before anything else touches it: behind a hash, a dead source looks perfect.
"""

from hubbub_firmware.entropy.cutoffs import proportion_cutoff, repetition_cutoff, window_of
from hubbub_firmware.entropy.refusal import EntropyRefusal


class HealthTests:
    """Both tests over one stream of samples, with an alarm by chance of at most 2**-20 per sample and per window.

    Raises EntropyError where there is no cut-off for ``sample_bits`` and ``entropy_milli``.
    """

    def __init__(self, sample_bits: int, entropy_milli: int) -> None:
        self._repetition_cutoff = repetition_cutoff(entropy_milli)
        self._proportion_cutoff = proportion_cutoff(sample_bits, entropy_milli)
        self._window = window_of(sample_bits)
        self._last: int | None = None  # the sample before, and how often it has come in a row
        self._first: int | None = None  # of the window, and how often it has come within it
        self._repetitions = self._equal = self._place = 0

    def take(self, samples: bytes) -> None:
        """Looks at samples in the order in which they came. Raises EntropyRefusal at the first alarm."""
        for sample in samples:
            if sample == self._last:
                self._repetitions += 1
                if self._repetitions >= self._repetition_cutoff:
                    raise EntropyRefusal(
                        "entropy", "the source gave one value %d times in a row: it is stuck" % self._repetitions
                    )
            else:
                self._last = sample
                self._repetitions = 1
            if not self._place:
                self._first = sample
                self._equal = 0
            if sample == self._first:
                self._equal += 1
                if self._equal >= self._proportion_cutoff:
                    raise EntropyRefusal(
                        "entropy", "the source gave one value %d times within %d: it is biased"
                        % (self._equal, self._window)
                    )  # fmt: skip
            self._place = (self._place + 1) % self._window
