"""The mechanisms over a range of integers, whole: alpha, permanent and fresh noise, every input of each, exactly."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from fractions import Fraction
from itertools import product
from math import factorial, log
from unittest import mock

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hubbub_client.mechanisms import d_bit_flip, one_bit_mean
from hubbub_client.permanent_bit import bit_ratio
from hubbub_client.plan import Metric, mechanism
from hubbub_client.records import unpack
from hubbub_registry.exact import exp_lower, ln_upper
from hubbub_registry.mechanisms import Settings
from hubbub_registry.mechanisms import mechanism as registry_mechanism

from tests.client.distribution import (
    calibrated_metric,
    device_metric,
    encoder_of,
    words,
    worst_ratio,
)
from tests.client.test_full_distributions import bit_ratio as ratio_of_bits
from tests.client.test_full_distributions import share_below, vector_ratio

Sequence = tuple[bytes, ...]


def flips(threshold: int, precision: int, perturbation: int, perturbation_bits: int) -> dict[str, int]:
    return {
        "threshold": threshold,
        "precision": precision,
        "perturbation": perturbation,
        "perturbation_bits": perturbation_bits,
    }


def mean_metric(span: int, points: int, alpha_bits: int, end_bits: int, noise: dict[str, int], low: int = 0) -> Metric:
    bounds = {"low": max(low, 0), "below_zero": max(-low, 0), "span": span}
    shape = {"points": points, "alpha_bits": alpha_bits, "end_bits": end_bits}
    return device_metric("one-bit-mean", {**bounds, **shape, **noise}, [["bit", 1, 0]])


def histogram_metric(buckets: int, bits: int, draw_bits: int, noise: dict[str, int]) -> Metric:
    shape = {"low": 0, "below_zero": 0, "span": buckets - 1, "buckets": buckets, "bits": bits, "draw_bits": draw_bits}
    fields = [[f"bucket_{i}", 4, 0] for i in range(bits)] + [["bits", bits, 0]]
    return device_metric("d-bit-flip", {**shape, **noise}, fields)


def sequences(
    metric: Metric, values: list[bytes], first: list[bytes], permanent: list[bytes], fresh: list[bytes]
) -> Iterator[Sequence]:
    """What devices report that hold these values one after another: every input of every noise, equally often.

    ``first`` is what alpha, or the buckets, are drawn from; ``permanent`` is the noise of a key, ``fresh`` of a report.
    """
    module = "hubbub_client.mechanisms." + metric.mechanism.replace("-", "_")
    for drawn in first:
        with mock.patch(module + ".expand", lambda *_, drawn=drawn: drawn):
            encoder = encoder_of(metric)
        keys = sorted({encoder.permanent_key(value) for value in values})
        for noises in product(permanent, repeat=len(keys)):
            by_context = {metric.fingerprint + key: noise for key, noise in zip(keys, noises, strict=True)}
            with mock.patch(module + ".expand", lambda _s, _l, context, _n, given=by_context: given[context]):
                for new in product(fresh, repeat=len(values)):
                    yield tuple(
                        encoder.encode(value, lambda _, data=data: data)
                        for value, data in zip(values, new, strict=True)
                    )


def distribution(
    metric: Metric, values: list[bytes], first: list[bytes], permanent: list[bytes], fresh: list[bytes]
) -> dict[bytes, Fraction]:
    counts = Counter(b"".join(sent) for sent in sequences(metric, values, first, permanent, fresh))
    return {sent: Fraction(count, counts.total()) for sent, count in counts.items()}


MEANS = [
    (mean_metric(8, 2, 3, 1, flips(1, 2, 1, 2)), 3, 3, 2),
    (mean_metric(4, 3, 2, 1, flips(3, 3, 1, 3), low=-2), 2, 4, 3),
    (mean_metric(4, 5, 2, 2, flips(1, 2, 0, 0), low=7), 2, 4, 0),
    (mean_metric(1, 2, 2, 3, flips(1, 1, 1, 2)), 2, 4, 2),
]


@pytest.mark.parametrize(("metric", "alpha_bits", "permanent_bits", "fresh_bits"), MEANS)
@pytest.mark.parametrize("reports", [1, 2, 3])
def test_one_bit_mean_leaks_exactly_what_it_states(
    metric: Metric, alpha_bits: int, permanent_bits: int, fresh_bits: int, reports: int
) -> None:
    """Over all alpha and all noise the worst ratio of t reports of one value is ``ratio_after``, for every t tried."""
    p = metric.parameters
    low = p["low"] - p["below_zero"]
    inputs = [list(words([bits])) for bits in (alpha_bits, permanent_bits, fresh_bits)]
    found = [
        distribution(metric, [str(value).encode()] * reports, *inputs)
        for value in ({low, low + p["span"]} if reports > 2 else range(low, low + p["span"] + 1))
    ]
    assert worst_ratio(found) == Fraction(*one_bit_mean.ratio_after(p, reports))
    assert one_bit_mean.worst_ratio(p) == one_bit_mean.ratio_after(p, 1)


@pytest.mark.parametrize(("metric", "alpha_bits", "permanent_bits", "fresh_bits"), MEANS)
def test_one_bit_mean_is_a_line_in_the_value(
    metric: Metric, alpha_bits: int, permanent_bits: int, fresh_bits: int
) -> None:
    """Over all alpha and noise P(1) rises from q at the lowest value to p at the highest, exactly in proportion."""
    p = metric.parameters
    low = p["low"] - p["below_zero"]
    inputs = [list(words([bits])) for bits in (alpha_bits, permanent_bits, fresh_bits)]
    flip, change = (
        Fraction(p["threshold"], 1 << p["precision"]),
        Fraction(p["perturbation"], 1 << p["perturbation_bits"]),
    )
    one = (1 - flip) * (1 - change) + flip * change
    for offset in range(p["span"] + 1):
        found = distribution(metric, [str(low + offset).encode()], *inputs)
        assert found[b"\x01"] == 1 - one + Fraction(offset, p["span"]) * (2 * one - 1)


def test_values_of_one_point_share_a_bit_and_others_do_not() -> None:
    """Given alpha, reports of two values of one point are as those of one value; of two points, independent."""
    metric = mean_metric(8, 3, 3, 1, flips(1, 2, 1, 2))
    permanent, fresh = list(words([3])), list(words([2]))
    for alpha in range(8):
        first = [bytes([alpha])]
        with mock.patch("hubbub_client.mechanisms.one_bit_mean.expand", return_value=first[0]):
            encoder = encoder_of(metric)
        for other in (b"1", b"6"):
            together = distribution(metric, [b"0", other], first, permanent, fresh)
            if encoder.permanent_key(b"0") == encoder.permanent_key(other):
                assert together == distribution(metric, [b"0", b"0"], first, permanent, fresh)
            else:
                a, b = (distribution(metric, [value], first, permanent, fresh) for value in (b"0", other))
                assert together == {x + y: a[x] * b[y] for x in a for y in b}


@pytest.mark.parametrize(
    ("buckets", "bits", "draw_bits", "noise"),
    [
        (3, 2, 3, flips(1, 2, 1, 1)),
        (3, 2, 2, flips(1, 2, 0, 0)),
        (4, 1, 2, flips(1, 3, 1, 2)),
        (2, 2, 2, flips(3, 3, 1, 2)),
    ],
)
def test_d_bit_flip_leaks_exactly_what_it_states(
    buckets: int, bits: int, draw_bits: int, noise: dict[str, int]
) -> None:
    """Over all buckets and noise the worst ratio of one report is ``worst_ratio``: two bits, or one where d is 1."""
    metric = histogram_metric(buckets, bits, draw_bits, noise)
    inputs = [
        list(words([draw_bits] * bits)),
        list(words([bits] * noise["precision"])),
        list(words([bits] * noise["perturbation_bits"])),
    ]
    found = [distribution(metric, [str(value).encode()], *inputs) for value in range(buckets)]
    assert worst_ratio(found) == Fraction(*d_bit_flip.worst_ratio(metric.parameters))
    assert all(sum(each.values()) == 1 for each in found)


@pytest.mark.parametrize("bits", [1, 2])
def test_d_bit_flip_leaks_what_it_states_over_reports(bits: int) -> None:
    """For one set of buckets the worst ratio of two and three reports of one value is ``ratio_after``."""
    metric = histogram_metric(3, bits, 3, flips(1, 2, 1, 1 if bits == 2 else 2))
    p = metric.parameters
    inputs = [[bytes([0] * bits)], list(words([bits] * 2)), list(words([bits] * p["perturbation_bits"]))]
    for reports in (2, 3):
        found = [distribution(metric, [str(value).encode()] * reports, *inputs) for value in range(3)]
        assert worst_ratio(found) == Fraction(*d_bit_flip.ratio_after(p, reports))


@pytest.mark.parametrize(("buckets", "bits"), [(2, 1), (4, 2), (5, 3), (5, 5), (6, 4)])
def test_every_set_of_buckets_is_as_likely(buckets: int, bits: int) -> None:
    """Over all uniform draws each set of d of k buckets comes out d! times, in ascending order."""
    metric = histogram_metric(buckets, bits, 8, flips(1, 2, 0, 0))
    found: Counter[tuple[int, ...]] = Counter()
    for draws in product(*[range(buckets - i) for i in range(bits)]):
        left = iter(draws)
        with mock.patch("hubbub_client.mechanisms.d_bit_flip.uniform_below", lambda *_, left=left: next(left)):
            found[tuple(d_bit_flip.buckets_of(metric, b"s" * 32))] += 1
    assert all(list(each) == sorted(set(each)) and len(each) == bits for each in found)
    assert set(found.values()) == {factorial(bits)}


def test_where_no_bucket_holds_the_value_reports_are_the_same() -> None:
    """All values outside a device's buckets have one key and one report, so moving between them shows nothing."""
    metric = histogram_metric(8, 3, 67, flips(1, 2, 0, 0))
    encoder = encoder_of(metric)
    own = set(d_bit_flip.buckets_of(metric, b"s" * 32))
    outside = [str(value).encode() for value in range(8) if value not in own]
    assert len({encoder.permanent_key(value) for value in outside}) == 1
    assert len({encoder.encode(value, bytes) for value in outside}) == 1
    assert len({encoder.permanent_key(str(value).encode()) for value in range(8)}) == 4


