"""How each mechanism's encoder consumes its random bytes: the one thing the exact audit is told.

A description that is wrong makes the audit fail, and cannot make it pass: every bit of the input belongs to a part or
must be shown to play no role, and what a part does to the output is found by running the encoder.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from hubbub_registry import Metric
from hubbub_simulations.audit.errors import AuditError
from hubbub_simulations.audit.noise import SOURCE, Layout, Part

_RAPPOR_PERMANENT = "hubbub rappor prr"
_MEAN_PERMANENT = "hubbub mean bit"
_FLIP_PERMANENT = "hubbub flip bits"


def layout_of(metric: Metric) -> Layout:
    """The description of the metric's encoder. Raises AuditError for a mechanism that has none."""
    found = _LAYOUTS.get(metric.mechanism)
    if found is None:
        raise AuditError(
            f"metric {metric.name}: there is no description of how {metric.mechanism} consumes its random bytes; "
            "use --empirical"
        )
    return found(metric.device.parameters)


def _bytes(bits: int) -> int:
    return (bits + 7) // 8


def _lanes(channel: str, at_byte: int, lanes: int, precision: int) -> Part:
    return Part(channel, 8 * at_byte, precision, lanes, ordered=True)


def _randomized_response(p: Mapping[str, int]) -> Layout:
    keep = Part(SOURCE, 0, p["precision"], ordered=True)
    uniform = Part(SOURCE, keep.end, p["uniform_bits"], ordered=True)
    return Layout({SOURCE: _bytes(uniform.end)}, (), (keep, uniform))


def _hadamard_response(p: Mapping[str, int]) -> Layout:
    keep = Part(SOURCE, 0, p["precision"], ordered=True)
    element = Part(SOURCE, keep.end, p["blocks_bits"] + p["size_bits"])
    return Layout({SOURCE: _bytes(element.end)}, (), (keep, element))


def _hadamard_count_mean_sketch(p: Mapping[str, int]) -> Layout:
    flip = Part(SOURCE, 0, p["precision"], ordered=True)
    row = Part(SOURCE, flip.end, p["width_bits"])
    number = Part(SOURCE, row.end, p["hashes_bits"])
    return Layout({SOURCE: _bytes(number.end)}, (("row", row), ("hash", number)), (flip,))


def _local_hashing(p: Mapping[str, int]) -> Layout:
    keep = Part(SOURCE, 0, p["precision"], ordered=True)
    anywhere = Part(SOURCE, keep.end, p["width_bits"])
    number = Part(SOURCE, anywhere.end, p["hashes_bits"])
    return Layout({SOURCE: _bytes(number.end)}, (("hash", number),), (keep, anywhere))


def _sequence_fragment_puzzle(p: Mapping[str, int]) -> Layout:
    keep = Part(SOURCE, 0, p["precision"], ordered=True)
    anywhere = Part(SOURCE, keep.end, p["width_bits"])
    number = Part(SOURCE, anywhere.end, p["hashes_bits"])
    fragment_keep = Part(SOURCE, 8 * _bytes(number.end), p["fragment_precision"], ordered=True)
    fragment_anywhere = Part(SOURCE, fragment_keep.end, p["fragment_width_bits"])
    position = Part(SOURCE, fragment_anywhere.end, p["positions_bits"])
    fragment_number = Part(SOURCE, position.end, p["fragment_hashes_bits"])
    public = (("hash", number), ("position", position), ("fragment_hash", fragment_number))
    return Layout(
        {SOURCE: _bytes(fragment_number.end)}, public, (keep, anywhere, fragment_keep, fragment_anywhere)
    )  # fmt: skip


def _prefix_extending_method(p: Mapping[str, int]) -> Layout:
    keep = Part(SOURCE, 0, p["precision"], ordered=True)
    anywhere = Part(SOURCE, keep.end, p["width_bits"])
    slot = Part(SOURCE, anywhere.end, p["slots_bits"])
    family = Part(SOURCE, slot.end, p["families_bits"])
    function = Part(SOURCE, family.end, p["width_bits"] * (p["dimension"] - 1))
    public = (("slot", slot), ("family", family), ("function", function))
    return Layout({SOURCE: _bytes(function.end)}, public, (keep, anywhere))


