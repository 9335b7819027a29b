"""Reports for the decoder's tests: exact output distributions, seeded client runs, and sealed data sets."""

from __future__ import annotations

import datetime
import hashlib
import itertools
import json
import math
import operator
import random
from collections.abc import Iterator, Sequence
from fractions import Fraction
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq

from hubbub_client.hashing import bucket, item_key
from hubbub_client.mechanisms import module_name
from hubbub_client.mechanisms.hierarchical_histogram import at_level, point_of
from hubbub_client.mechanisms.prefix_extending_method import PAD, linear
from hubbub_client.mechanisms.projective_geometry_response import coordinates, points_in
from hubbub_client.mechanisms.sequence_fragment_puzzle import (
    fragment_at,
    fragment_item,
    fragment_part,
    puzzle_piece,
    whole_part,
)
from hubbub_client.records import pack
from hubbub_decoder.counting.records import Records
from hubbub_registry import Metric

SMALL: dict[str, dict[str, Any]] = {
    "randomized-response": {},
    "unary-encoding": {},
    "hadamard-response": {"blocks": 2},
    "projective-geometry-response": {},
    "local-hashing": {"hashes": 2, "width": 4},
    "sequence-fragment-puzzle": {"hashes": 2, "fragment_hashes": 2, "positions": 2, "fragment_bytes": 1},
    "subset-selection": {},
    "count-mean-sketch": {"hashes": 2, "width": 4},
    "hadamard-count-mean-sketch": {"hashes": 2, "width": 4},
    "prefix-extending-method": {"epsilon": 1, "longest": 3, "items": 16, "families": 2},
    "d-bit-flip": {"low": 0, "high": 4, "buckets": 5, "bits": 2},
    "hierarchical-histogram": {"low": 0, "high": 4, "buckets": 4, "levels": 2},
    "rappor": {
        "encoding": "one-hot",
        "bits": None,
        "hashes": None,
        "cohorts": None,
        "values": ["a", "b", "c", "d", "e"],
    },
}
"""Keys with which every mechanism has few enough outputs to go through them all."""


def probability(metric: Metric, threshold: str = "threshold", precision: str = "precision") -> Fraction:
    """A probability of the plan."""
    parameters = metric.device.parameters
    return Fraction(parameters[threshold], 1 << parameters[precision])


def place(metric: Metric, value: str, index: int) -> int:
    """The client's bucket of ``value`` under hash function ``index``."""
    parameters = metric.device.parameters
    return bucket(item_key(value.encode(), parameters["salt"]), parameters["salt"], index, parameters["width_bits"])


def item_of(metric: Metric, value: str, slot: int, family: int) -> int:
    """The item of the part of ``value`` that a report in ``slot`` is of, with the prefix extending method."""
    p = metric.device.parameters
    data, part = value.encode(), slot * (p["levels"] + 1) >> p["slots_bits"]
    if part < p["levels"]:
        length = p["first"] + part * p["step"]
        data = data.ljust(length, PAD)[:length]
    index = (part << p["families_bits"]) + family
    return bucket(item_key(data, p["salt"]), p["salt"], index, p["width_bits"] * p["dimension"])


def kept(parameters: dict[str, int], own: int) -> Iterator[tuple[int, Fraction]]:
    """Every bucket that local hashing may send where the value's is ``own``, with its probability."""
    keep, width = Fraction(parameters["threshold"], 1 << parameters["precision"]), 1 << parameters["width_bits"]
    for cell in range(width):
        yield cell, (1 - keep) / width + keep * (cell == own)


def shown(metric: Metric) -> Fraction:
    """How often a report shows a bit that is 1, after its permanent flip and its perturbation."""
    flip, change = probability(metric), probability(metric, "perturbation", "perturbation_bits")
    return (1 - flip) * (1 - change) + flip * change


def range_bucket(metric: Metric, value: str) -> int:
    """The bucket of an integer: of d-bit flip's, the one whose label holds it."""
    for i, label in enumerate(metric.candidates):
        first, _, last = label.partition("..")
        if int(first) <= int(value) <= int(last or first):
            return i
    raise AssertionError(f"no bucket holds {value}")


