"""A start-up test for what the standard's own two tests let through: a source that nearly repeats itself.

A sequence such as 0, 1, 0, 1 has no long run and no value too many; and a ring oscillator may fall into step with the
clock that samples it. SP 800-90B, section 4.5, lets developers add tests.
"""

from hubbub_firmware.entropy.cutoffs import proportion_cutoff, window_of
from hubbub_firmware.entropy.refusal import EntropyRefusal

# Distances at which a near repetition is looked for.
LAGS = range(1, 17)


def check_lags(samples: bytes, sample_bits: int, entropy_milli: int) -> None:
    """Raises EntropyRefusal where too many samples of the last window equal the one that came 1 to 16 before.

    Whatever came before, a sample equals a given one with a probability of at most 2**-H. So the equal pairs at one
    distance are dominated by the binomial distribution that the adaptive proportion test counts in, and its cut-off
    serves: an alarm by chance happens at most 2**-20 of the time, for each distance.
    """
    window = window_of(sample_bits)
    cutoff = proportion_cutoff(sample_bits, entropy_milli)
    for lag in LAGS:
        equal = 1
        for i in range(max(lag, len(samples) - window + 1), len(samples)):
            if samples[i] == samples[i - lag]:
                equal += 1
        if equal >= cutoff:
            raise EntropyRefusal("entropy", "the source repeats itself at a distance of %d samples" % lag)
