"""The exact chance of every record of a part, from the mechanism's definition, by value and for a value like any."""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Iterable
from fractions import Fraction

from hubbub_client.mechanisms.rappor import Encoder
from hubbub_client.records import pack, unpack
from hubbub_registry import Metric

from tests.decoder.reports import outputs, place, probability

Chances = dict[bytes, Fraction]


def chances(part: Metric, value: str) -> Chances:
    """Record -> chance, for a holder of ``value``."""
    if part.mechanism != "rappor":
        return dict(outputs(part, value))
    p = part.device.parameters
    found: Chances = {}
    for cohort in range(p["cohorts"]):
        encoder = Encoder(part.device, bytes(32))
        encoder._cohort = cohort
        found |= _filter(part, cohort, encoder._filter(value.encode()))
    return found


def chances_of_any(part: Metric) -> Chances:
    """The mean over all that the hash functions of one value can give it, of each function (cohort) by itself."""
    p = part.device.parameters
    if part.mechanism == "rappor":
        found: dict[bytes, Fraction] = defaultdict(Fraction)
        ways = list(itertools.product(range(p["bits"]), repeat=p["hashes"]))
        for cohort, hit in itertools.product(range(p["cohorts"]), ways):
            held = sum({1 << bit for bit in hit})
            for record, chance in _filter(part, cohort, held).items():
                found[record] += chance / len(ways)
        return dict(found)
    found = defaultdict(Fraction)
    width = 1 << p["width_bits"]
    for j in range(1 << p["hashes_bits"]):
        of_bucket = {place(part, value, j): value for value in _made_up()}
        assert len(of_bucket) == width
        for value in of_bucket.values():
            for record, chance in outputs(part, value):
                if unpack(part.device.fields, record)[0] == j:
                    found[record] += chance / width
    return dict(found)


def _made_up() -> Iterable[str]:
    return (f"made up {i}" for i in range(200))


def _filter(part: Metric, cohort: int, held: int) -> Chances:
    """Every noisy filter of a device of ``cohort`` whose own is ``held``."""
    p = part.device.parameters
    flip = probability(part, "prr_threshold", "prr_precision")
    found = {}
    for sent in range(1 << p["bits"]):
        flips = (sent ^ held).bit_count()
        chance = flip**flips * (1 - flip) ** (p["bits"] - flips) / p["cohorts"]
        found[pack(part.device.fields, [cohort, sent])] = chance
    return found
