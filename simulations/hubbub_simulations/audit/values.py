"""Which values and which public settings an audit tries."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from typing import TypeVar

from hubbub_registry import Metric
from hubbub_simulations.audit.noise import Layout

Item = TypeVar("Item")


def values_of(metric: Metric, most: int) -> list[bytes]:
    """At most ``most`` values, ends first: a list's, a range's, or else the candidates and made-up ones after them."""
    if metric.closed:
        return spread([value.encode() for value in metric.values], most)
    if "span" in metric.device.parameters:
        return [b"%d" % value for value in spread(_range(metric.device.parameters), most)]
    known = spread([value.encode() for value in metric.candidates], most)
    made_up = (f"audited value {i}".encode() for i in range(2 * most))
    return known + [value for value in made_up if value not in set(known)][: most - len(known)]


def _range(p: Mapping[str, int]) -> range:
    low = p["low"] - p["below_zero"]
    return range(low, low + p["span"] + 1)


def spread(items: Sequence[Item], most: int) -> list[Item]:
    """At most ``most`` of ``items``: the first, the last, and others evenly between."""
    if len(items) <= most:
        middle, ends = list(items[1:-1]), [*items[:1], *items[1:][-1:]]
        return [*ends, *middle]
    step = (len(items) - 1) / (most - 1)
    chosen = [items[round(i * step)] for i in range(most)]
    return [chosen[0], chosen[-1], *chosen[1:-1]]


def settings_of(layout: Layout, most: int, rng: random.Random) -> list[tuple[int, ...]]:
    """At most ``most`` settings of the public parts: all where they are few; else both ends and random ones."""
    bits = [part.bits for _, part in layout.public]
    total = 1 << sum(bits)
    if total <= most:
        numbers = list(range(total))
    else:
        numbers = sorted({0, total - 1, *(rng.randrange(total) for _ in range(most - 2))})
    return [_split(number, bits) for number in numbers]


def _split(number: int, bits: Sequence[int]) -> tuple[int, ...]:
    found = []
    for width in bits:
        found.append(number & ((1 << width) - 1))
        number >>= width
    return tuple(found)
