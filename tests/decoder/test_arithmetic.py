"""The fast paths against the plain ones: hashing, unpacking, bit sums and the Walsh-Hadamard transform."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.linalg import hadamard

from hubbub_client import hashing as client
from hubbub_client.records import unpack
from hubbub_decoder.counting.bit_sums import grouped_bit_sums
from hubbub_decoder.counting.hashing import buckets, item_keys
from hubbub_decoder.counting.records import as_integers, first_field, record_counts
from hubbub_decoder.counting.walsh import walsh_hadamard
from hubbub_decoder.errors import RecordError
from hubbub_decoder.mechanisms import hadamard_count_mean_sketch as hcms
from hubbub_decoder.mechanisms import local_hashing

from tests.decoder.reports import random_records
from tests.registries import metric_of

words = st.integers(0, 2**64 - 1)


@given(
    values=st.lists(st.text(st.characters(exclude_categories=["Cs"]), max_size=20), min_size=1, max_size=5),
    salt=words,
    indices=st.lists(st.integers(0, 2**20), min_size=1, max_size=5),
    bits=st.integers(0, 32),
)
def test_buckets_are_the_clients(values: list[str], salt: int, indices: list[int], bits: int) -> None:
    """Every candidate's bucket under every hash function is the one that the client computes."""
    fast = buckets(item_keys(values, salt), salt, np.array(indices), bits)
    plain = [
        [client.bucket(client.item_key(value.encode(), salt), salt, index, bits) for value in values]
        for index in indices
    ]
    assert fast.tolist() == plain


@given(width=st.integers(1, 7), n=st.integers(0, 20), data=st.data())
def test_records_as_integers(width: int, n: int, data: st.DataObject) -> None:
    """A record of up to seven bytes is read as one little-endian integer, at every position of the buffer."""
    raw = data.draw(st.binary(min_size=n * width, max_size=n * width))
    records = np.frombuffer(raw, np.uint8).reshape(n, width)
    expected = [int.from_bytes(raw[i * width : (i + 1) * width], "little") for i in range(n)]
    assert as_integers(records).tolist() == expected


@given(width=st.integers(3, 6), bits=st.integers(0, 24), raw=st.binary(min_size=60, max_size=60))
def test_first_field(width: int, bits: int, raw: bytes) -> None:
    """The first field is the record's lowest bits."""
    records = np.frombuffer(raw, np.uint8)[: 60 // width * width].reshape(-1, width)
    expected = [int.from_bytes(record.tobytes(), "little") & ((1 << bits) - 1) for record in records]
    assert first_field(records, bits).tolist() == expected


@pytest.mark.parametrize(("cohorts", "bits", "n"), [(1, 64, 700), (3, 32, 900), (8, 64, 5000), (128, 8, 300)])
def test_bit_sums(tmp_path: Path, cohorts: int, bits: int, n: int) -> None:
    """Sums per group are those of a loop over unpacked records, also beyond 255 of one group in a row."""
    metric = metric_of(tmp_path, "rappor", cohorts=cohorts, bits=bits)
    records = random_records(metric, n, 5)
    plain = np.zeros((cohorts, bits), np.int64)
    for record in records:
        cohort, held = unpack(metric.device.fields, record.tobytes())
        plain[cohort] += [held >> i & 1 for i in range(bits)]
    sums, reports = grouped_bit_sums(metric, records, cohorts)
    assert np.array_equal(sums, plain)
    assert reports.sum() == n


def test_bit_sums_across_pieces(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Cutting the work into pieces changes nothing, wherever the cuts fall in a group."""
    metric = metric_of(tmp_path, "rappor", cohorts=3, bits=32)
    records = random_records(metric, 400, 6)
    whole, _ = grouped_bit_sums(metric, records, 3)
    for piece in (40, 280, 2000):
        monkeypatch.setattr("hubbub_decoder.counting.bit_sums._PIECE_BYTES", piece)
        assert np.array_equal(grouped_bit_sums(metric, records, 3)[0], whole)


@pytest.mark.parametrize("size", [1, 2, 8, 64])
def test_walsh_hadamard(size: int) -> None:
    """The fast transform is multiplication with the Hadamard matrix."""
    columns = np.random.default_rng(1).integers(-9, 9, (size, 5))
    assert np.array_equal(walsh_hadamard(columns.copy()), hadamard(size) @ columns)


def test_walsh_hadamard_refuses_what_it_would_transform_a_copy_of() -> None:
    """A layout that reshape would copy is a ValueError, not an array left as it was."""
    for array in (np.zeros((8, 3)).T.copy().T, np.zeros((6, 2))):
        with pytest.raises(ValueError, match="C-contiguous"):
            walsh_hadamard(array.astype(np.int64, order="K"))


def test_signs_of_a_sketch_add_up_in_their_cells(tmp_path: Path) -> None:
    """Each record adds its sign to the cell of its row and hash function."""
    metric = metric_of(tmp_path, "hadamard-count-mean-sketch", hashes=16, width=32)
    records = random_records(metric, 3000, 7)
    plain = np.zeros((32, 16), np.int64)
    for record in records:
        hashed, row, bit = unpack(metric.device.fields, record.tobytes())
        plain[row, hashed] += 1 - 2 * bit
    assert np.array_equal(hcms.partial(metric, records).arrays["signed"], plain)


@pytest.mark.parametrize(("most", "itemsize"), [((1 << 15) - 1, 2), (1 << 15, 4)])
def test_a_sketch_is_transformed_in_a_type_that_holds_it(most: int, itemsize: int) -> None:
    """The narrow type is taken as long as the largest sum of a column fits in it, and not for one report more."""
    block = np.zeros((8, 3), np.int32)
    block[:, 1] = [most - 7, -1, 1, -1, 1, -1, 1, -1]
    narrow = block.astype(hcms._narrowest(block, np.int32))
    assert narrow.itemsize == itemsize
    assert np.array_equal(walsh_hadamard(narrow), hadamard(8) @ block.astype(np.int64))


@pytest.mark.parametrize(("width", "largest"), [(1, 255), (2, 65535), (3, 1 << 20), (4, 1 << 20)])
def test_counts_of_records(tmp_path: Path, width: int, largest: int) -> None:
    """Every record counts at its integer; one that is not below the domain is an error, of few bytes or of many."""
    metric = metric_of(tmp_path, "randomized-response")
    numbers = np.random.default_rng(1).integers(0, largest, 1000)
    records = numbers.astype("<u4").view(np.uint8).reshape(-1, 4)[:, :width]
    counts = record_counts(metric, records, largest, "index")
    assert np.array_equal(counts, np.bincount(numbers, minlength=largest))
    records = np.concatenate([records, np.full(1, largest, "<u4").view(np.uint8)[np.newaxis, :width]])
    with pytest.raises(RecordError, match="index is not below"):
        record_counts(metric, records, largest, "index")


def test_both_ways_of_counting_a_sketch_agree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Counting by histogram and counting cell by cell give the same cells."""
    metric = metric_of(tmp_path, "local-hashing", hashes=16, width=32)
    records = random_records(metric, 3000, 7)
    dense = local_hashing.partial(metric, records)
    assert dense.arrays["counts"].sum() == 3000
    monkeypatch.setattr(local_hashing, "_DENSE", 0)
    assert np.array_equal(local_hashing.partial(metric, records).arrays["counts"], dense.arrays["counts"])