def _subset_selection(p: Mapping[str, int]) -> Layout:
    keep = Part(SOURCE, 0, p["precision"], ordered=True)
    first, step = 8 * _bytes(keep.end), 8 * _bytes(p["draw_bits"])
    least = p["domain"] - p["size"]
    draws = [Part(SOURCE, first + i * step, p["draw_bits"], ordered=True, results=least + i) for i in range(p["size"])]
    return Layout({SOURCE: _bytes(draws[-1].end)}, (), (keep, *draws))


def _count_mean_sketch(p: Mapping[str, int]) -> Layout:
    number = Part(SOURCE, 0, p["hashes_bits"])
    flips = _lanes(SOURCE, _bytes(number.end), 1 << p["width_bits"], p["precision"])
    return Layout({SOURCE: _bytes(flips.end)}, (("hash", number),), (flips,), "row")


def _unary_encoding(p: Mapping[str, int]) -> Layout:
    others = _lanes(SOURCE, 0, p["domain"], p["precision"])
    fair = _lanes(SOURCE, _bytes(others.end), p["domain"], 1)
    return Layout({SOURCE: _bytes(fair.end)}, (), (others, fair), "bits")


def _rappor(p: Mapping[str, int]) -> Layout:
    if not p["irr_precision"]:  # one-time: the only noise is new in every report
        once = _lanes(SOURCE, 0, p["bits"], p["prr_precision"])
        return Layout({SOURCE: _bytes(once.end)}, (), (once,), "bits")
    permanent = _lanes(_RAPPOR_PERMANENT, 0, p["bits"], p["prr_precision"])
    instantaneous = _lanes(SOURCE, 0, p["bits"], p["irr_precision"])
    channels = {_RAPPOR_PERMANENT: _bytes(permanent.end), SOURCE: _bytes(instantaneous.end)}
    return Layout(channels, (), (permanent, instantaneous), "bits")


def _one_bit_mean(p: Mapping[str, int]) -> Layout:
    end = Part(_MEAN_PERMANENT, 0, p["end_bits"], ordered=True)
    flip = Part(_MEAN_PERMANENT, end.end, p["precision"], ordered=True)
    perturbation = Part(SOURCE, 0, p["perturbation_bits"], ordered=True)
    channels = {_MEAN_PERMANENT: _bytes(flip.end), SOURCE: _bytes(perturbation.end)}
    return Layout(channels, (), (end, flip, perturbation))


def _d_bit_flip(p: Mapping[str, int]) -> Layout:
    permanent = _lanes(_FLIP_PERMANENT, 0, p["bits"], p["precision"])
    perturbation = _lanes(SOURCE, 0, p["bits"], p["perturbation_bits"])
    channels = {_FLIP_PERMANENT: _bytes(permanent.end), SOURCE: _bytes(perturbation.end)}
    return Layout(channels, (), (permanent, perturbation), "bits")


def _hierarchical_histogram(p: Mapping[str, int]) -> Layout:
    level = Part(SOURCE, 0, p["levels_bits"])
    keep = Part(SOURCE, level.end, p["precision"], ordered=True)
    uniform = Part(SOURCE, keep.end, p["uniform_bits"], ordered=True)
    return Layout({SOURCE: _bytes(uniform.end)}, (("level", level),), (keep, uniform))


_LAYOUTS: dict[str, Callable[[Mapping[str, int]], Layout]] = {
    "randomized-response": _randomized_response,
    "unary-encoding": _unary_encoding,
    "hadamard-response": _hadamard_response,
    "projective-geometry-response": _randomized_response,
    "local-hashing": _local_hashing,
    "subset-selection": _subset_selection,
    "count-mean-sketch": _count_mean_sketch,
    "hadamard-count-mean-sketch": _hadamard_count_mean_sketch,
    "rappor": _rappor,
    "one-bit-mean": _one_bit_mean,
    "d-bit-flip": _d_bit_flip,
    "hierarchical-histogram": _hierarchical_histogram,
    "prefix-extending-method": _prefix_extending_method,
    "sequence-fragment-puzzle": _sequence_fragment_puzzle,
}
