"""Each encoder whole, at parameters so small that every random input can be tried."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations
from operator import mul

import pytest

from hubbub_client.hashing import bucket, item_key
from hubbub_client.mechanisms import module_name
from hubbub_client.mechanisms.prefix_extending_method import linear, times
from hubbub_client.mechanisms.projective_geometry_response import coordinates, index_of, owned_point, points_in
from hubbub_client.mechanisms.sequence_fragment_puzzle import puzzle_piece
from hubbub_client.plan import Metric, mechanism
from hubbub_client.records import bits_for

from tests.client.distribution import (
    VALUES,
    device_metric,
    encoder_of,
    enumerate_bytes,
    enumerate_rappor,
    words,
    worst_ratio,
)


def stated(metric: Metric) -> Fraction:
    """What the mechanism says of itself."""
    return Fraction(*mechanism(metric.mechanism).worst_ratio(metric.parameters))


def apart(salt: int, indices: range, bits: int, count: int) -> list[bytes]:
    """``count`` values of which no two share a bucket under any of the hash functions ``indices``."""
    found: list[bytes] = []
    for value in VALUES:
        data = value.encode()
        buckets = [bucket(item_key(data, salt), salt, i, bits) for i in indices]
        taken = [[bucket(item_key(one, salt), salt, i, bits) for i in indices] for one in found]
        if len(set(buckets)) == len(buckets) and all(not set(buckets) & set(other) for other in taken):
            found.append(data)
            if len(found) == count:
                return found
    raise AssertionError("choose another salt")


@pytest.mark.parametrize(("domain", "extra", "precision"), [(2, 3, 4), (3, 5, 5), (5, 6, 4), (7, 4, 5), (4, 1, 1)])
def test_randomized_response_leaks_exactly_what_it_states(domain: int, extra: int, precision: int) -> None:
    """Over all random inputs the worst ratio of k-RR equals ``worst_ratio``, the bias of the uniform draw included."""
    uniform_bits = domain.bit_length() + extra
    for threshold in {1, (1 << precision) // 2, (1 << precision) - 1}:
        parameters = {"domain": domain, "uniform_bits": uniform_bits, "threshold": threshold, "precision": precision}
        fields = [["index", (domain - 1).bit_length(), domain]]
        metric = device_metric("randomized-response", parameters, fields, domain)
        inputs = list(words([uniform_bits + precision]))
        encoder = encoder_of(metric)
        found = [enumerate_bytes(encoder, value.encode(), iter(inputs)) for value in VALUES[:domain]]
        assert worst_ratio(found) == stated(metric)


@pytest.mark.parametrize(("domain", "precision"), [(2, 1), (2, 4), (3, 3), (4, 2)])
def test_unary_encoding_leaks_exactly_what_it_states(domain: int, precision: int) -> None:
    """Over all random inputs the worst ratio of OUE equals ``worst_ratio``, every bit of it noised (fault 6)."""
    threshold = max(1, (1 << precision) // 4)
    metric = device_metric(
        "unary-encoding",
        {"domain": domain, "threshold": threshold, "precision": precision},
        [["bits", domain, 0]],
        domain,
    )
    inputs = list(words([domain] * (precision + 1)))
    found = [enumerate_bytes(encoder_of(metric), value.encode(), iter(inputs)) for value in VALUES[:domain]]
    assert worst_ratio(found) == stated(metric)


def sketch(hashes_bits: int, width_bits: int, threshold: int, precision: int) -> dict[str, int]:
    shape = {"hashes_bits": hashes_bits, "width_bits": width_bits, "salt": 11}
    return {**shape, "threshold": threshold, "precision": precision}


@pytest.mark.parametrize(("hashes_bits", "width_bits", "precision"), [(0, 1, 3), (1, 2, 3), (2, 1, 4), (1, 3, 1)])
def test_count_mean_sketch_leaks_exactly_what_it_states(hashes_bits: int, width_bits: int, precision: int) -> None:
    """Over all random inputs the worst ratio of CMS equals ``worst_ratio``, with the hash number."""
    threshold = max(1, (1 << precision) // 3)
    parameters = sketch(hashes_bits, width_bits, threshold, precision)
    width = 1 << width_bits
    metric = device_metric("count-mean-sketch", parameters, [["hash", hashes_bits, 0], ["row", width, 0]])
    inputs = list(words([hashes_bits, *[width] * precision]))
    values = apart(11, range(1), width_bits, 2)
    found = [enumerate_bytes(encoder_of(metric), value, iter(inputs)) for value in values]
    assert worst_ratio(found) == stated(metric)


@pytest.mark.parametrize(("hashes_bits", "width_bits", "precision"), [(0, 1, 6), (1, 2, 8), (3, 3, 5), (2, 5, 7)])
def test_hadamard_sketch_leaks_exactly_what_it_states(hashes_bits: int, width_bits: int, precision: int) -> None:
    """Over all random inputs the worst ratio of HCMS is ``worst_ratio``: e^eps, not e^(eps/2) (fault 3)."""
    threshold = max(1, (1 << precision) // 5)
    parameters = sketch(hashes_bits, width_bits, threshold, precision)
    fields = [["hash", hashes_bits, 0], ["row", width_bits, 0], ["bit", 1, 0]]
    metric = device_metric("hadamard-count-mean-sketch", parameters, fields)
    inputs = list(words([hashes_bits + width_bits + precision]))
    found = [enumerate_bytes(encoder_of(metric), value, iter(inputs)) for value in apart(11, range(1), width_bits, 2)]
    assert worst_ratio(found) == stated(metric)


@pytest.mark.parametrize(
    ("domain", "blocks_bits", "precision"), [(2, 0, 6), (3, 0, 5), (3, 1, 6), (9, 2, 5), (13, 1, 4)]
)
def test_hadamard_response_leaks_exactly_what_it_states(domain: int, blocks_bits: int, precision: int) -> None:
    """Over all random inputs the worst ratio of HR equals ``worst_ratio``, for domains of any size (fault 9)."""
    size_bits = (-(-domain // (1 << blocks_bits))).bit_length()
    parameters = {
        "domain": domain,
        "blocks_bits": blocks_bits,
        "size_bits": size_bits,
        "threshold": 3,
        "precision": precision,
    }
    metric = device_metric("hadamard-response", parameters, [["index", blocks_bits + size_bits, 0]], domain)
    inputs = list(words([blocks_bits + size_bits + precision]))
    found = [enumerate_bytes(encoder_of(metric), value.encode(), iter(inputs)) for value in VALUES[:domain]]
    assert worst_ratio(found) == stated(metric)


def rappor(bits: int, hashes: int, prr: tuple[int, int], irr: tuple[int, int, int], domain: int = 0) -> Metric:
    parameters = {
        "bits": bits, "bits_bits": (bits - 1).bit_length(), "hashes": hashes, "cohorts": 1, "prr_threshold": prr[0],
        "prr_precision": prr[1], "irr_q": irr[0], "irr_p": irr[1], "irr_precision": irr[2], "salt": 12,
    }  # fmt: skip
    return device_metric("rappor", parameters, [["cohort", 0, 0], ["bits", bits, 0]], domain)


@pytest.mark.parametrize(
    ("prr", "irr"), [((1, 2), (3, 2, 2)), ((1, 1), (3, 1, 2)), ((1, 3), (3, 1, 2)), ((3, 3), (3, 1, 2))]
)
def test_basic_rappor_leaks_exactly_what_it_states(prr: tuple[int, int], irr: tuple[int, int, int]) -> None:
    """Over all permanent and instantaneous noise the worst ratio of one-hot RAPPOR's report equals ``worst_ratio``."""
    metric = rappor(2, 0, prr, irr, domain=2)
    permanent, instantaneous = list(words([2] * prr[1])), list(words([2] * irr[2]))
    found = [enumerate_rappor(metric, value.encode(), permanent, instantaneous) for value in VALUES[:2]]
    assert worst_ratio(found) == stated(metric)


