"""Where a mechanism's integers begin and end to be possible, and how many random bytes they ask for: to the one."""

from __future__ import annotations

from fractions import Fraction
from typing import Any
from unittest import mock

import pytest

from hubbub_client.errors import PlanError
from hubbub_client.mechanisms import one_bit_mean, rappor
from hubbub_client.permanent_bit import bit_ratio, permanent_bit_ratio
from hubbub_client.plan import mechanism

from tests.client.distribution import device_metric, encoder_of

FLIP = {"threshold": 3, "precision": 3}
GEOMETRY = {"order": 3, "dimension": 3, "uniform_bits": 20, "domain": 5, "threshold": 3, "precision": 3}
FILTER: dict[str, int] = {
    "bits": 8, "bits_bits": 3, "hashes": 2, "cohorts": 4, "salt": 7, "prr_threshold": 2, "prr_precision": 3,
    "irr_q": 6, "irr_p": 3, "irr_precision": 3,
}  # fmt: skip
MEAN = {"threshold": 2, "precision": 3, "perturbation": 0, "perturbation_bits": 0, "points": 2, "span": 1}
FLIPS = {"threshold": 2, "precision": 3, "perturbation": 0, "perturbation_bits": 0, "bits": 1, "buckets": 1, "span": 0}
TREE = {
    "span": 3, "buckets_bits": 2, "levels_bits": 1, "precision": 3, "uniform_bits": 20, "order_0": 3, "dimension_0": 2,
    "threshold_0": 3, "order_1": 3, "dimension_1": 2, "threshold_1": 3,
}  # fmt: skip
SKETCH = {"hashes_bits": 0, "width_bits": 1, "salt": 7, "threshold": 4, "precision": 3}

HASHING = {"hashes_bits": 0, "width_bits": 2, "salt": 7, "threshold": 3, "precision": 3}
PUZZLE = {
    **HASHING, "positions_bits": 1, "fragment_bytes": 1, "piece_bits": 4, "fragment_hashes_bits": 0,
    "fragment_width_bits": 2, "fragment_threshold": 3, "fragment_precision": 3, "fragment_salt": 8,
}  # fmt: skip
PREFIXES = {
    "levels": 2, "first": 3, "step": 2, "slots_bits": 2, "families_bits": 0, "dimension": 2, "width_bits": 2,
    "threshold": 3, "precision": 3, "salt": 7,
}  # fmt: skip
SET = {"domain": 5, "size": 2, "draw_bits": 5, "threshold": 4, "precision": 3}

