"""Each encoder at the sizes and thresholds that calibration really gives, part by part, each part exactly.

The bits of a vector are independent (test_sampling shows that a lane reads its own random bits only), so a vector's
worst ratio is the product over the bits that differ between two values of each bit's worst ratio.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import partial
from unittest import mock

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hubbub_client.hashing import bucket, item_key
from hubbub_client.mechanisms.projective_geometry_response import points_in
from hubbub_client.plan import Metric, mechanism
from hubbub_client.records import unpack
from hubbub_client.sampling import lanes_bytes
from hubbub_registry.exact import exp_lower
from hubbub_registry.mechanisms import Settings
from hubbub_registry.mechanisms import mechanism as registry_mechanism

from tests.client.distribution import VALUES, calibrated_metric, encoder_of, lane_marginals

EPSILONS = [Fraction(1, 10), Fraction(1, 2), Fraction(1), Fraction(2), Fraction(4), Fraction(8)]
SALT = 0x0123456789ABCDEF


def calibrated(kind: str, epsilon: Fraction, domain: int = 0, **keys: object) -> Metric:
    module = registry_mechanism(kind)
    filled = {key: keys.get(key, module.KEYS[key].default) for key in module.KEYS}
    return calibrated_metric(kind, module.calibrate(Settings(epsilon, filled, SALT, domain)), domain)


def assert_stated_and_declared(metric: Metric, found: Fraction, epsilon: Fraction) -> None:
    """What was enumerated is what ``check`` prints, and no more than what was declared."""
    assert found == Fraction(*mechanism(metric.mechanism).worst_ratio(metric.parameters))
    assert found <= exp_lower(epsilon)


def bit_ratio(one: Fraction, other: Fraction) -> Fraction:
    """The worst ratio of one bit that is 1 with these probabilities for two values."""
    return max(one / other, other / one, (1 - one) / (1 - other), (1 - other) / (1 - one))


def vector_ratio(one: list[Fraction], other: list[Fraction]) -> Fraction:
    """The worst ratio of independent bits: all of them at their worst, in the same direction."""
    up = down = Fraction(1)
    for p, q in zip(one, other, strict=True):
        up *= max(p / q, (1 - p) / (1 - q))
        down *= max(q / p, (1 - q) / (1 - p))
    return max(up, down)


def share_below(holds: Callable[[int], bool], precision: int) -> Fraction:
    """The share of the inputs of ``precision`` bits for which ``holds``, which they do up to some point and then not.

    Sound because one-bit noise is a comparison (test_sampling); a few points more are tried on either side.
    """
    low, high = 0, 1 << precision  # holds below low, not from high on
    while low < high:
        middle = (low + high) // 2
        if holds(middle):
            low = middle + 1
        else:
            high = middle
    assert all(holds(x) for x in sparse(0, low - 1) if x >= 0)
    assert not any(holds(x) for x in sparse(low, (1 << precision) - 1))
    return Fraction(low, 1 << precision)


def sparse(low: int, high: int) -> list[int]:
    """Both ends and a few points between."""
    return sorted({low, high, *range(low, high, max(1, (high - low) // 7))})


def check_randomized_response(epsilon: Fraction, domain: int) -> None:
    metric = calibrated("randomized-response", epsilon, domain)
    p, encoder = metric.parameters, encoder_of(metric)
    precision, uniform_bits = p["precision"], p["uniform_bits"]

    def send(index: int, keep: int, uniform: int) -> int:
        data = (keep | uniform << precision).to_bytes(encoder.random_bytes, "little")
        return unpack(metric.fields, encoder.encode(VALUES[index].encode(), lambda _: data))[0]

    # How often the truth is kept, over all inputs, with the uniform draw held at another value.
    away = ((domain - 1) << uniform_bits) // domain + 1
    kept = share_below(lambda keep: send(0, keep, away) == 0, precision)
    # Where it is not kept: the draw rises with its input, so the ends of each result's stretch give its exact size.
    dropping = (1 << precision) - 1
    rarest = Fraction(1)
    for value in sparse(0, domain - 1):
        first, end = -((-value << uniform_bits) // domain), -(((-value - 1) << uniform_bits) // domain)
        assert send(0, dropping, first) == send(0, dropping, end - 1) == value
        assert value == 0 or send(0, dropping, first - 1) == value - 1
        rarest = min(rarest, Fraction(end - first, 1 << uniform_bits))
    rarest = min(rarest, Fraction((1 << uniform_bits) // domain, 1 << uniform_bits))
    assert_stated_and_declared(metric, (kept + (1 - kept) * rarest) / ((1 - kept) * rarest), epsilon)


def check_unary_encoding(epsilon: Fraction, domain: int) -> None:
    metric = calibrated("unary-encoding", epsilon, domain)
    precision, encoder = metric.parameters["precision"], encoder_of(metric)
    size = (domain + 7) // 8
    marginals = []
    for value in (0, domain - 1):
        found = []
        for fair in (b"\x00", b"\xff"):

            def encode(data: bytes, value: int = value, fair: bytes = fair) -> int:
                return int.from_bytes(encoder.encode(VALUES[value].encode(), lambda _: data + fair * size), "little")

            found.append(lane_marginals(encode, domain, precision))
        marginals.append([(a + b) / 2 for a, b in zip(*found, strict=True)])
    assert_stated_and_declared(metric, vector_ratio(*marginals), epsilon)


def check_count_mean_sketch(epsilon: Fraction, hashes: int, width: int) -> None:
    metric = calibrated("count-mean-sketch", epsilon, hashes=hashes, width=width)
    p, encoder = metric.parameters, encoder_of(metric)
    j = hashes - 1
    head = j.to_bytes((p["hashes_bits"] + 7) // 8, "little")

    def encode(value: str, data: bytes) -> int:
        sent, row = unpack(metric.fields, encoder.encode(value.encode(), lambda _: head + data))
        assert sent == j
        return row

    first = bucket(item_key(b"v0", SALT), SALT, j, p["width_bits"])
    other = next(v for v in VALUES if bucket(item_key(v.encode(), SALT), SALT, j, p["width_bits"]) != first)
    marginals = [lane_marginals(partial(encode, value), width, p["precision"]) for value in ("v0", other)]
    assert_stated_and_declared(metric, vector_ratio(*marginals), epsilon)


def check_hadamard_sketch(epsilon: Fraction, hashes: int, width: int) -> None:
    metric = calibrated("hadamard-count-mean-sketch", epsilon, hashes=hashes, width=width)
    p, encoder = metric.parameters, encoder_of(metric)
    worst = Fraction(1)
    for j in sparse(0, hashes - 1)[:4]:
        for row in sparse(0, width - 1)[:4]:
            chances = []
            for value in VALUES[:6]:

                def bit(flip: int, value: str = value, j: int = j, row: int = row) -> int:
                    noise = flip | (row | j << p["width_bits"]) << p["precision"]
                    data = noise.to_bytes(encoder.random_bytes, "little")
                    sent = unpack(metric.fields, encoder.encode(value.encode(), lambda _: data))
                    assert sent[:2] == [j, row]
                    return sent[2]

                flipped = bit(0)  # the smallest input is below any threshold

                def is_flipped(flip: int, bit: Callable[[int], int] = bit, flipped: int = flipped) -> bool:
                    return bit(flip) == flipped

                share = share_below(is_flipped, p["precision"])
                chances.append(share if flipped else 1 - share)
            worst = max(worst, *(bit_ratio(a, b) for a in chances for b in chances))
    assert_stated_and_declared(metric, worst, epsilon)


def check_hadamard_response(epsilon: Fraction, domain: int, blocks: int | None) -> None:
    metric = calibrated("hadamard-response", epsilon, domain, blocks=blocks)
    p, encoder = metric.parameters, encoder_of(metric)
    outputs = 1 << (p["blocks_bits"] + p["size_bits"])

    def send(index: int, keep: int, anywhere: int) -> int:
        data = (keep | anywhere << p["precision"]).to_bytes(encoder.random_bytes, "little")
        return unpack(metric.fields, encoder.encode(VALUES[index].encode(), lambda _: data))[0]

    index = domain - 1
    owned: dict[int, int] = {}
    for anywhere in range(outputs):
        owned[send(index, 0, anywhere)] = owned.get(send(index, 0, anywhere), 0) + 1
        assert send(index, (1 << p["precision"]) - 1, anywhere) == anywhere  # not kept: uniform over all outputs
    # Kept: uniform over exactly half a block.
    assert len(owned) == 1 << (p["size_bits"] - 1)
    assert len(set(owned.values())) == 1
    moving = next(anywhere for anywhere in range(outputs) if send(index, 0, anywhere) != anywhere)
    kept = share_below(lambda keep: send(index, keep, moving) != moving, p["precision"])
    base = (1 - kept) / outputs
    assert_stated_and_declared(metric, (kept / len(owned) + base) / base, epsilon)


def check_projective_geometry(epsilon: Fraction, domain: int) -> None:
    metric = calibrated("projective-geometry-response", epsilon, domain)
    p, encoder = metric.parameters, encoder_of(metric)
    precision, bits = p["precision"], p["uniform_bits"]
    points, owned = points_in(p["order"], p["dimension"]), points_in(p["order"], p["dimension"] - 1)

    def send(keep: int, uniform: int) -> int:
        data = (keep | uniform << precision).to_bytes(encoder.random_bytes, "little")
        return unpack(metric.fields, encoder.encode(VALUES[domain - 1].encode(), lambda _: data))[0]

    def stretch(place: int, among: int) -> tuple[int, int]:
        return -((-place << bits) // among), -(((-place - 1) << bits) // among)

    dropping, weights = (1 << precision) - 1, {}
    for point in range(points):  # not kept: each point in its turn
        first, end = stretch(point, points)
        if point in sparse(0, points - 1):
            assert send(dropping, first) == send(dropping, end - 1) == point
        weights[point] = Fraction(end - first, 1 << bits)
    own: dict[int, Fraction] = {}
    for place in range(owned):  # kept: each owned point once
        first, end = stretch(place, owned)
        sent = send(0, first)
        if place in sparse(0, owned - 1):
            assert send(0, end - 1) == sent
        assert sent not in own
        own[sent] = Fraction(end - first, 1 << bits)
    moving = next(u for u in (first, end - 1, 0, (1 << bits) - 1) if send(0, u) != send(dropping, u))
    kept = share_below(lambda keep: send(keep, moving) == send(0, moving), precision)
    found = max(1 + kept * chance / ((1 - kept) * weights[point]) for point, chance in own.items())
    stated = Fraction(*mechanism(metric.mechanism).worst_ratio(p))
    assert found <= stated <= found * (1 + Fraction(1, 1 << 60))
    assert stated <= exp_lower(epsilon)


def check_local_hashing(epsilon: Fraction, hashes: int, width: int | None) -> None:
    metric = calibrated("local-hashing", epsilon, hashes=hashes, width=width)
    p, encoder = metric.parameters, encoder_of(metric)
    width = 1 << p["width_bits"]

    def send(value: str, keep: int, anywhere: int, j: int) -> int:
        noise = keep | (anywhere | j << p["width_bits"]) << p["precision"]
        data = noise.to_bytes(encoder.random_bytes, "little")
        sent = unpack(metric.fields, encoder.encode(value.encode(), lambda _: data))
        assert sent[0] == j
        return sent[1]

    for j in sparse(0, hashes - 1)[:3]:
        dropping = (1 << p["precision"]) - 1
        for value in VALUES[:3]:
            own = bucket(item_key(value.encode(), SALT), SALT, j, p["width_bits"])
            for anywhere in sparse(0, width - 1):
                assert send(value, dropping, anywhere, j) == anywhere  # not kept: uniform over the buckets
                assert send(value, 0, anywhere, j) == own
            moving = (own + 1) % width
            kept = share_below(
                lambda keep, v=value, m=moving, j=j: send(v, keep, m, j) != m,  # type: ignore[misc]
                p["precision"],
            )
            base = (1 - kept) / width
            assert_stated_and_declared(metric, (kept + base) / base, epsilon)


def check_prefix_extending(epsilon: Fraction, longest: int) -> None:
    metric = calibrated("prefix-extending-method", epsilon, longest=longest)
    p, encoder = metric.parameters, encoder_of(metric)
    width, functions = 1 << p["width_bits"], 1 << (p["width_bits"] * (p["dimension"] - 1))

    def send(value: str, keep: int, anywhere: int, public: tuple[int, int, int]) -> int:
        slot, family, function = public
        above = slot | (family | function << p["families_bits"]) << p["slots_bits"]
        noise = keep | (anywhere | above << p["width_bits"]) << p["precision"]
        data = noise.to_bytes(encoder.random_bytes, "little")
        sent = unpack(metric.fields, encoder.encode(value.encode(), lambda _: data))
        assert sent[:3] == list(public)
        return sent[3]

    for public in ((0, 0, 1), ((1 << p["slots_bits"]) - 1, (1 << p["families_bits"]) - 1, functions - 1), (1, 0, 0)):
        dropping = (1 << p["precision"]) - 1
        for value in VALUES[:2]:
            own = send(value, 0, 0, public)
            for anywhere in sparse(0, width - 1):
                assert send(value, dropping, anywhere, public) == anywhere  # not kept: uniform over the buckets
                assert send(value, 0, anywhere, public) == own
            moving = (own + 1) % width
            kept = share_below(
                lambda keep, v=value, m=moving, at=public: send(v, keep, m, at) != m,  # type: ignore[misc]
                p["precision"],
            )
            base = (1 - kept) / width
            assert_stated_and_declared(metric, (kept + base) / base, epsilon)


def check_puzzle(epsilon: Fraction, positions: int, piece_bits: int, split: Fraction) -> None:
    """Report by report: neither half of the record reads the other's random bits, so the ratios multiply."""
    metric = calibrated("sequence-fragment-puzzle", epsilon, positions=positions, piece_bits=piece_bits, split=split)
    p, encoder = metric.parameters, encoder_of(metric)
    at = (p["precision"] + p["width_bits"] + p["hashes_bits"] + 7) // 8

    def send(value: str, whole: tuple[int, int, int], fragment: tuple[int, int, int]) -> list[int]:
        keep, anywhere, j = whole
        data = (keep | (anywhere | j << p["width_bits"]) << p["precision"]).to_bytes(at, "little")
        keep, anywhere, j = fragment
        number = keep | (anywhere | j << p["fragment_width_bits"]) << p["fragment_precision"]
        data += number.to_bytes(encoder.random_bytes - at, "little")
        return unpack(metric.fields, encoder.encode(value.encode(), lambda _: data))

    ratios = []
    for half, prefix in enumerate(("", "fragment_")):
        width, precision = 1 << p[prefix + "width_bits"], p[prefix + "precision"]
        dropping = (1 << precision) - 1
        field = 4 if half else 1

        def sent(value: str, keep: int, anywhere: int, j: int, half: int = half, field: int = field) -> int:
            this, other = (keep, anywhere, j), (1, 1, 0)
            found = send(value, *((other, this) if half else (this, other)))
            if not half or j % positions == 0:  # at another position there is another fragment to send
                # What the other half sends is not moved by this half's random bits.
                assert found[5 - field] == send(value, other, other)[5 - field]
            return found[field]

        for j in sparse(0, (positions << 10) - 1)[:3] if half else sparse(0, (1 << 16) - 1)[:3]:
            for value in VALUES[:3]:
                own = sent(value, 0, 0, j)
                assert {sent(value, 0, anywhere, j) for anywhere in sparse(0, width - 1)} == {own}
                assert all(sent(value, dropping, anywhere, j) == anywhere for anywhere in sparse(0, width - 1))
                moving = (own + 1) % width
                kept = share_below(
                    lambda keep, v=value, m=moving, j=j, sent=sent: sent(v, keep, m, j) != m,  # type: ignore[misc]
                    precision,
                )
                base = (1 - kept) / width
                ratios.append((half, (kept + base) / base))
    (whole,), (fragment,) = ({ratio for which, ratio in ratios if which == half} for half in (0, 1))
    assert_stated_and_declared(metric, whole * fragment, epsilon)


