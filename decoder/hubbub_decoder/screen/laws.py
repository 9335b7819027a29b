"""What is known of each mechanism's honest records, whatever values the devices hold."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from hubbub_client.mechanisms.hierarchical_histogram import at_level
from hubbub_client.mechanisms.projective_geometry_response import points_in
from hubbub_decoder.permanent_bit import shown_rates
from hubbub_decoder.rappor.rates import bit_rates
from hubbub_decoder.screen.checks import Always, Check, Drawn, Event, OfPart, Ones, Uniform, Within, ones_law
from hubbub_registry import Metric


class Law(NamedTuple):
    """``checks``, and whether a device's reports of one period share noise, and so may be alike."""

    checks: tuple[Check, ...]
    permanent: bool = False


def law_of(metric: Metric) -> Law:
    """What is known of ``metric``'s records; no checks where every record is as likely as the population makes it."""
    if metric.parts:
        return Law(of_parts(metric))
    return _LAWS[metric.mechanism](metric)


def of_parts(metric: Metric) -> tuple[Check, ...]:
    """What is known of both parts of a joint metric's records; none of their noise is permanent."""
    checks: list[Check] = []
    start = 0
    for part in metric.parts:
        columns = slice(start, start + part.device.record_bytes)
        start = columns.stop
        checks += [OfPart(f"{part.name}: {check.what}", part, columns, check) for check in law_of(part).checks]
    return tuple(checks)


def _rate(metric: Metric) -> float:
    parameters = metric.device.parameters
    return float(parameters["threshold"] / (1 << parameters["precision"]))


def _nothing(metric: Metric) -> Law:  # noqa: ARG001 - one signature for every mechanism
    return Law(())


def _unary(metric: Metric) -> Law:
    return Law((Ones("number of ones", [ones_law((1, 0.5), (metric.device.parameters["domain"] - 1, _rate(metric)))]),))


def _count_mean_sketch(metric: Metric) -> Law:
    p, flip = metric.device.parameters, _rate(metric)
    bits = 1 << p["width_bits"]
    law = ones_law((1, 1 - flip), (bits - 1, flip))
    return Law((Uniform("hash index", 0, 1 << p["hashes_bits"]), Ones("number of ones", [law])))


def _hadamard_sketch(metric: Metric) -> Law:
    p = metric.device.parameters
    hashes, rows = 1 << p["hashes_bits"], 1 << p["width_bits"]
    # Row 0 of a Hadamard matrix is +1 everywhere, so its bit is 1 only where it was flipped.
    bit = Event("bit of row 0", 2, 1, 1 - _rate(metric), given=1)
    return Law((Uniform("hash index", 0, hashes), Uniform("row", 1, rows), bit))


def _hadamard_response(metric: Metric) -> Law:
    p = metric.device.parameters
    # The first output of a block is owned by every value of the block, and so is one in size/2 of what a value owns.
    size = 1 << p["size_bits"]
    return Law((Event("first output of a block", 0, size - 1, (1 + _rate(metric)) / size),))


def _local_hashing(metric: Metric) -> Law:
    return Law((Uniform("hash index", 0, 1 << metric.device.parameters["hashes_bits"]),))


def _sequence_fragment_puzzle(metric: Metric) -> Law:
    p = metric.device.parameters
    return Law(
        (
            Uniform("hash index", 0, 1 << p["hashes_bits"]),
            Uniform("position", 2, 1 << p["positions_bits"]),
            Uniform("fragment's hash index", 3, 1 << p["fragment_hashes_bits"]),
        )
    )


def _prefix_extending_method(metric: Metric) -> Law:
    p = metric.device.parameters
    return Law(
        (
            Uniform("slot", 0, 1 << p["slots_bits"]),
            Uniform("family", 1, 1 << p["families_bits"]),
            Uniform("function", 2, 1 << (p["width_bits"] * (p["dimension"] - 1))),
        )
    )


def _subset(metric: Metric) -> Law:
    return Law((Always("number of ones", metric.device.parameters["size"]),))


def _rappor(metric: Metric) -> Law:
    p = metric.device.parameters
    one, zero = (float(rate) for rate in bit_rates(metric))
    bits = p["bits"]
    if not p["hashes"]:
        return Law((Ones("number of ones", [ones_law((1, one), (bits - 1, zero))]),), permanent=True)
    # Two hashes of a value may meet in a bit, so it sets from 1 to as many bits as there are hashes.
    laws = [ones_law((held, one), (bits - held, zero)) for held in range(1, p["hashes"] + 1)]
    return Law((Uniform("cohort", 0, p["cohorts"]), Ones("number of ones", laws)), permanent=True)


def _d_bit_flip(metric: Metric) -> Law:
    p = metric.device.parameters
    bits, buckets, one = p["bits"], p["buckets"], float(shown_rates(metric)[0])
    # The value's bucket is among the device's with probability bits / buckets, whatever the value.
    law = bits / buckets * ones_law((1, one), (bits - 1, 1 - one)) + (1 - bits / buckets) * ones_law((bits, 1 - one))
    return Law((Drawn("buckets", bits, buckets), Ones("number of ones", [law])), permanent=True)


def _hierarchical_histogram(metric: Metric) -> Law:
    p = metric.device.parameters
    levels = [at_level(p, level) for level in range(1 << p["levels_bits"])]
    points = tuple(points_in(each["order"], each["dimension"]) for each in levels)
    return Law((Uniform("level", 0, len(points)), Within("point", 1, 0, points)))


_LAWS: dict[str, Callable[[Metric], Law]] = {
    "randomized-response": _nothing,
    "unary-encoding": _unary,
    "hadamard-response": _hadamard_response,
    "count-mean-sketch": _count_mean_sketch,
    "hadamard-count-mean-sketch": _hadamard_sketch,
    "projective-geometry-response": _nothing,
    "local-hashing": _local_hashing,
    "subset-selection": _subset,
    "rappor": _rappor,
    "one-bit-mean": _nothing,
    "d-bit-flip": _d_bit_flip,
    "hierarchical-histogram": _hierarchical_histogram,
    "prefix-extending-method": _prefix_extending_method,
    "sequence-fragment-puzzle": _sequence_fragment_puzzle,
}