# Mechanism, integers at an edge, how many values a plan lists with them, and the change that goes past the edge.
EDGES: list[tuple[str, dict[str, int], int, dict[str, int], str]] = [
    ("randomized-response", {"domain": 2, **FLIP}, 2, {"domain": 1}, "fewer than two values"),
    ("randomized-response", {"domain": 2, "threshold": 7, "precision": 3}, 2, {"threshold": 8}, "of 8 is no prob"),
    ("randomized-response", {"domain": 2, "threshold": 1, "precision": 3}, 2, {"threshold": 0}, "of 0 is no prob"),
    ("unary-encoding", {"domain": 2, **FLIP}, 2, {"domain": 1}, "fewer than two values"),
    ("unary-encoding", {"domain": 2, "threshold": 4, "precision": 3}, 2, {"threshold": 5}, "of 5 at 3 bits"),
    ("hadamard-response", {"domain": 2, "size_bits": 2, "blocks_bits": 0, **FLIP}, 2, {"domain": 1}, "fewer than two"),
    ("hadamard-response", {"domain": 3, "size_bits": 2, "blocks_bits": 0, **FLIP}, 3, {"domain": 4}, "4 values do not"),
    ("hadamard-response", {"domain": 6, "size_bits": 2, "blocks_bits": 1, **FLIP}, 6, {"domain": 7}, "7 values do not"),
    ("projective-geometry-response", {**GEOMETRY, "domain": 13}, 13, {"domain": 14}, "14 values are none"),
    ("projective-geometry-response", {**GEOMETRY, "domain": 2}, 2, {"domain": 1}, "1 values are none"),
    ("projective-geometry-response", {**GEOMETRY, "uniform_bits": 4}, 5, {"uniform_bits": 3}, "too few random bits"),
    ("projective-geometry-response", {**GEOMETRY, "order": 2, "dimension": 4}, 5, {"order": 1}, "order of 1 is no"),
    ("projective-geometry-response", {**GEOMETRY, "order": 2, "dimension": 20, "uniform_bits": 20}, 5,
     {"dimension": 21}, "more than there are points"),
    ("projective-geometry-response", {**GEOMETRY, "dimension": 2, "domain": 4, "uniform_bits": 2}, 4,
     {"uniform_bits": 1}, "too few random bits"),
    ("projective-geometry-response", {**GEOMETRY, "order": 3, "dimension": 13, "uniform_bits": 24}, 5,
     {"order": 11, "dimension": 7}, "more than there are points"),
    ("projective-geometry-response", {**GEOMETRY, "order": 7, "dimension": 2}, 5, {"dimension": 1}, "5 values are"),
    *(
        ("projective-geometry-response", {**GEOMETRY, "order": prime, "dimension": 2}, 5, {"order": product},
         f"order of {product} is no prime")
        for prime, product in ((5, 4), (11, 9), (23, 25), (1021, 1024), (1019, 961), (31, 1023), (37, 1027), (13, 1031))
    ),
    ("local-hashing", {**HASHING, "threshold": 7}, 0, {"threshold": 8}, "of 8 is no prob"),
    ("local-hashing", {**HASHING, "threshold": 1}, 0, {"threshold": 0}, "of 0 is no prob"),
    ("sequence-fragment-puzzle", {**PUZZLE, "threshold": 7}, 0, {"threshold": 8}, "of 8 is no prob"),
    ("sequence-fragment-puzzle", {**PUZZLE, "fragment_threshold": 7}, 0, {"fragment_threshold": 8}, "of 8 is no prob"),
    ("sequence-fragment-puzzle", {**PUZZLE, "fragment_threshold": 1}, 0, {"fragment_threshold": 0}, "of 0 is no prob"),
    ("sequence-fragment-puzzle", PUZZLE, 0, {"fragment_bytes": 0}, "fragments of 0 bytes"),
    ("sequence-fragment-puzzle", {**PUZZLE, "fragment_bytes": 16}, 0, {"fragment_bytes": 17}, "fragments of 17 bytes"),
    ("sequence-fragment-puzzle", {**PUZZLE, "piece_bits": 32}, 0, {"piece_bits": 33}, "a piece of 33 bits"),
    ("prefix-extending-method", {**PREFIXES, "threshold": 7}, 0, {"threshold": 8}, "of 8 is no prob"),
    ("prefix-extending-method", {**PREFIXES, "threshold": 1}, 0, {"threshold": 0}, "of 0 is no prob"),
    ("prefix-extending-method", {**PREFIXES, "width_bits": 1}, 0, {"width_bits": 0}, "items of 2 coordinates of 0"),
    ("prefix-extending-method", {**PREFIXES, "width_bits": 8}, 0, {"width_bits": 9}, "items of 2 coordinates of 9"),
    ("prefix-extending-method", PREFIXES, 0, {"dimension": 1}, "items of 1 coordinates"),
    ("prefix-extending-method", {**PREFIXES, "dimension": 12}, 0, {"dimension": 13}, "items of 13 coordinates"),
    ("prefix-extending-method", {**PREFIXES, "levels": 3}, 0, {"levels": 4}, "4 levels leave no slot"),
    ("prefix-extending-method", {**PREFIXES, "levels": 1}, 0, {"levels": 0}, "0 levels leave no slot"),
    ("prefix-extending-method", {**PREFIXES, "slots_bits": 8}, 0, {"slots_bits": 9}, "2 levels leave no slot"),
    ("prefix-extending-method", {**PREFIXES, "first": 1}, 0, {"first": 0}, "beginnings of 2 bytes"),
    ("prefix-extending-method", {**PREFIXES, "step": 1}, 0, {"step": 0}, "beginnings of 3 bytes"),
    ("prefix-extending-method", {**PREFIXES, "first": 62}, 0, {"first": 63}, "beginnings of 65 bytes"),
    ("subset-selection", {**SET, "threshold": 7}, 5, {"threshold": 8}, "of 8 is no prob"),
    ("subset-selection", SET, 5, {"threshold": 3}, "in its set less often"),  # 2 of 5 is 3.2 / 8
    ("subset-selection", {**SET, "domain": 4}, 4, {"threshold": 3}, "in its set less often"),  # exactly half
    ("subset-selection", {**SET, "size": 1}, 5, {"size": 0}, "a set of 0 among 5"),
    ("subset-selection", {**SET, "size": 4, "threshold": 7}, 5, {"size": 5}, "a set of 5 among 5"),
    ("subset-selection", {**SET, "size": 4, "threshold": 7}, 5, {"size": 6}, "a set of 6 among 5"),
    ("subset-selection", {**SET, "domain": 2, "size": 1}, 2, {"domain": 1}, "a set of 1 among 1"),
    ("subset-selection", {**SET, "domain": 1024, "draw_bits": 20}, 1024, {"domain": 1025}, "a set of 2 among 1025"),
    ("subset-selection", {**SET, "draw_bits": 4}, 5, {"draw_bits": 3}, "too few random bits"),  # 8 // 4 is 2
    ("subset-selection", {**SET, "draw_bits": 4}, 5, {"draw_bits": 2}, "too few random bits"),
    ("count-mean-sketch", SKETCH, 0, {"threshold": 5}, "not at most one half"),
    ("hadamard-count-mean-sketch", SKETCH, 0, {"threshold": 0}, "not at most one half"),
    ("one-bit-mean", MEAN, 0, {"points": 1}, "a range without two ends"),
    ("one-bit-mean", MEAN, 0, {"span": 0}, "a range without two ends"),
    ("one-bit-mean", MEAN, 0, {"threshold": 5}, "not at most one half"),
    ("one-bit-mean", MEAN, 0, {"perturbation": 1}, "a perturbation of no bits"),
    ("one-bit-mean", {**MEAN, "perturbation": 1, "perturbation_bits": 1}, 0, {"perturbation": 2}, "not at most one"),
    ("d-bit-flip", FLIPS, 0, {"bits": 0}, "0 bits of 1 buckets"),
    ("d-bit-flip", FLIPS, 0, {"bits": 2}, "2 bits of 1 buckets"),
    ("d-bit-flip", FLIPS, 0, {"buckets": 2}, "1 bits of 2 buckets"),
    ("d-bit-flip", {**FLIPS, "span": 1, "buckets": 2, "bits": 2}, 0, {"buckets": 3}, "2 bits of 3 buckets"),
    ("hierarchical-histogram", TREE, 0, {"span": 2}, "more than the range has integers"),
    ("hierarchical-histogram", {**TREE, "buckets_bits": 1, "levels_bits": 0}, 0, {"buckets_bits": 0}, "are none"),
    ("hierarchical-histogram", {**TREE, "buckets_bits": 16, "span": 1 << 17, "order_0": 41, "dimension_0": 3,
      "order_1": 41, "dimension_1": 4}, 0, {"buckets_bits": 17}, r"2\*\*17 buckets"),
    ("hierarchical-histogram", TREE, 0, {"levels_bits": 2}, "more levels than halvings"),
    ("hierarchical-histogram", {**TREE, "buckets_bits": 2, "levels_bits": 1}, 0, {"levels_bits": 5}, "more levels"),
    ("hierarchical-histogram", TREE, 0, {"order_1": 2}, "none, or more than there are points"),
    ("hierarchical-histogram", {**TREE, "threshold_0": 7}, 0, {"threshold_0": 8}, "of 8 is no prob"),
    ("hierarchical-histogram", {**TREE, "uniform_bits": 2}, 0, {"uniform_bits": 1}, "too few random bits"),
    ("rappor", FILTER, 0, {"cohorts": 0}, "0 cohorts"),
    ("rappor", {**FILTER, "cohorts": 1 << 16}, 0, {"cohorts": (1 << 16) + 1}, "65537 cohorts"),
    ("rappor", {**FILTER, "cohorts": 1}, 0, {"bits_bits": 4}, "a filter of 8 bits"),
    ("rappor", {**FILTER, "bits": 512, "bits_bits": 9}, 0, {"bits_bits": 8}, "a filter of 512 bits"),
    ("rappor", FILTER, 0, {"bits_bits": 2}, "a filter of 8 bits"),
    ("rappor", {**FILTER, "irr_p": 5}, 0, {"irr_p": 6}, "p is not below q"),
    ("rappor", {**FILTER, "irr_q": 7}, 0, {"irr_q": 8}, "no probability"),
    ("rappor", {**FILTER, "irr_p": 1}, 0, {"irr_p": 0}, "no probability"),
    ("rappor", {**FILTER, "prr_threshold": 4}, 0, {"prr_threshold": 5}, "not at most one half"),
    ("rappor", {**FILTER, "hashes": 0, "bits": 2}, 2, {"bits": 1}, "fewer than two values"),
    ("rappor", {**FILTER, "irr_precision": 0, "irr_q": 0, "irr_p": 0}, 0, {"prr_threshold": 0}, "not at most one half"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "edge", "values", "change", "message"), EDGES)