def check_subset_selection(epsilon: Fraction, domain: int) -> None:
    """Part by part: whether the value is in the set, and each draw of another one; the rest follows from Floyd's."""
    metric = calibrated("subset-selection", epsilon, domain)
    p, encoder = metric.parameters, encoder_of(metric)
    size, bits, index = p["size"], p["draw_bits"], domain - 1
    at, step = (p["precision"] + 7) // 8, (bits + 7) // 8

    def send(keep: int, draws: list[int]) -> int:
        data = keep.to_bytes(at, "little") + b"".join(draw.to_bytes(step, "little") for draw in draws)
        return unpack(metric.fields, encoder.encode(VALUES[index].encode(), lambda _: data))[0]

    zeros = [0] * size
    kept = share_below(lambda keep: send(keep, zeros) >> index & 1 == 1, p["precision"])
    assert kept == Fraction(p["threshold"], 1 << p["precision"])
    dropping = (1 << p["precision"]) - 1
    rarest = Fraction(1)
    for number in sparse(0, size - 1):
        among = domain - size + number
        # Of all zeros the first draw gives value 0, and each later one, taken already, the last that it is from.
        before = {0, *range(domain - size, among - 1)} if number else set()
        for place in sparse(0, among - 1):
            first, end = -((-place << bits) // among), -(((-place - 1) << bits) // among)
            for uniform in (first, end - 1):
                sent = send(dropping, [*zeros[:number], uniform, *zeros[number + 1 :]])
                expected = among - 1 if place in before else place
                assert sent >> expected & 1
                assert sent.bit_count() == size
            rarest = min(rarest, Fraction(end - first, 1 << bits))
    stated = Fraction(*mechanism(metric.mechanism).worst_ratio(p))
    found = kept * (domain - size) / ((1 - kept) * size)
    assert found <= stated <= found * (1 + Fraction(1, 1 << 50))
    assert rarest * (1 << bits) > size << 50
    assert stated <= exp_lower(epsilon)


def check_rappor(f: Fraction, p: Fraction, q: Fraction, hashes: int, bits: int, reports: str) -> None:
    module = registry_mechanism("rappor")
    keys = {"encoding": "bloom", "reports": reports, "bits": bits, "hashes": hashes, "cohorts": 4, "f": f}
    keys |= {"p": p, "q": q} if reports == "longitudinal" else {"p": None, "q": None}
    epsilon = Fraction(16)
    metric = calibrated_metric("rappor", module.calibrate(Settings(epsilon, keys, SALT, 0)))
    x, encoder = metric.parameters, encoder_of(metric)

    def send(value: bytes, permanent: bytes, data: bytes) -> int:
        with mock.patch("hubbub_client.mechanisms.rappor.expand", return_value=permanent):
            return unpack(metric.fields, encoder.encode(value, lambda _: data))[1]

    if reports == "one-time":
        held = send(b"v0", b"", bytes(encoder.random_bytes))
        chance = lane_marginals(lambda data: send(b"v0", b"", data), bits, x["prr_precision"])
        one, zero = (next(c for i, c in enumerate(chance) if (held >> i) & 1 == bit) for bit in (1, 0))
    else:
        # The instantaneous response of a permanent 1 and of a permanent 0, with the permanent noise held still ...
        still = bytes(lanes_bytes(bits, x["prr_precision"]))  # a lane whose random bits are all 0 is 0: no flip
        given = lane_marginals(lambda data: send(b"v0", still, data), bits, x["irr_precision"])
        q_found, p_found = max(given), min(given)
        assert set(given) == {q_found, p_found}
        # ... and how often the permanent noise flips a bit, read through an instantaneous response that shows it.
        size = (bits + 7) // 8
        for number in range(1 << x["irr_precision"]):
            showing = b"".join((b"\xff" if (number >> i) & 1 else b"\x00") * size for i in range(x["irr_precision"]))
            held = send(b"v0", still, showing)
            if held not in (0, (1 << bits) - 1):
                break
        flipped = lane_marginals(lambda noise: send(b"v0", noise, showing) ^ held, bits, x["prr_precision"])
        assert len(set(flipped)) == 1
        one = (1 - flipped[0]) * q_found + flipped[0] * p_found
        zero = flipped[0] * q_found + (1 - flipped[0]) * p_found
    # Two values set `hashes` bits each, and at worst none in common.
    found = (one / zero * (1 - zero) / (1 - one)) ** hashes
    assert_stated_and_declared(metric, found, epsilon)


@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize("domain", [2, 3, 7, 256, 1000])
def test_randomized_response_over_a_grid(epsilon: Fraction, domain: int) -> None:
    """The exact worst ratio of calibrated k-RR is the stated one and at most e^declared."""
    check_randomized_response(epsilon, domain)


@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize("domain", [2, 9, 130])
def test_unary_encoding_over_a_grid(epsilon: Fraction, domain: int) -> None:
    """The exact worst ratio of calibrated OUE is the stated one and at most e^declared."""
    check_unary_encoding(epsilon, domain)


@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize(("hashes", "width"), [(1, 2), (256, 64), (65536, 256)])
def test_count_mean_sketch_over_a_grid(epsilon: Fraction, hashes: int, width: int) -> None:
    """The exact worst ratio of calibrated CMS is the stated one and at most e^declared."""
    check_count_mean_sketch(epsilon, hashes, width)


@pytest.mark.parametrize("epsilon", [Fraction(1, 2), Fraction(1), Fraction(4)])
@pytest.mark.parametrize(("hashes", "width"), [(1, 2), (1024, 1024)])
def test_hadamard_sketch_over_a_grid(epsilon: Fraction, hashes: int, width: int) -> None:
    """The exact worst ratio of calibrated HCMS is the stated one and at most e^declared."""
    check_hadamard_sketch(epsilon, hashes, width)


@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize(("domain", "blocks"), [(2, 1), (100, None), (1000, 16)])
def test_hadamard_response_over_a_grid(epsilon: Fraction, domain: int, blocks: int | None) -> None:
    """The exact worst ratio of calibrated HR is the stated one and at most e^declared."""
    check_hadamard_response(epsilon, domain, blocks)


@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize("domain", [2, 9, 130, 1000])
def test_projective_geometry_over_a_grid(epsilon: Fraction, domain: int) -> None:
    """The exact worst ratio over a value's points is the stated one but for the draws' bias, and at most e^declared."""
    check_projective_geometry(epsilon, domain)


@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize(("hashes", "width"), [(1, 2), (1024, None), (65536, None)])
def test_local_hashing_over_a_grid(epsilon: Fraction, hashes: int, width: int | None) -> None:
    """The exact worst ratio of calibrated local hashing is the stated one and at most e^declared."""
    check_local_hashing(epsilon, hashes, width)


@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize("longest", [1, 15, 31])
def test_prefix_extending_over_a_grid(epsilon: Fraction, longest: int) -> None:
    """The exact worst ratio of the calibrated method is the stated one and at most e^declared, whatever the part."""
    check_prefix_extending(epsilon, longest)


@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize(("positions", "piece_bits", "split"), [(8, 8, Fraction(2, 5)), (1, 1, Fraction(9, 10))])
def test_puzzle_over_a_grid(epsilon: Fraction, positions: int, piece_bits: int, split: Fraction) -> None:
    """The exact worst ratio of a calibrated puzzle, over both its reports, is the stated one and at most e^declared."""
    check_puzzle(epsilon, positions, piece_bits, split)


@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize("domain", [2, 3, 9, 130])
def test_subset_selection_over_a_grid(epsilon: Fraction, domain: int) -> None:
    """The exact ratio of calibrated subset selection is the stated one but for the draws' bias, and as declared."""
    check_subset_selection(epsilon, domain)


RAPPOR_GRID = [("0.5", "0.5", "0.75"), ("0.75", "0.5", "0.75"), ("0.45", "0.39", "0.61"), ("0.1", "0.01", "0.99")]


@pytest.mark.parametrize(("f", "p", "q"), RAPPOR_GRID)
@pytest.mark.parametrize(("hashes", "bits"), [(1, 8), (2, 128)])
def test_rappor_over_a_grid(f: str, p: str, q: str, hashes: int, bits: int) -> None:
    """The exact worst ratio of RAPPOR's report is the stated one, at published and at extreme f, p and q."""
    check_rappor(Fraction(f), Fraction(p), Fraction(q), hashes, bits, "longitudinal")


@pytest.mark.parametrize("f", ["0.5", "0.75", "0.45", "0.1"])
def test_one_time_rappor_over_a_grid(f: str) -> None:
    """The exact worst ratio of one-time RAPPOR's report is the stated one."""
    check_rappor(Fraction(f), Fraction(0), Fraction(1), 2, 32, "one-time")


# Any epsilon, not just round ones. Few examples each: every one of them enumerates thousands of inputs.
ANY = st.fractions(Fraction(1, 5), Fraction(10), max_denominator=1000)
FEW = settings(max_examples=6, deadline=None)


@FEW
@given(ANY, st.integers(2, 1024))
def test_randomized_response_at_any_epsilon(epsilon: Fraction, domain: int) -> None:
    """k-RR keeps any declared epsilon over any domain."""
    check_randomized_response(epsilon, domain)


@FEW
@given(ANY, st.integers(2, 64))
def test_unary_encoding_at_any_epsilon(epsilon: Fraction, domain: int) -> None:
    """OUE keeps any declared epsilon over any domain."""
    check_unary_encoding(epsilon, domain)


@FEW
@given(ANY, st.integers(0, 16), st.integers(1, 6))
def test_count_mean_sketch_at_any_epsilon(epsilon: Fraction, hashes_bits: int, width_bits: int) -> None:
    """CMS keeps any declared epsilon at any size."""
    check_count_mean_sketch(epsilon, 1 << hashes_bits, 1 << width_bits)


@FEW
@given(st.fractions(Fraction(1, 4), Fraction(5), max_denominator=1000), st.integers(0, 12), st.integers(1, 12))
def test_hadamard_sketch_at_any_epsilon(epsilon: Fraction, hashes_bits: int, width_bits: int) -> None:
    """HCMS keeps any declared epsilon at any size."""
    check_hadamard_sketch(epsilon, 1 << hashes_bits, 1 << width_bits)


@FEW
@given(ANY, st.integers(2, 300))
def test_hadamard_response_at_any_epsilon(epsilon: Fraction, domain: int) -> None:
    """HR keeps any declared epsilon over any domain, with the blocks that calibration chooses."""
    check_hadamard_response(epsilon, domain, None)