def outputs(metric: Metric, value: str) -> Iterator[tuple[bytes, Fraction]]:
    """Every record a holder of ``value`` can send, with its exact probability, from the mechanism's definition."""
    p = metric.device.parameters
    fields = metric.device.fields
    if metric.mechanism == "randomized-response":
        truth = probability(metric)
        for index in range(p["domain"]):
            yield pack(fields, [index]), (1 - truth) / p["domain"] + truth * (metric.values[index] == value)
    elif metric.mechanism == "unary-encoding":
        held = [Fraction(1, 2) if each == value else probability(metric) for each in metric.values]
        yield from _bit_vectors(fields, [], held, Fraction(1))
    elif metric.mechanism == "rappor":
        flip = probability(metric, "prr_threshold", "prr_precision")
        one, zero = probability(metric, "irr_q", "irr_precision"), probability(metric, "irr_p", "irr_precision")
        held = [
            (1 - flip) * one + flip * zero if each == value else flip * one + (1 - flip) * zero
            for each in metric.values
        ]
        yield from _bit_vectors(fields, [0], held, Fraction(1))
    elif metric.mechanism == "d-bit-flip":
        one = shown(metric)
        home = range_bucket(metric, value)
        sets = list(itertools.combinations(range(p["buckets"]), p["bits"]))
        for buckets in sets:
            ones = [one if bucket == home else 1 - one for bucket in buckets]
            yield from _bit_vectors(fields, list(buckets), ones, Fraction(1, len(sets)))
    elif metric.mechanism == "one-bit-mean":
        one = shown(metric)
        share = Fraction(int(value) - p["low"] + p["below_zero"], p["span"])
        chance = 1 - one + share * (2 * one - 1)
        yield from ((pack(fields, [bit]), chance if bit else 1 - chance) for bit in range(2))
    elif metric.mechanism == "hadamard-response":
        keep, size = probability(metric), 1 << p["size_bits"]
        index = metric.values.index(value)
        block, row = divmod(index, size - 1)
        for output in range(size << p["blocks_bits"]):
            owned = output // size == block and (output % size & (row + 1)).bit_count() % 2 == 0
            uniform = Fraction(1, size << p["blocks_bits"])
            yield pack(fields, [output]), (1 - keep) * uniform + keep * owned * Fraction(2, size)
    elif metric.mechanism == "projective-geometry-response":
        keep, points = probability(metric), points_in(p["order"], p["dimension"])
        at = [coordinates(i, p["order"], p["dimension"]) for i in range(points)]
        own = at[metric.values.index(value)]
        orthogonal = [sum(map(operator.mul, own, each)) % p["order"] == 0 for each in at]
        for point in range(points):
            chance = (1 - keep) / points + keep * orthogonal[point] * Fraction(1, sum(orthogonal))
            yield pack(fields, [point]), chance
    elif metric.mechanism == "hierarchical-histogram":
        levels = 1 << p["levels_bits"]
        for level in range(levels):
            shape = at_level(p, level)
            order, dimension = shape["order"], shape["dimension"]
            keep, points = Fraction(shape["threshold"], 1 << shape["precision"]), points_in(order, dimension)
            at = [coordinates(i, order, dimension) for i in range(points)]
            node = range_bucket(metric, value) * shape["domain"] >> p["buckets_bits"]
            orthogonal = [sum(map(operator.mul, at[point_of(node, points)], each)) % order == 0 for each in at]
            for point in range(points):
                chance = (1 - keep) / points + keep * orthogonal[point] * Fraction(1, sum(orthogonal))
                yield pack(fields, [level, point]), chance / levels
    elif metric.mechanism == "local-hashing":
        keep, hashes, width = probability(metric), 1 << p["hashes_bits"], 1 << p["width_bits"]
        for j, cell in itertools.product(range(hashes), range(width)):
            yield pack(fields, [j, cell]), ((1 - keep) / width + keep * (cell == place(metric, value, j))) / hashes
    elif metric.mechanism == "prefix-extending-method":
        keep, width = probability(metric), 1 << p["width_bits"]
        slots, families = 1 << p["slots_bits"], 1 << p["families_bits"]
        functions = width ** (p["dimension"] - 1)
        for slot, family, f in itertools.product(range(slots), range(families), range(functions)):
            item = item_of(metric, value, slot, family)
            for cell in range(width):
                hit = cell == linear(item, f, p["width_bits"], p["dimension"])
                chance = (1 - keep) / width + keep * hit
                yield pack(fields, [slot, family, f, cell]), chance / (slots * families * functions)
    elif metric.mechanism == "sequence-fragment-puzzle":
        data, positions = value.encode(), 1 << p["positions_bits"]
        salt, bits = p["fragment_salt"], p["fragment_width_bits"]
        whole, fragment = whole_part(p).parameters, fragment_part(p).parameters
        hashes, functions = 1 << p["hashes_bits"], positions << p["fragment_hashes_bits"]
        for j, function in itertools.product(range(hashes), range(functions)):
            cut = fragment_at(data, function % positions, p["fragment_bytes"])
            key = item_key(fragment_item(cut, puzzle_piece(data, p)), salt)
            for first, chance in kept(whole, place(metric, value, j)):
                for second, other in kept(fragment, bucket(key, salt, function, bits)):
                    cells = [j, first, function % positions, function // positions, second]
                    yield pack(fields, cells), chance * other / hashes / functions
    elif metric.mechanism == "subset-selection":
        keep, size = probability(metric), p["size"]
        for chosen in itertools.combinations(range(p["domain"]), size):
            if metric.values.index(value) in chosen:
                chance = keep / math.comb(p["domain"] - 1, size - 1)
            else:
                chance = (1 - keep) / math.comb(p["domain"] - 1, size)
            yield pack(fields, [sum(1 << i for i in chosen)]), chance
    elif metric.mechanism == "count-mean-sketch":
        flip, hashes, width = probability(metric), 1 << p["hashes_bits"], 1 << p["width_bits"]
        for j in range(hashes):
            held = [1 - flip if cell == place(metric, value, j) else flip for cell in range(width)]
            yield from _bit_vectors(fields, [j], held, Fraction(1, hashes))
    else:
        flip, hashes, width = probability(metric), 1 << p["hashes_bits"], 1 << p["width_bits"]
        for j, row, bit in itertools.product(range(hashes), range(width), range(2)):
            entry = (row & place(metric, value, j)).bit_count() % 2
            yield pack(fields, [j, row, bit]), (flip if bit != entry else 1 - flip) / (hashes * width)


def _bit_vectors(
    fields: list[tuple[str, int, int]], first: list[int], ones: Sequence[Fraction], weight: Fraction
) -> Iterator[tuple[bytes, Fraction]]:
    for bits in itertools.product(range(2), repeat=len(ones)):
        chance = weight
        for bit, one in zip(bits, ones, strict=True):
            chance *= one if bit else 1 - one
        yield pack(fields, [*first, sum(bit << i for i, bit in enumerate(bits))]), chance


def as_records(records: Sequence[bytes]) -> Records:
    """Records as the decoder takes them."""
    return np.frombuffer(b"".join(records), np.uint8).reshape(len(records), -1)


def encode(metric: Metric, values: Sequence[str], seed: int) -> Records:
    """One report of one new device for each of ``values``, by the client's own encoder with a seeded byte source."""
    source = random.Random(seed)
    encoder = import_module(f"hubbub_client.mechanisms.{module_name(metric.mechanism)}").Encoder
    return as_records(
        [encoder(metric.device, source.randbytes(32)).encode(value.encode(), source.randbytes) for value in values]
    )


def random_records(metric: Metric, n: int, seed: int) -> Records:
    """``n`` records that ``metric`` may produce, each field uniform."""
    source = np.random.default_rng(seed)
    fields = metric.device.fields
    return (
        as_records(
            [
                pack(
                    fields,
                    [
                        int.from_bytes(source.bytes(bits // 8 + 1), "little") % (domain or 1 << bits)
                        for _, bits, domain in fields
                    ],
                )
                for _ in range(n)
            ]
        ).reshape(n, metric.device.record_bytes)
        if n
        else np.zeros((0, metric.device.record_bytes), np.uint8)
    )


def seal(
    data: Path,
    metric: Metric,
    records: npt.NDArray[np.uint8],
    period: int = 20000,
    number: int = 1,
    rows: int = 1 << 20,
) -> Path:
    """Writes one committed part of a sealed data set, in row groups of ``rows``; returns the path of its manifest."""
    folder = data / "sealed" / metric.name / metric.fingerprint.hex() / str(period)
    folder.mkdir(parents=True, exist_ok=True)
    width = metric.device.record_bytes
    column = pa.FixedSizeBinaryArray.from_buffers(
        pa.binary(width), len(records), [None, pa.py_buffer(np.ascontiguousarray(records))]
    )
    file = folder / f"{number:05}.parquet"
    pq.write_table(pa.table({"record": column}), file, use_dictionary=False, row_group_size=rows)
    manifest = {
        "schema": 1,
        "namespace": "org.example.test",
        "metric": metric.name,
        "mechanism": metric.mechanism,
        "fingerprint": metric.fingerprint.hex(),
        "period": period,
        "period_seconds": metric.period,
        "period_start": f"{datetime.datetime.fromtimestamp(period * metric.period, datetime.UTC):%Y-%m-%dT%H:%M:%SZ}",
        "records": len(records),
        "record_bytes": width,
        "file": file.name,
        "file_bytes": file.stat().st_size,
        "sha256": hashlib.sha256(file.read_bytes()).hexdigest(),
        "entry": dict(metric.entry),
    }
    path = file.with_suffix(".json")
    path.write_text(json.dumps(manifest))
    return path