def test_the_last_possible_integers_pass_and_the_next_do_not(
    name: str, edge: dict[str, int], values: int, change: dict[str, int], message: str
) -> None:
    """At an edge ``domain_of`` gives the number of values that a plan lists; one past it, it says what is wrong."""
    module = mechanism(name)
    assert module.domain_of(edge) == values
    with pytest.raises(ValueError, match=message):
        module.domain_of({**edge, **change})


# Mechanism, integers, fields, values, and the random bits of one report, rounded up to bytes part by part.
READS: list[tuple[str, dict[str, int], list[list[Any]], int, int]] = [
    *(("randomized-response", {"domain": 3, "uniform_bits": u, "threshold": 1, "precision": 4}, [["index", 2, 3]], 3, b)
      for u, b in ((11, 2), (12, 2), (13, 3))),
    *(("unary-encoding", {"domain": d, "threshold": 1, "precision": 3}, [["bits", d, 0]], d, b)
      for d, b in ((7, 4), (8, 4), (9, 8))),
    *(("hadamard-response", {"domain": 3, "blocks_bits": 1, "size_bits": 2, "threshold": 1, "precision": p},
       [["index", 3, 0]], 3, b) for p, b in ((4, 1), (5, 1), (6, 2))),
    *(("projective-geometry-response", {**GEOMETRY, "uniform_bits": u}, [["point", 4, 13]], 5, b)
      for u, b in ((20, 3), (21, 3), (22, 4))),
    *(("local-hashing", {**HASHING, "hashes_bits": h}, [["hash", h, 0], ["bucket", 2, 0]], 0, b)
      for h, b in ((2, 1), (3, 1), (4, 2))),
    *(("sequence-fragment-puzzle", {**PUZZLE, "hashes_bits": h, "fragment_hashes_bits": k},
       [["hash", h, 0], ["bucket", 2, 0], ["position", 1, 0], ["fragment_hash", k, 0], ["fragment_bucket", 2, 0]], 0, b)
      for h, k, b in ((3, 2, 2), (4, 2, 3), (3, 3, 3))),
    *(("prefix-extending-method", {**PREFIXES, "families_bits": h, "dimension": d},
       [["slot", 2, 0], ["family", h, 0], ["function", 2 * d - 2, 0], ["bucket", 2, 0]], 0, b)
      for h, d, b in ((0, 2, 2), (7, 2, 2), (8, 2, 3), (1, 5, 2), (2, 5, 3))),
    *(("subset-selection", {**SET, "draw_bits": u, "precision": p, "threshold": 1 << (p - 1)}, [["bits", 5, 0]], 5, b)
      for u, p, b in ((7, 7, 3), (8, 8, 3), (9, 8, 5), (8, 9, 4))),
    *(("count-mean-sketch", {**SKETCH, "hashes_bits": h, "width_bits": 3}, [["hash", h, 0], ["row", 8, 0]], 0, b)
      for h, b in ((0, 3), (1, 4), (8, 4), (9, 5))),
    *(("hadamard-count-mean-sketch", {**SKETCH, "hashes_bits": h, "width_bits": 3},
       [["hash", h, 0], ["row", 3, 0], ["bit", 1, 0]], 0, b) for h, b in ((1, 1), (2, 1), (3, 2))),
    *(("one-bit-mean", {**MEAN, "low": 0, "below_zero": 0, "alpha_bits": 65, "end_bits": 65, "perturbation": p and 1,
                        "perturbation_bits": p}, [["bit", 1, 0]], 0, b) for p, b in ((0, 0), (1, 1), (8, 1), (9, 2))),
    *(("hierarchical-histogram", {**TREE, "low": 0, "below_zero": 0, "uniform_bits": u},
       [["level", 1, 0], ["point", 2, 0]], 0, b) for u, b in ((20, 3), (21, 4), (28, 4))),
    *(("rappor", {**FILTER, "irr_precision": p, "irr_q": p and 1 << (p - 1), "irr_p": p and 1},
       [["cohort", 2, 0], ["bits", 8, 0]], 0, b) for p, b in ((0, 3), (2, 2), (5, 5))),
]  # fmt: skip


