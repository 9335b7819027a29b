"""Exact random bits from uniform bytes: the only place where noise is made.

Every probability is ``threshold / 2**precision`` with integers, so the noise a device adds is the noise that was
analysed, to the last bit. No function here branches on, or indexes by, a secret, and each uses a number of random
bytes fixed by its public parameters alone.
"""

from hubbub_client.errors import EntropyError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    ByteSource = Callable[[int], bytes]


def read(source: "ByteSource", count: int) -> bytes:
    """``count`` bytes of ``source``.

    Raises EntropyError where the source gives another number of bytes: noise made of too few would not be noise.
    """
    data = source(count)
    if len(data) != count:
        raise EntropyError(
            "the random source gave %d bytes where %d were asked for; nothing was encoded" % (len(data), count)
        )
    return data


def check_threshold(threshold: int, precision: int) -> None:
    """Raises ValueError unless ``0 < threshold < 2**precision``: outside it the functions here give no such noise."""
    if not 0 < threshold < (1 << precision):
        raise ValueError("a threshold of %d is no probability at %d bits" % (threshold, precision))


def check_flip(threshold: int, precision: int) -> None:
    """Raises ValueError unless ``0 < threshold / 2**precision <= 1/2``.

    Flipping more often than not tells as much as flipping that much less often, while a ratio written for the usual
    side would come out below 1 and pass for private.
    """
    if not 0 < 2 * threshold <= (1 << precision):
        raise ValueError("a flip of %d at %d bits is not at most one half" % (threshold, precision))


def lanes_bytes(lanes: int, precision: int) -> int:
    """The random bytes ``bernoulli_lanes`` reads: ``precision`` words of ``lanes`` bits, each rounded up to bytes."""
    return precision * ((lanes + 7) // 8)


def bernoulli_lanes(data: bytes, start: int, lanes: int, threshold: int, precision: int) -> int:
    """``lanes`` independent bits, each 1 with probability exactly ``threshold / 2**precision``, as one integer.

    Reads ``lanes_bytes(lanes, precision)`` uniform bytes of ``data`` from ``start``; ``0 < threshold < 2**precision``.

    Why it is exact: take a lane's bits w_0 .. w_{b-1} as the binary fraction 0.w_{b-1}..w_0. OR-ing where the
    threshold's bit is 1 and AND-ing where it is 0, from the lowest bit up, leaves 1 exactly where that fraction is
    below 0.t_{b-1}..t_0 with w's bits inverted, and that holds for ``threshold`` of the ``2**precision`` words.
    Why it leaks nothing: the branch is on a bit of the threshold, which is public.
    """
    size = (lanes + 7) // 8
    result = 0
    for i in range(precision):
        word = int.from_bytes(data[start : start + size], "little")
        start += size
        result = result | word if (threshold >> i) & 1 else result & word
    return result & ((1 << lanes) - 1)


def bernoulli(uniform: int, threshold: int, precision: int) -> int:
    """One bit, 1 with probability exactly ``threshold / 2**precision``, from a uniform integer of ``precision`` bits.

    The comparison ``uniform < threshold`` as arithmetic: the difference lies in [-2**precision, 2**precision), so its
    bit number ``precision`` is its sign.
    """
    return ((uniform - threshold) >> precision) & 1


def uniform_below(uniform: int, domain: int, bits: int) -> int:
    """An integer in [0, domain) from a uniform integer of ``bits`` bits, with no rejection loop.

    Each result stands for floor or ceil of ``2**bits / domain`` of the inputs. That bias is not waved away: the exact
    epsilon of a mechanism that calls this is computed with ``2**bits // domain``, the rarest result.
    """
    return (uniform * domain) >> bits


def parity(word: int) -> int:
    """The parity of a word below 2**32, in a fixed number of steps."""
    word ^= word >> 16
    word ^= word >> 8
    word ^= word >> 4
    word ^= word >> 2
    return (word ^ (word >> 1)) & 1
