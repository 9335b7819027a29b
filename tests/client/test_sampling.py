from __future__ import annotations

from fractions import Fraction
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hubbub_client.errors import EntropyError
from hubbub_client.sampling import (
    bernoulli,
    bernoulli_lanes,
    check_flip,
    check_threshold,
    lanes_bytes,
    parity,
    read,
    uniform_below,
)


@pytest.mark.parametrize("precision", range(1, 9))
def test_a_lane_is_one_for_exactly_threshold_of_the_words(precision: int) -> None:
    """Over all inputs, a bit-sliced lane is 1 for exactly ``threshold`` of ``2**precision``, for every threshold."""
    words = [bytes(bits) for bits in product((0, 1), repeat=precision)]
    for threshold in range(1, 1 << precision):
        assert sum(bernoulli_lanes(word, 0, 1, threshold, precision) for word in words) == threshold


@given(st.integers(1, 40), st.integers(1, 12), st.data())
def test_a_lane_reads_only_its_own_bits(lanes: int, precision: int, data: st.DataObject) -> None:
    """Changing the random bits of one lane changes no other lane, which makes the lanes independent."""
    threshold = data.draw(st.integers(1, (1 << precision) - 1))
    noise = data.draw(st.binary(min_size=lanes_bytes(lanes, precision), max_size=lanes_bytes(lanes, precision)))
    lane = data.draw(st.integers(0, lanes - 1))
    size = (lanes + 7) // 8
    changed = bytearray(noise)
    for word in range(precision):
        changed[word * size + lane // 8] ^= data.draw(st.integers(0, 1)) << (lane % 8)
    before = bernoulli_lanes(noise, 0, lanes, threshold, precision)
    after = bernoulli_lanes(bytes(changed), 0, lanes, threshold, precision)
    assert (before ^ after) & ~(1 << lane) == 0
    assert before >> lanes == 0


@given(st.integers(0, 24), st.integers(1, 12), st.data())
def test_lanes_start_where_they_are_told(start: int, precision: int, data: st.DataObject) -> None:
    """Bytes before ``start`` play no part."""
    threshold = data.draw(st.integers(1, (1 << precision) - 1))
    noise = data.draw(st.binary(min_size=lanes_bytes(11, precision), max_size=lanes_bytes(11, precision)))
    ahead = data.draw(st.binary(min_size=start, max_size=start))
    assert bernoulli_lanes(ahead + noise, start, 11, threshold, precision) == bernoulli_lanes(
        noise, 0, 11, threshold, precision
    )


@pytest.mark.parametrize("precision", range(1, 11))
def test_bernoulli_is_exact(precision: int) -> None:
    """Over all inputs, ``bernoulli`` is 1 for exactly ``threshold`` of ``2**precision``, for every threshold."""
    for threshold in range((1 << precision) + 1):
        assert sum(bernoulli(uniform, threshold, precision) for uniform in range(1 << precision)) == threshold


@pytest.mark.parametrize("precision", [1, 2, 5])
def test_a_threshold_is_checked_at_both_ends(precision: int) -> None:
    """A threshold passes from 1 to one below all of the words; a flip from 1 to half of them; nothing else does."""
    whole = 1 << precision
    for threshold in range(-whole, 2 * whole):
        if 0 < threshold < whole:
            check_threshold(threshold, precision)
        else:
            with pytest.raises(ValueError, match=f"a threshold of {threshold} is no probability at {precision} bits"):
                check_threshold(threshold, precision)
        if 0 < threshold <= whole // 2:
            check_flip(threshold, precision)
        else:
            with pytest.raises(ValueError, match=f"a flip of {threshold} at {precision} bits is not at most one half"):
                check_flip(threshold, precision)


@given(st.integers(1, 40), st.data())
def test_bernoulli_is_a_comparison(precision: int, data: st.DataObject) -> None:
    """At any precision ``bernoulli`` is 1 exactly where the uniform integer is below the threshold."""
    uniform = data.draw(st.integers(0, (1 << precision) - 1))
    threshold = data.draw(st.integers(0, 1 << precision))
    assert bernoulli(uniform, threshold, precision) == (uniform < threshold)


@pytest.mark.parametrize("domain", range(1, 70))
def test_uniform_below_gives_floor_or_ceil_of_the_inputs_to_each_result(domain: int) -> None:
    """Each result stands for floor or ceil of ``2**bits / domain`` inputs, and all for all of them."""
    bits = 10
    counts = [0] * domain
    for uniform in range(1 << bits):
        counts[uniform_below(uniform, domain, bits)] += 1
    assert set(counts) <= {(1 << bits) // domain, -(-(1 << bits) // domain)}
    assert min(counts) == (1 << bits) // domain


@given(st.integers(0, (1 << 32) - 1))
def test_parity_is_the_parity(word: int) -> None:
    """``parity`` is the number of ones, modulo 2."""
    assert parity(word) == word.bit_count() % 2


@pytest.mark.parametrize("given_bytes", [b"", b"x", b"xxx"])
def test_a_short_or_long_source_is_refused(given_bytes: bytes) -> None:
    """A source that gives another number of bytes than asked raises, so that no noise is made of it."""
    with pytest.raises(EntropyError, match="2 were asked for"):
        read(lambda count: given_bytes, 2)


def test_comparing_with_floats_would_be_caught() -> None:
    """The exactness check tells threshold / 2**b from a probability off by one part in 2**b."""
    broken = [bernoulli(uniform, 3 + 1, 4) for uniform in range(16)]
    assert Fraction(sum(broken), 16) != Fraction(3, 16)
