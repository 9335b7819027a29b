from __future__ import annotations

import random

import msgpack
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hubbub_client.upload import batches_of, build

BATCHES = st.lists(
    st.tuples(st.binary(min_size=8, max_size=8), st.integers(0, 2**64 - 1), st.binary(max_size=300)), max_size=20
)


@given(st.binary(min_size=16, max_size=16), BATCHES)
def test_the_body_is_what_msgpack_writes(upload_id: bytes, batches: list[tuple[bytes, int, bytes]]) -> None:
    """The hand-written body is byte for byte that of the msgpack package."""
    expected = [1, upload_id, [list(batch) for batch in batches]]
    assert build(upload_id, batches) == msgpack.packb(expected, use_bin_type=True)


@pytest.mark.parametrize("edge", [0, 127, 128, 255, 256, 65535, 65536, 2**32 - 1, 2**32, 2**64 - 1])
def test_periods_at_the_edges_of_a_width_are_what_msgpack_writes(edge: int) -> None:
    """Each width of an unsigned integer begins and ends where msgpack's does."""
    assert build(b"i" * 16, [(b"f" * 8, edge, b"")]) == msgpack.packb([1, b"i" * 16, [[b"f" * 8, edge, b""]]])


@pytest.mark.parametrize("count", [15, 16, 65535, 65536])
def test_counts_at_the_edges_of_a_width_are_what_msgpack_writes(count: int) -> None:
    """Each width of an array and of a binary begins and ends where msgpack's does."""
    batches = [(b"f" * 8, 1, b"")] * count
    assert build(b"i" * 16, batches) == msgpack.packb([1, b"i" * 16, [list(batch) for batch in batches]])
    records = [(b"f" * 8, 1, b"r" * (count + 240))]
    assert build(b"i" * 16, records) == msgpack.packb([1, b"i" * 16, [list(batch) for batch in records]])


@given(st.lists(st.tuples(st.sampled_from([b"f" * 8, b"g" * 8]), st.integers(0, 3), st.binary(min_size=2, max_size=2))))
def test_batches_do_not_depend_on_the_order_of_recording(reports: list[tuple[bytes, int, bytes]]) -> None:
    """Reports in any order give the same batches, one for each fingerprint and period, with every record once."""
    batches = batches_of(reports)
    shuffled = list(reports)
    random.Random(len(reports)).shuffle(shuffled)
    assert batches_of(shuffled) == batches
    assert sorted((f, p) for f, p, _ in batches) == sorted({(f, p) for f, p, _ in reports})
    found = [(f, p, joined[at : at + 2]) for f, p, joined in batches for at in range(0, len(joined), 2)]
    assert found == sorted(reports)