def test_the_enumeration_exposes_an_unflipped_bit() -> None:
    """A device whose upper end is sent without its permanent flip has an infinite ratio, and it shows."""
    metric = mean_metric(4, 2, 2, 1, flips(1, 2, 0, 0))
    inputs = [list(words([2])), list(words([3])), [b""]]
    honest = one_bit_mean.Encoder._permanent_bit

    def broken(self: one_bit_mean.Encoder, point: int) -> int:
        return honest(self, point) | (point == 1)

    with mock.patch.object(one_bit_mean.Encoder, "_permanent_bit", broken):
        found = [distribution(metric, [value], *inputs) for value in (b"0", b"4")]
    with pytest.raises(AssertionError, match="epsilon is infinite"):
        worst_ratio(found)


def test_the_published_example() -> None:
    """Permanent epsilon 1 and perturbation 0.2 give eps' = .5694 for one report (Ding et al. 2017, section 4)."""
    scale = 1 << 40
    p = flips(round(scale / (1 + 2.718281828459045)), 40, round(scale / 5), 40)
    assert log(Fraction(*bit_ratio(p, 1))) == pytest.approx(0.5694, abs=5e-5)
    e, g = 2.718281828459045, 0.2
    formula = log(((1 - 2 * g) * e / (e + 1) + g) / ((1 - 2 * g) / (e + 1) + g))
    assert log(Fraction(*bit_ratio(p, 1))) == pytest.approx(formula, abs=1e-9)
    assert log(Fraction(*bit_ratio(p, 60))) == pytest.approx(1, abs=1e-6)