def test_bloom_rappor_leaks_exactly_what_it_states_with_two_hashes() -> None:
    """With two hash functions and two values that share no bit, the worst ratio counts both hashes (fault 2)."""
    metric = rappor(4, 2, (1, 2), (3, 2, 2))
    values = apart(12, range(2), 2, 2)
    # Two hashes and four bits: 2**16 inputs of the two noises together.
    found = [enumerate_rappor(metric, value, list(words([4] * 2)), list(words([4] * 2))) for value in values]
    assert worst_ratio(found) == stated(metric)
    assert stated(metric) == stated(rappor(4, 1, (1, 2), (3, 2, 2))) ** 2


@pytest.mark.parametrize("prr", [(1, 2), (3, 4), (1, 1)])
def test_one_time_rappor_leaks_exactly_what_it_states(prr: tuple[int, int]) -> None:
    """Over all random inputs the worst ratio of one-time RAPPOR, which sends the PRR, equals ``worst_ratio``."""
    metric = rappor(3, 0, prr, (0, 0, 0), domain=3)
    inputs = list(words([3] * prr[1]))
    found = [enumerate_bytes(encoder_of(metric), value.encode(), iter(inputs)) for value in VALUES[:3]]
    assert worst_ratio(found) == stated(metric)


def test_the_enumeration_exposes_an_unrandomised_bit() -> None:
    """A mutant of OUE whose last bit is sent as it is has an infinite ratio, and the enumeration says so (fault 6)."""
    metric = device_metric("unary-encoding", {"domain": 3, "threshold": 1, "precision": 2}, [["bits", 3, 0]], 3)
    encoder = encoder_of(metric)
    found = []
    for i, value in enumerate(VALUES[:3]):
        honest = enumerate_bytes(encoder, value.encode(), words([3] * 3))
        mutant: dict[bytes, Fraction] = {}
        for record, probability in honest.items():
            sent = bytes([record[0] & 0b011 | (0b100 if i == 2 else 0)])
            mutant[sent] = mutant.get(sent, Fraction(0)) + probability
        found.append(mutant)
    with pytest.raises(AssertionError, match="epsilon is infinite"):
        worst_ratio(found)


