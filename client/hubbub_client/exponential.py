"""A certified lower bound of e^x in integers, so that a device can hold a plan's noise against its epsilon."""

FRACTION_BITS = 96
NANO = 1000000000
# Above e^16 nothing is private; the bound also keeps the series short.
MAX_NANO = 16 * NANO
# What all reports of one value may cost together: RAPPOR's eps_inf at 32 bits and 16 hashes is 710.
MOST_NANO = 1024 * NANO


def exp_lower(nano: int) -> int:
    """A lower bound of ``2**96 * e^(nano / 1e9)``, short of it by less than one part in 2**80.

    The Taylor series with every term rounded down: all its terms are positive, so what is left out, and what is
    rounded off, only lowers the sum. Raises ValueError outside [0, 16e9].
    """
    if not 0 <= nano <= MAX_NANO:
        raise ValueError("epsilon must lie between 0 and 16")
    x = (nano << FRACTION_BITS) // NANO
    term = 1 << FRACTION_BITS
    total = 0
    i = 0
    while term:
        total += term
        i += 1
        term = (term * x >> FRACTION_BITS) // i
    return total


def exp_lower_long(nano: int) -> int:
    """The same for what many reports of one value cost together, up to ``MOST_NANO``; off by one part in 2**73.

    A product of lower bounds, each rounded down, is a lower bound. Raises ValueError outside [0, 1024e9].
    """
    if not 0 <= nano <= MOST_NANO:
        raise ValueError("the epsilon of many reports must lie between 0 and 1024")
    total = exp_lower(nano % MAX_NANO)
    for _ in range(nano // MAX_NANO):
        total = total * exp_lower(MAX_NANO) >> FRACTION_BITS
    return total
