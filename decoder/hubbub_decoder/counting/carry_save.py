"""Adds up packed bit vectors as they are: binary adders in which each wire is a whole array of bytes.

A number for each bit position is kept as planes, one bit of the number each: plane i holds the bits of weight 2**i. A
full adder turns three bits of one weight into one of that weight and one of the next, in five bitwise operations. A
bitwise operation on arrays handles hundreds of bits a nanosecond, unpacking them to a byte each about twenty, so bits
are unpacked once for up to 255 of them, as sums. (Carry-save addition; counting bits this way is Harley and Seal's
method: Mula, Kurz, Lemire, "Faster population counts using AVX2 instructions", Computer Journal 2018.)

Vectors are added in lanes. The arrays here hold one vector of each lane side by side, so a lane is a column of them.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

Bits = npt.NDArray[np.uint8]
LONGEST = 255
"""A lane of this many vectors still has sums that fit in a byte."""
MOST_ROWS = 15
"""So many vectors of a lane are added at once, or fewer."""


def lane_sums(fill: Callable[[int, Bits], None], lengths: npt.NDArray[np.int64], width: int) -> Bits:
    """How many vectors of each lane have each bit set; shape (lanes, 8 * width), bits from the lowest up.

    ``lengths`` are the lanes' numbers of vectors, none of them 0 and none above LONGEST, falling: so at every rank the
    lanes that still have a vector come first. ``fill(rank, out)`` writes the vectors from ``rank`` on of the first
    lanes to ``out`` of shape (rows, lanes, width); what it writes beyond a lane's end does not count.
    """
    longest = int(lengths[0])
    longer = np.searchsorted(-lengths, -np.arange(longest + MOST_ROWS)).tolist()  # by rank: the lanes that reach it
    # A lane of fewer than 2**i vectors has nothing in plane i.
    planes = [np.zeros((longer[(1 << i) - 1], width), np.uint8) for i in range(longest.bit_length())]
    room = np.empty(MOST_ROWS * len(lengths) * width, np.uint8)
    scratch = np.empty((MOST_ROWS + 1) // 4 * len(lengths) * width, np.uint8)
    rank = 0
    while rank < longest:
        lanes = longer[rank]
        rows = MOST_ROWS
        while 2 * longer[rank + rows // 2] < lanes:  # most lanes would be added zeros for half of the rows
            rows //= 2
        vectors = room[: rows * lanes * width].reshape(rows, lanes, width)
        fill(rank, vectors)
        for row in range(1, rows):
            vectors[row, longer[rank + row] :] = 0
        added = _planes_of(vectors, scratch)
        if rank:
            _add(planes, added, scratch)
        else:
            for plane, bits in zip(planes, added, strict=False):
                plane[...] = bits[: len(plane)]
        rank += rows
    return _unpacked(planes)


def _full_adder(a: Bits, b: Bits, c: Bits, scratch: Bits) -> None:
    """``a`` becomes the sum modulo 2 of the three, ``b`` the carry."""
    np.bitwise_xor(a, b, out=scratch)
    np.bitwise_and(a, b, out=b)
    np.bitwise_xor(scratch, c, out=a)
    np.bitwise_and(scratch, c, out=scratch)
    np.bitwise_or(b, scratch, out=b)


def _planes_of(vectors: Bits, scratch: Bits) -> list[Bits]:
    """The sum of 2**i - 1 vectors of each lane, (2**i - 1, lanes, width), as i planes; in place.

    Half of the vectors, and one more, are numbers of one bit. Numbers are added in pairs, all pairs at once, and each
    addition takes another vector as the carry into its lowest bit: after i - 1 rounds none is left over.
    """
    half = (len(vectors) + 1) // 2
    numbers, rest = [vectors[:half]], vectors[half:]
    while half > 1:
        half //= 2
        carry, rest = rest[:half], rest[half:]
        aside = scratch[: carry.size].reshape(carry.shape)
        for i, plane in enumerate(numbers):
            _full_adder(plane[:half], plane[half:], carry, aside)
            numbers[i], carry = plane[:half], plane[half:]
        numbers.append(carry)
    return [plane[0] for plane in numbers]


def _add(planes: list[Bits], added: list[Bits], scratch: Bits) -> None:
    """Adds the numbers of the first lanes to ``planes``; destroys ``added``."""
    carry, spare = added[0], scratch[: added[0].size].reshape(added[0].shape)
    for i, plane in enumerate(planes):
        lanes = min(len(carry), len(plane))
        plane, carry, spare = plane[:lanes], carry[:lanes], spare[:lanes]
        if 0 < i < len(added):
            _full_adder(plane, added[i][:lanes], carry, spare)
            carry = added[i][:lanes]
        else:
            np.bitwise_and(plane, carry, out=spare)
            np.bitwise_xor(plane, carry, out=plane)
            carry, spare = spare, carry


def _unpacked(planes: list[Bits]) -> Bits:
    """The numbers that ``planes`` hold, a byte each; the highest plane has the fewest lanes."""
    lanes, width = planes[0].shape
    total = np.empty(lanes * width * 8, np.uint8)
    done = 0
    for plane in reversed(planes):
        bits = np.unpackbits(plane.reshape(-1), bitorder="little")
        total[:done] += total[:done]
        total[:done] += bits[:done]
        total[done : len(bits)] = bits[done:]
        done = len(bits)
    return total.reshape(lanes, 8 * width)
