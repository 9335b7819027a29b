"""How an encoder consumes its random input: parts of it, as numbers, and what each part is for.

A random input has channels. ``SOURCE`` is what the encoder reads from its byte source; every other channel is named by
the label under which the encoder asks the pseudorandom function for permanent noise. A channel is one little-endian
integer; a part is some of its bits.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

SOURCE = "source"
# Up to so many bits every number of a part is tried; in step, lanes cost one run for all of them.
EVERY_BITS, EVERY_LANE_BITS, MOST_BITS = 6, 16, 20

Noise = Mapping[str, int]


@dataclass(frozen=True)
class Part:
    """``bits`` random bits of ``channel`` from bit ``at`` on, read as one integer.

    Where ``lanes`` is not 0, ``bits`` words of that many bits each instead, every word rounded up to whole bytes: lane
    i's own integer has bit i of word number k as its bit k. ``ordered`` says that the output changes at few places as
    the integer rises (a comparison, a scaled draw), so that those places can be searched for; the audit checks it.
    ``results`` is given for a draw scaled to so many results, of which some far apart may come to the same, which a
    search would pass over.
    """

    channel: str
    at: int
    bits: int
    lanes: int = 0
    ordered: bool = False
    results: int = 0

    @property
    def every(self) -> bool:
        """Whether all of its numbers are tried, with no search."""
        return self.bits <= (EVERY_LANE_BITS if self.lanes else EVERY_BITS) or not self.ordered

    @cached_property
    def stride(self) -> int:
        """Bits from one bit of the integer to its next: 1, or a word."""
        return 8 * ((self.lanes + 7) // 8) if self.lanes else 1

    @cached_property
    def end(self) -> int:
        """The first bit of the channel past this part."""
        return self.at + self.bits * self.stride

    @cached_property
    def mask(self) -> int:
        """The bits of the channel that this part is."""
        if not self.lanes:
            return ((1 << self.bits) - 1) << self.at
        return sum(((1 << self.lanes) - 1) << (self.at + k * self.stride) for k in range(self.bits))

    @cached_property
    def _words(self) -> list[int]:
        return [((1 << self.lanes) - 1) << (self.at + k * self.stride) for k in range(self.bits)]

    def spread(self, number: int) -> int:
        """The channel with this part at ``number``, in every lane where it has lanes, and zeros elsewhere."""
        if not self.lanes:
            return number << self.at
        return sum(word for k, word in enumerate(self._words) if (number >> k) & 1)

    def number(self, channel: int, lane: int = 0) -> int:
        """The integer that this part (or its lane) is in ``channel``."""
        if not self.lanes:
            return (channel >> self.at) & ((1 << self.bits) - 1)
        return sum(((channel >> (self.at + k * self.stride + lane)) & 1) << k for k in range(self.bits))


@dataclass(frozen=True)
class Layout:
    """How one metric's encoder consumes randomness, and where it shows.

    ``channels``: bytes of each channel. ``public``: (field, part) pairs, each part sent as it was drawn in that field
    of the record. ``noise``: the parts that randomise, all with as many lanes as the record's field ``vector`` has
    bits, or none with lanes where ``vector`` is empty.
    """

    channels: Mapping[str, int]
    public: tuple[tuple[str, Part], ...]
    noise: tuple[Part, ...]
    vector: str = ""

    def unread(self, channel: str) -> int:
        """The bits of a channel that no part holds: padding, which must play no role."""
        used = 0
        for part in (*(part for _, part in self.public), *self.noise):
            if part.channel == channel:
                used |= part.mask
        return ((1 << 8 * self.channels[channel]) - 1) & ~used
