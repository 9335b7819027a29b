"""The hierarchical histogram's encoder, exactly: what it leaks, which node it speaks of, and how levels are drawn."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hubbub_client.mechanisms.hierarchical_histogram import STRIDE, at_level, nodes_bits, point_of
from hubbub_client.mechanisms.projective_geometry_response import coordinates, points_in
from hubbub_client.plan import Metric, mechanism
from hubbub_client.records import bits_for, unpack
from hubbub_registry.mechanisms.projective_geometry_response import MOST_POINTS, geometries

from tests.client.distribution import device_metric, encoder_of, enumerate_bytes, words, worst_ratio


def tree_metric(
    geometries: list[tuple[int, int, int]], buckets_bits: int, precision: int, uniform_bits: int, span: int
) -> Metric:
    """A metric from each level's order, dimension and threshold; its lowest value is -2."""
    parameters = {
        "low": 0, "below_zero": 2, "span": span, "buckets_bits": buckets_bits, "levels_bits": bits_for(len(geometries)),
        "precision": precision, "uniform_bits": uniform_bits,
    }  # fmt: skip
    for level, (order, dimension, threshold) in enumerate(geometries):
        parameters[f"order_{level}"] = order
        parameters[f"dimension_{level}"] = dimension
        parameters[f"threshold_{level}"] = threshold
    most = max(points_in(order, dimension) for order, dimension, _ in geometries)
    bits = bits_for(most)
    fields = [["level", bits_for(len(geometries)), 0], ["point", bits, 0 if most == 1 << bits else most]]
    return device_metric("hierarchical-histogram", parameters, fields)


SMALL = [
    ([(2, 2, 1)], 1, 3, 5, 1),
    ([(2, 2, 5), (3, 2, 3)], 2, 3, 6, 4),
    ([(3, 2, 3), (2, 4, 2)], 3, 2, 7, 8),
    ([(2, 3, 1), (2, 3, 3)], 2, 2, 6, 3),
    ([(2, 2, 1), (2, 3, 2), (7, 2, 3), (2, 5, 1)], 4, 2, 7, 17),
]


@pytest.mark.parametrize(("geometries", "buckets_bits", "precision", "uniform_bits", "span"), SMALL)
def test_it_leaks_no_more_than_it_states(
    geometries: list[tuple[int, int, int]], buckets_bits: int, precision: int, uniform_bits: int, span: int
) -> None:
    """Over all random inputs the worst ratio is at most ``worst_ratio``, and less by the draws' bias at most."""
    metric = tree_metric(geometries, buckets_bits, precision, uniform_bits, span)
    inputs = list(words([bits_for(len(geometries)) + precision + uniform_bits]))
    encoder = encoder_of(metric)
    found = worst_ratio([enumerate_bytes(encoder, b"%d" % (x - 2), iter(inputs)) for x in range(span + 1)])
    stated = Fraction(*mechanism("hierarchical-histogram").worst_ratio(metric.parameters))
    most = max(points_in(order, dimension) for order, dimension, _ in geometries)
    assert found <= stated <= found * (1 + Fraction(most, 1 << uniform_bits)) ** 3


@pytest.mark.parametrize("worst", [0, 1, 2, 3])
def test_the_least_private_level_is_stated(worst: int) -> None:
    """The stated ratio is that of one level's projective geometry response: of the level with the largest."""
    levels = [(2, 2, 1), (2, 3, 1), (7, 2, 1), (2, 5, 1)]
    levels[worst] = (*levels[worst][:2], 7)
    metric = tree_metric(levels, 4, 3, 20, 15)
    own = mechanism("projective-geometry-response").worst_ratio(at_level(metric.parameters, worst))
    assert Fraction(*mechanism("hierarchical-histogram").worst_ratio(metric.parameters)) == Fraction(*own)


def test_a_report_is_of_the_node_that_holds_the_value() -> None:
    """Where the draw is kept, the point is orthogonal to that of the value's own node of the level, for every value."""
    metric = tree_metric([(3, 2, 3), (3, 4, 3)], 4, 2, 20, 18)
    encoder = encoder_of(metric)
    for value in range(19):
        bucket = value * 16 // 19
        for level in range(2):
            own = at_level(metric.parameters, level)
            order, dimension = own["order"], own["dimension"]
            node = point_of(bucket >> (4 - nodes_bits(metric.parameters, level)), points_in(order, dimension))
            for uniform in range(0, 1 << 20, 7919):
                noise = (level | uniform << 3).to_bytes(encoder.random_bytes, "little")  # 0 is below any threshold
                sent_level, point = unpack(metric.fields, encoder.encode(b"%d" % (value - 2), lambda _, n=noise: n))
                pairs = zip(coordinates(node, order, dimension), coordinates(point, order, dimension), strict=True)
                assert sent_level == level
                assert sum(a * b for a, b in pairs) % order == 0


@pytest.mark.parametrize("value", [b"-2", b"5", b"15"])
def test_levels_are_drawn_evenly_whatever_the_value(value: bytes) -> None:
    """Over all inputs every level is sent equally often, and by the input alone."""
    metric = tree_metric([(2, 2, 1), (2, 3, 2), (7, 2, 3), (2, 5, 1)], 4, 2, 6, 17)
    encoder = encoder_of(metric)
    sent = [unpack(metric.fields, encoder.encode(value, lambda _, n=noise: n))[0] for noise in words([10])]
    assert set(Counter(sent).values()) == {1 << 8}
    assert sent == [number & 3 for number in range(1 << 10)]


@given(st.integers(1, 16), st.data())
def test_levels_only_grow_down_to_the_buckets(buckets_bits: int, data: st.DataObject) -> None:
    """Each level has more nodes than the one above, of equally many children; the first has two, the last all."""
    levels_bits = data.draw(st.sampled_from([bits for bits in range(5) if 1 << bits <= buckets_bits]))
    parameters = {"buckets_bits": buckets_bits, "levels_bits": levels_bits}
    found = [nodes_bits(parameters, level) for level in range(1 << levels_bits)]
    assert found[-1] == buckets_bits
    assert all(above < below for above, below in zip([0, *found], found, strict=False))


def test_nodes_have_points_of_their_own() -> None:
    """The stride is a prime above any number of points, so that no two nodes share one."""
    assert STRIDE > MOST_POINTS
    assert all(STRIDE % factor for factor in range(2, int(STRIDE**0.5) + 1))
    for nodes in (2, 64, 4096):
        for order, dimension in list(geometries(nodes))[:20]:
            points = points_in(order, dimension)
            assert len({point_of(node, points) for node in range(nodes)}) == nodes