def calibrated(kind: str, epsilon: Fraction, **keys: object) -> Metric:
    module = registry_mechanism(kind)
    filled = {key: keys.get(key, module.KEYS[key].default) for key in module.KEYS}
    return calibrated_metric(kind, module.calibrate(Settings(epsilon, filled, 0, 0)))


def assert_stated_and_declared(metric: Metric, found: Fraction, epsilon: Fraction) -> None:
    stated = Fraction(*mechanism(metric.mechanism).worst_ratio(metric.parameters))
    assert found == stated
    assert stated <= exp_lower(epsilon)
    assert ln_upper(stated) >= epsilon * Fraction(999, 1000)


def check_mean(epsilon: Fraction, span: int, points: int, perturbation: Fraction | None) -> None:
    metric = calibrated("one-bit-mean", epsilon, low=-5, high=span - 5, points=points, perturbation=perturbation)
    p, encoder = metric.parameters, encoder_of(metric)
    size = (p["end_bits"] + p["precision"] + 7) // 8

    def send(offset: int, end: int, flip: int, change: int) -> int:
        noise = (end | flip << p["end_bits"]).to_bytes(size, "little")
        with mock.patch("hubbub_client.mechanisms.one_bit_mean.expand", return_value=noise):
            record = encoder.encode(str(offset - 5).encode(), lambda count: change.to_bytes(count, "little"))
        return unpack(metric.fields, record)[0]

    no_flip, no_change = (1 << p["precision"]) - 1, (1 << p["perturbation_bits"]) - 1
    # The ends are certain, whatever the draw that rounds a point to an end.
    for end in (0, 1 << 63, (1 << 64) - 1):
        assert send(0, end, no_flip, no_change) == 0
        assert send(span, end, no_flip, no_change) == 1
    flipped = share_below(lambda flip: send(0, 0, flip, no_change) == 1, p["precision"])
    changed = Fraction(0)
    if perturbation is not None:
        changed = share_below(lambda change: send(0, 0, no_flip, change) == 1, p["perturbation_bits"])
    one = (1 - flipped) * (1 - changed) + flipped * changed
    assert_stated_and_declared(metric, ratio_of_bits(one, 1 - one), epsilon)
    # Between them a point is the upper end in proportion.
    for offset in {span // 3, span // 2, span - 1}:
        point = int.from_bytes(encoder.permanent_key(str(offset - 5).encode()), "big")
        if point in (0, points - 1):
            continue

        def is_high(end: int, offset: int = offset) -> bool:
            return send(offset, end, no_flip, no_change) == 1

        share = share_below(is_high, 64)
        assert abs(share - Fraction(point, points - 1)) < Fraction(1, 1 << 64)


def check_histogram(epsilon: Fraction, buckets: int, bits: int, perturbation: Fraction | None) -> None:
    keys = {"low": 0, "high": 10 * buckets - 1, "buckets": buckets, "bits": bits, "perturbation": perturbation}
    metric = calibrated("d-bit-flip", epsilon, **keys)
    p, encoder = metric.parameters, encoder_of(metric)
    own = d_bit_flip.buckets_of(metric, b"s" * 32)
    size = (bits + 7) // 8
    # A lane whose random bits are all 0 is 0.
    no_flip, no_change = bytes(size * p["precision"]), bytes(size * p["perturbation_bits"])

    def share(bits_of: Callable[[bytes], int], precision: int) -> Fraction:
        """How often each lane is 1: a lane is a comparison with its random bits inverted, so all lanes run in step."""

        def holds(inverted: int) -> bool:
            word = (1 << precision) - 1 - inverted
            sent = bits_of(b"".join((b"\xff" if (word >> i) & 1 else b"\x00") * size for i in range(precision)))
            assert sent in (0, (1 << bits) - 1)
            return sent > 0

        return share_below(holds, precision) if precision else Fraction(0)

    def send(bucket: int, flip: bytes, change: bytes) -> int:
        with mock.patch("hubbub_client.mechanisms.d_bit_flip.expand", return_value=flip):
            record = encoder.encode(str(10 * bucket + 3).encode(), lambda _: change)
        sent = unpack(metric.fields, record)
        assert sent[:-1] == own
        return sent[-1]

    chances = []
    for bucket in [*own, *[b for b in range(buckets) if b not in own]][:2]:
        held = send(bucket, no_flip, no_change)

        def flip(data: bytes, bucket: int = bucket, held: int = held) -> int:
            return send(bucket, data, no_change) ^ held

        def change(data: bytes, bucket: int = bucket, held: int = held) -> int:
            return send(bucket, no_flip, data) ^ held

        flipped, changed = share(flip, p["precision"]), share(change, p["perturbation_bits"])
        moved = flipped * (1 - changed) + (1 - flipped) * changed
        chances.append([1 - moved if (held >> i) & 1 else moved for i in range(bits)])
    found = max(vector_ratio(a, b) for a in chances for b in chances)
    assert_stated_and_declared(metric, found, epsilon)


@pytest.mark.parametrize("epsilon", ["0.1", "0.5694", "1", "2", "8"])
@pytest.mark.parametrize("perturbation", [None, "0.0003", "0.1"])
def test_calibrated_over_a_grid(epsilon: str, perturbation: str | None) -> None:
    """At calibrated integers each flip is what the plan says, and a report has at most epsilon and 99.9 % of it."""
    change = None if perturbation is None else Fraction(perturbation)
    if change is not None and (1 - change) / change <= exp_lower(Fraction(epsilon)):
        return
    check_mean(Fraction(epsilon), 100, 2, change)
    check_mean(Fraction(epsilon), 1000, 7, change)
    check_histogram(Fraction(epsilon), 12, 5, change)
    check_histogram(Fraction(epsilon), 2, 1, change)


@settings(max_examples=10, deadline=None)
@given(
    st.fractions(Fraction(1, 5), Fraction(4), max_denominator=1000),
    st.integers(3, 1 << 31),
    st.sampled_from([None, Fraction(1, 64), Fraction(1, 100)]),
    st.data(),
)
def test_any_epsilon_and_range(
    epsilon: Fraction, span: int, perturbation: Fraction | None, data: st.DataObject
) -> None:
    """Both keep any declared epsilon, at any size."""
    check_mean(epsilon, span, data.draw(st.integers(2, min(span, 1 << 16))), perturbation)
    buckets = data.draw(st.integers(2, 70))
    check_histogram(epsilon, buckets, data.draw(st.integers(1, min(buckets, 64))), perturbation)