@pytest.mark.parametrize(("name", "parameters", "fields", "values", "count"), READS)
def test_a_report_reads_just_so_many_random_bytes(
    name: str, parameters: dict[str, int], fields: list[list[Any]], values: int, count: int
) -> None:
    """``random_bytes`` is the bits of noise in whole bytes, and no byte more."""
    assert encoder_of(device_metric(name, parameters, fields, values)).random_bytes == count


@pytest.mark.parametrize(("bits", "count"), [(7, 1), (8, 1), (9, 2), (65, 9), (72, 9)])
def test_an_offset_is_drawn_from_just_so_many_bytes(bits: int, count: int) -> None:
    """The mean's rounding offset is uniform over the span, from that many pseudorandom bits in whole bytes."""
    parameters = {**MEAN, "span": 5, "low": 0, "below_zero": 0, "alpha_bits": bits, "end_bits": 65}
    metric = device_metric("one-bit-mean", parameters, [["bit", 1, 0]])
    for offset in range(5):
        for number in (-(-(offset << bits) // 5), -(-((offset + 1) << bits) // 5) - 1):
            drawn = (number | (1 << 8 * count) - (1 << bits)).to_bytes(count, "little")
            with mock.patch.object(one_bit_mean, "expand", return_value=drawn) as expand:
                assert one_bit_mean.alpha_of(metric, b"s" * 32) == offset
            assert expand.call_args.args == (b"s" * 32, b"hubbub mean alpha", metric.fingerprint, count)


@pytest.mark.parametrize(("end_bits", "precision", "count"), [(65, 6, 9), (65, 7, 9), (65, 8, 10)])
def test_a_point_s_noise_is_just_so_many_bytes(end_bits: int, precision: int, count: int) -> None:
    """The mean's permanent noise is drawn in whole bytes, for the end of the range and the flip together."""
    parameters = {**MEAN, "low": 0, "below_zero": 0, "alpha_bits": 65, "end_bits": end_bits, "precision": precision}
    encoder = encoder_of(device_metric("one-bit-mean", parameters, [["bit", 1, 0]]))
    with mock.patch.object(one_bit_mean, "expand", return_value=bytes(count)) as expand:
        encoder.encode(b"0", bytes)
    assert expand.call_args.args[-1] == count


@pytest.mark.parametrize("cohorts", [1, 3, 4, 1000])
def test_a_cohort_is_uniform_over_all_of_them(cohorts: int) -> None:
    """The first and the last number that stand for a cohort give it, from twelve pseudorandom bytes."""
    parameters = {**FILTER, "cohorts": cohorts}
    bits = (cohorts - 1).bit_length()
    metric = device_metric(
        "rappor", parameters, [["cohort", bits, 0 if cohorts == 1 << bits else cohorts], ["bits", 8, 0]]
    )
    for cohort in {0, 1 % cohorts, cohorts - 1}:
        for number in (-(-(cohort << 96) // cohorts), -(-((cohort + 1) << 96) // cohorts) - 1):
            with mock.patch.object(rappor, "expand", return_value=number.to_bytes(12, "little")) as expand:
                assert rappor.cohort_of(metric, b"s" * 32) == cohort
            assert expand.call_args.args == (b"s" * 32, b"hubbub rappor cohort", metric.fingerprint, 12)


def test_the_stated_ratio_of_a_projective_geometry_is_its_formula() -> None:
    """1 + a o / ((1 - a) u), with one owned point (all of the draws) and with four of thirteen, to the last unit."""
    line = {**GEOMETRY, "order": 3, "dimension": 2, "uniform_bits": 4, "threshold": 3, "precision": 3}
    assert Fraction(*mechanism("projective-geometry-response").worst_ratio(line)) == 1 + Fraction(3 * 16, 5 * 4)
    space = {**line, "dimension": 3, "uniform_bits": 5}
    assert Fraction(*mechanism("projective-geometry-response").worst_ratio(space)) == 1 + Fraction(3 * 8, 5 * 2)
    odd = {**line, "order": 2, "dimension": 3, "uniform_bits": 4}
    assert Fraction(*mechanism("projective-geometry-response").worst_ratio(odd)) == 1 + Fraction(3 * 6, 5 * 2)


def test_the_stated_ratio_of_subset_selection_is_its_formula() -> None:
    """a (d - w) / ((1 - a) w) times L / (L - w), with L the inputs of a draw's rarest result, to the last unit."""
    assert Fraction(*mechanism("subset-selection").worst_ratio(SET)) == Fraction(4 * 3, 4 * 2) * Fraction(8, 6)
    odd = {"domain": 4, "size": 1, "draw_bits": 4, "threshold": 5, "precision": 3}
    assert Fraction(*mechanism("subset-selection").worst_ratio(odd)) == Fraction(5 * 3, 3 * 1) * Fraction(5, 4)


@pytest.mark.parametrize(("flip", "precision"), [(1, 1), (1, 3), (3, 3), (511, 10)])
def test_a_permanent_bit_shows_its_formula(flip: int, precision: int) -> None:
    """(1-r) / r without end, and after t reports the ratio of all ones, by the definition."""
    bit = {"threshold": flip, "precision": precision, "perturbation": 1, "perturbation_bits": 2}
    r, g = Fraction(flip, 1 << precision), Fraction(1, 4)
    assert Fraction(*permanent_bit_ratio(bit)) == (1 - r) / r
    for reports in (1, 2, 7):
        shown, hidden = (1 - g) ** reports, g**reports
        assert Fraction(*bit_ratio(bit, reports)) == ((1 - r) * shown + r * hidden) / (r * shown + (1 - r) * hidden)


@pytest.mark.parametrize("count", [299, 300, 301])
def test_a_plan_lists_as_many_values_as_its_mechanism_has(count: int) -> None:
    """Of 300 values a plan lists 300: one that lists fewer or more is damaged."""
    parameters = {"domain": 300, "uniform_bits": 128, "threshold": 1, "precision": 128}
    fields = [["index", 9, 300]]
    if count == 300:
        assert len(device_metric("randomized-response", parameters, fields, count).values) == 300
    else:
        with pytest.raises(PlanError, match="damaged"):
            device_metric("randomized-response", parameters, fields, count)


@pytest.mark.parametrize("bits", [1 << 16, (1 << 16) + 1])
def test_a_field_has_65536_bits_at_most(bits: int) -> None:
    """A vector of 65,536 bits is the longest that a plan may have."""
    parameters = {"domain": 5, "threshold": 1, "precision": 3}
    fields = [["bits", bits, 0]]
    if bits == 1 << 16:
        assert device_metric("unary-encoding", parameters, fields, 5).record_bytes == 8192
    else:
        with pytest.raises(PlanError, match="damaged"):
            device_metric("unary-encoding", parameters, fields, 5)