def test_the_enumeration_exposes_a_wrong_statement() -> None:
    """HCMS flipping with the half epsilon of CMS does not pass for the stated ratio (fault 3)."""
    fields = [["hash", 0, 0], ["row", 2, 0], ["bit", 1, 0]]
    honest, mutant = (
        device_metric("hadamard-count-mean-sketch", sketch(0, 2, threshold, 6), fields) for threshold in (12, 6)
    )
    values = apart(11, range(1), 2, 2)
    found = [enumerate_bytes(encoder_of(mutant), value, words([8])) for value in values]
    assert worst_ratio(found) > stated(honest)


@pytest.mark.parametrize(
    ("order", "dimension", "extra", "precision"),
    [(2, 2, 4, 4), (2, 3, 5, 3), (3, 2, 4, 4), (3, 3, 4, 3), (5, 2, 5, 3), (2, 4, 6, 2), (7, 2, 4, 2)],
)
def test_projective_geometry_leaks_no_more_than_it_states(
    order: int, dimension: int, extra: int, precision: int
) -> None:
    """Over all random inputs the worst ratio is at most ``worst_ratio``, and less by the draws' bias at most."""
    points, owned = points_in(order, dimension), points_in(order, dimension - 1)
    uniform_bits = points.bit_length() + extra
    for threshold in {1, (1 << precision) // 2, (1 << precision) - 1}:
        parameters = {
            "domain": points, "order": order, "dimension": dimension, "uniform_bits": uniform_bits,
            "threshold": threshold, "precision": precision,
        }  # fmt: skip
        metric = device_metric(
            "projective-geometry-response", parameters, [["point", bits_for(points), points]], points
        )
        inputs = list(words([uniform_bits + precision]))
        encoder = encoder_of(metric)
        found = worst_ratio([enumerate_bytes(encoder, value.encode(), iter(inputs)) for value in VALUES[:points]])
        bias = (1 + Fraction(points, 1 << uniform_bits)) * (1 + Fraction(owned, 1 << uniform_bits)) ** 2
        assert found <= stated(metric) <= found * bias


@pytest.mark.parametrize(
    ("hashes_bits", "width_bits", "precision"), [(0, 1, 6), (1, 2, 8), (3, 3, 5), (2, 5, 7), (0, 4, 1)]
)
def test_local_hashing_leaks_exactly_what_it_states(hashes_bits: int, width_bits: int, precision: int) -> None:
    """Over all random inputs the worst ratio of local hashing equals ``worst_ratio``, with the hash number."""
    values = apart(11, range(1), width_bits, 2)
    for threshold in {1, (1 << precision) // 2, (1 << precision) - 1}:
        parameters = sketch(hashes_bits, width_bits, threshold, precision)
        fields = [["hash", hashes_bits, 0], ["bucket", width_bits, 0]]
        metric = device_metric("local-hashing", parameters, fields)
        inputs = list(words([hashes_bits + width_bits + precision]))
        found = [enumerate_bytes(encoder_of(metric), value, iter(inputs)) for value in values]
        assert worst_ratio(found) == stated(metric)


def puzzle(
    whole: tuple[int, int, int, int], fragment: tuple[int, int, int, int], positions_bits: int, piece_bits: int = 2
) -> Metric:
    """A puzzle whose reports have these (hashes_bits, width_bits, threshold, precision), with fragments of a byte."""
    shape = {"positions_bits": positions_bits, "fragment_bytes": 1, "piece_bits": piece_bits}
    own = {f"fragment_{key}": number for key, number in sketch(*fragment).items() if key != "salt"}
    fields = [
        ["hash", whole[0], 0], ["bucket", whole[1], 0], ["position", positions_bits, 0],
        ["fragment_hash", fragment[0], 0], ["fragment_bucket", fragment[1], 0],
    ]  # fmt: skip
    return device_metric("sequence-fragment-puzzle", {**sketch(*whole), **shape, **own, "fragment_salt": 12}, fields)


@pytest.mark.parametrize(
    ("whole", "fragment", "positions_bits"),
    [
        ((0, 1, 3, 3), (0, 1, 1, 3), 1),
        ((1, 2, 1, 2), (1, 1, 3, 2), 0),
        ((0, 2, 5, 3), (0, 2, 7, 3), 1),
        ((0, 1, 1, 1), (1, 2, 3, 4), 2),
    ],
)
def test_the_puzzle_leaks_exactly_what_it_states(
    whole: tuple[int, int, int, int], fragment: tuple[int, int, int, int], positions_bits: int
) -> None:
    """Over all random inputs the worst ratio equals ``worst_ratio``, of both reports with all that they send."""
    metric = puzzle(whole, fragment, positions_bits)
    sizes = [whole[0] + whole[1] + whole[3], fragment[0] + fragment[1] + fragment[3] + positions_bits]
    found = [enumerate_bytes(encoder_of(metric), value.encode(), words(sizes)) for value in VALUES[:12]]
    assert worst_ratio(found) == stated(metric)


def test_the_puzzle_counts_both_of_its_reports() -> None:
    """The stated ratio is the product of those of local hashing's two reports, and is above either."""
    metric = puzzle((0, 1, 3, 3), (0, 2, 1, 3), 1)
    parts = [sketch(0, 1, 3, 3), sketch(0, 2, 1, 3)]
    whole, fragment = (Fraction(*mechanism("local-hashing").worst_ratio(part)) for part in parts)
    assert stated(metric) == whole * fragment > max(whole, fragment)


def test_the_enumeration_exposes_a_piece_that_is_sent_bare() -> None:
    """A client that sent the puzzle piece beside its fragment, as it is, would be found out."""
    metric = puzzle((0, 1, 3, 3), (0, 1, 1, 3), 1)
    found = []
    for value in VALUES[:12]:
        piece = puzzle_piece(value.encode(), metric.parameters)
        honest = enumerate_bytes(encoder_of(metric), value.encode(), words([4, 5]))
        found.append({record + bytes([piece]): chance for record, chance in honest.items()})
    with pytest.raises(AssertionError, match="epsilon is infinite"):
        worst_ratio(found)


def prefixes(
    width_bits: int, dimension: int, families_bits: int, levels: int, threshold: int, precision: int
) -> Metric:
    """The prefix extending method over beginnings of 1, 2, ... bytes, with a slot for each part or a little more."""
    slots_bits = bits_for(levels + 1)
    parameters = {
        "levels": levels, "first": 1, "step": 1, "slots_bits": slots_bits, "families_bits": families_bits,
        "dimension": dimension, "width_bits": width_bits, "threshold": threshold, "precision": precision, "salt": 11,
    }  # fmt: skip
    function_bits = width_bits * (dimension - 1)
    fields = [
        ["slot", slots_bits, 0], ["family", families_bits, 0], ["function", function_bits, 0],
        ["bucket", width_bits, 0],
    ]  # fmt: skip
    return device_metric("prefix-extending-method", parameters, fields)


@pytest.mark.parametrize(
    ("width_bits", "dimension", "families_bits", "levels", "precision"),
    [(1, 2, 0, 1, 5), (2, 2, 1, 2, 4), (3, 2, 0, 3, 4), (1, 4, 1, 1, 6)],
)
def test_the_prefix_extending_method_leaks_exactly_what_it_states(
    width_bits: int, dimension: int, families_bits: int, levels: int, precision: int
) -> None:
    """Over all random inputs the worst ratio equals ``worst_ratio``, with the part's and the function's numbers."""
    for threshold in {1, (1 << precision) // 2, (1 << precision) - 1}:
        metric = prefixes(width_bits, dimension, families_bits, levels, threshold, precision)
        size = precision + width_bits * dimension + metric.parameters["slots_bits"] + families_bits
        inputs = list(words([size]))
        found = [enumerate_bytes(encoder_of(metric), value, iter(inputs)) for value in (b"a", b"ab", b"xyz", b"v7")]
        assert worst_ratio(found) == stated(metric)


def test_the_enumeration_exposes_a_part_that_depends_on_the_value() -> None:
    """A client that sent short strings whole, as a beginning shows all of them anyway, would be found out."""
    metric = prefixes(2, 2, 0, 2, 3, 3)
    found = []
    for value in (b"a", b"abcd"):
        leaky: dict[bytes, Fraction] = {}
        for record, chance in enumerate_bytes(encoder_of(metric), value, words([11])).items():
            sent = bytes([record[0] & ~3 | 3]) + record[1:] if len(value) == 1 else record
            leaky[sent] = leaky.get(sent, Fraction(0)) + chance
        found.append(leaky)
    with pytest.raises(AssertionError, match="epsilon is infinite"):
        worst_ratio(found)


@pytest.mark.parametrize("bits", range(1, 9))
def test_the_product_is_that_of_a_field(bits: int) -> None:
    """Every element but 0 has an inverse, the product is commutative, and it distributes over the sum."""
    size = 1 << bits
    table = [[times(a, b, bits) for b in range(size)] for a in range(size)]
    assert all(sorted(row) == list(range(size)) for row in table[1:])
    assert table[0] == [0] * size
    assert table[1] == list(range(size))
    for a in range(size):
        for b in range(size):
            assert table[a][b] == table[b][a]
            assert table[a][b ^ (a >> 1)] == table[a][b] ^ table[a][a >> 1]


def test_linear_functions_put_any_two_items_together_equally_often() -> None:
    """Of all functions just one in as many as there are buckets gives both items one bucket, or none where x is equal.

    That is what makes the support of a value that nobody holds exactly 1 in as many.
    """
    bits, dimension = 2, 3
    functions = range(1 << (bits * (dimension - 1)))
    for item in range(0, 1 << (bits * dimension), 5):
        for other in range(1 << (bits * dimension)):
            together = sum(linear(item, f, bits, dimension) == linear(other, f, bits, dimension) for f in functions)
            if item == other:
                assert together == len(functions)
            else:
                assert together == (0 if item >> bits == other >> bits else len(functions) >> bits)


SUBSETS = [(2, 1, 3, 5), (3, 1, 4, 3), (3, 2, 3, 3), (5, 2, 5, 2), (4, 2, 4, 3), (4, 3, 4, 3), (6, 1, 6, 4)]


@pytest.mark.parametrize(("domain", "size", "draw_bits", "precision"), SUBSETS)
def test_subset_selection_leaks_no_more_than_it_states(domain: int, size: int, draw_bits: int, precision: int) -> None:
    """Over all random inputs the worst ratio is at most ``worst_ratio``, and less by the draws' bias at most.

    All sets of the size come, with nothing beside them that could tell which value is the true one (fault 1), and the
    device's own value is in them exactly as often as stated.
    """
    least = -(-(size << precision) // domain)
    for threshold in {least, (1 << precision) - 1}:
        parameters = {
            "domain": domain, "size": size, "draw_bits": draw_bits, "threshold": threshold, "precision": precision,
        }  # fmt: skip
        metric = device_metric("subset-selection", parameters, [["bits", domain, 0]], domain)
        inputs = list(words([precision, *[draw_bits] * size]))
        encoder = encoder_of(metric)
        found = [enumerate_bytes(encoder, value.encode(), iter(inputs)) for value in VALUES[:domain]]
        sets = {sum(1 << i for i in held).to_bytes(1, "little") for held in combinations(range(domain), size)}
        for index, distribution in enumerate(found):
            assert set(distribution) == sets
            own = sum(chance for record, chance in distribution.items() if record[0] >> index & 1)
            assert own == Fraction(threshold, 1 << precision)
        rarest = (1 << draw_bits) // (domain - 1)
        assert worst_ratio(found) <= stated(metric) <= worst_ratio(found) * Fraction(rarest, rarest - size) ** 3


def test_subset_selection_draws_from_every_input() -> None:
    """Of the 16 inputs of a draw among three, six, five and five stand for the results, to the last bit."""
    parameters = {"domain": 4, "size": 1, "draw_bits": 4, "threshold": 4, "precision": 3}
    metric = device_metric("subset-selection", parameters, [["bits", 4, 0]], 4)
    found = enumerate_bytes(encoder_of(metric), b"v1", words([3, 4]))
    assert [found[bytes([1 << i])] for i in range(4)] == [Fraction(part, 32) for part in (6, 16, 5, 5)]


def test_the_enumeration_exposes_an_order_that_leaks() -> None:
    """A client that put the true value first, in a list in place of a set, would be found out (fault 1)."""
    parameters = {"domain": 3, "size": 2, "draw_bits": 3, "threshold": 6, "precision": 3}
    metric = device_metric("subset-selection", parameters, [["bits", 3, 0]], 3)
    encoder = encoder_of(metric)
    found = []
    for index, value in enumerate(VALUES[:3]):
        leaky: dict[bytes, Fraction] = {}
        for record, chance in enumerate_bytes(encoder, value.encode(), words([3, 3, 3])).items():
            held = [i for i in range(3) if record[0] >> i & 1]
            listed = bytes(sorted(held, key=lambda i: i != index))
            leaky[listed] = leaky.get(listed, Fraction(0)) + chance
        found.append(leaky)
    with pytest.raises(AssertionError, match="epsilon is infinite"):
        worst_ratio(found)


@pytest.mark.parametrize(("order", "dimension"), [(2, 2), (2, 5), (3, 4), (5, 3), (7, 2), (11, 3)])
def test_a_value_owns_the_points_that_are_orthogonal_to_its_own(order: int, dimension: int) -> None:
    """The numbered points are all there are, and the owned ones of each are those with product 0, each once."""
    points, owned = points_in(order, dimension), points_in(order, dimension - 1)
    every = [coordinates(index, order, dimension) for index in range(points)]
    assert len({tuple(point) for point in every}) == points
    assert [index_of(point, order) for point in every] == list(range(points))
    assert all([c for c in point if c][-1] == 1 for point in every)
    for value in every[:: max(1, points // 40)]:
        orthogonal = [i for i in range(points) if sum(map(mul, value, every[i])) % order == 0]
        assert sorted(owned_point(value, index, order) for index in range(owned)) == orthogonal


def test_every_mechanism_of_the_table_is_enumerated_here() -> None:
    """No mechanism enters the table without an exact test here, in test_range_distributions or
    test_hierarchical_histogram.
    """
    from hubbub_client.mechanisms.names import NAMES

    enumerated = {"randomized_response", "unary_encoding", "count_mean_sketch", "hadamard_count_mean_sketch"}
    enumerated |= {"hadamard_response", "projective_geometry_response", "local_hashing", "subset_selection"}
    enumerated |= {"sequence_fragment_puzzle", "prefix_extending_method"}
    enumerated |= {"rappor", "one_bit_mean", "d_bit_flip", "hierarchical_histogram"}
    assert {module_name(name) for name in NAMES} == enumerated
