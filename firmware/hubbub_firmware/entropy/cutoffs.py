"""Cut-offs of the health tests, integers all of them (NIST SP 800-90B, section 4.4).

Each is the least number that noise of the assessed entropy reaches with a probability of at most 2**-20, in one window.
"""

from hubbub_client.errors import EntropyError

# Samples looked at together: 1024 bits, or 512 samples of more than one bit.
_WINDOWS = (1024, 512)
# Entropy in thousandths of a bit -> the least C with P(1 + Binomial(window - 1, 2**-H) >= C) <= 2**-20, exactly.
# tests/firmware/entropy/test_cutoffs.py computes each again with rational numbers.
_BITS = {250: 915, 500: 793, 750: 684, 1000: 590}
_BYTES = {1000: 311, 2000: 178, 3000: 104, 4000: 63, 5000: 40, 6000: 26, 7000: 18, 8000: 14}
_ALPHA_MILLI = 20000  # -log2 of the probability of a false alarm, in thousandths
_REPLAY_MILLI = 30000  # the same, before it is spread over a thousand places
_REFERENCE_MILLI = 64000  # and over more samples than any board will take


def window_of(sample_bits: int) -> int:
    """The samples in one window of the adaptive proportion test."""
    return _WINDOWS[0] if sample_bits == 1 else _WINDOWS[1]


def proportion_cutoff(sample_bits: int, entropy_milli: int) -> int:
    """How many samples of a window may not equal its first one, itself counted. Raises EntropyError for no entry."""
    table = _BITS if sample_bits == 1 else _BYTES
    if sample_bits > 8 or entropy_milli > 1000 * sample_bits or entropy_milli not in table:
        raise EntropyError(
            "no cut-off for %d thousandths of a bit in %d bits; have the assessed entropy rounded down to one of %s"
            % (entropy_milli, sample_bits, sorted(table))
        )
    return table[entropy_milli]


def repetition_cutoff(entropy_milli: int) -> int:
    """How many equal samples in a row are too many: 1 + ceil(20 / H)."""
    return 1 + _samples_for(_ALPHA_MILLI, entropy_milli)


def replay_length(entropy_milli: int) -> int:
    """How long a piece must be that does not come twice among a thousand places: ceil(30 / H) samples."""
    return _samples_for(_REPLAY_MILLI, entropy_milli)


def reference_length(entropy_milli: int) -> int:
    """How long a piece must be that never comes again, as long as a board runs: ceil(64 / H) samples."""
    return _samples_for(_REFERENCE_MILLI, entropy_milli)


def _samples_for(milli: int, entropy_milli: int) -> int:
    return (milli + entropy_milli - 1) // entropy_milli
