"""Bit vectors that are added up packed give the sums of a plain addition, in every shape of lanes."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hubbub_client.records import pack
from hubbub_decoder.counting.bit_sums import grouped_bit_sums
from hubbub_decoder.counting.carry_save import LONGEST, MOST_ROWS, Bits, lane_sums

from tests.registries import metric_of

lane_lengths = st.lists(st.integers(1, LONGEST), min_size=1, max_size=6).map(lambda lengths: sorted(lengths)[::-1])


@given(
    lengths=lane_lengths,
    width=st.integers(1, 5),
    seed=st.integers(0, 99),
    rate=st.sampled_from([0.0, 0.5, 1.0]),
)
def test_sums_of_lanes(lengths: list[int], width: int, seed: int, rate: float) -> None:
    """Each lane's sums are those of its own vectors: whatever lies beyond its end does not count."""
    bits = np.random.default_rng(seed).random((LONGEST + MOST_ROWS, len(lengths), 8 * width)) < rate
    vectors = np.packbits(bits, axis=-1, bitorder="little")

    def fill(rank: int, out: Bits) -> None:
        out[...] = vectors[rank : rank + len(out), : out.shape[1]]

    sums = lane_sums(fill, np.array(lengths), width)
    plain = [bits[:length, lane].sum(axis=0) for lane, length in enumerate(lengths)]
    assert np.array_equal(sums, plain)


@pytest.mark.parametrize("batch", [1, 40, 1 << 16])
@pytest.mark.parametrize("piece", [300, 4000, 8 << 20])
@pytest.mark.parametrize(("cohorts", "often"), [(1, 1), (4, 4), (64, 64), (64, 3)])
def test_sums_of_groups(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, cohorts: int, often: int, piece: int, batch: int
) -> None:
    """Groups of one record and of thousands add up alike, wherever pieces, batches and lanes of a group end."""
    monkeypatch.setattr("hubbub_decoder.counting.bit_sums._PIECE_BYTES", piece)
    monkeypatch.setattr("hubbub_decoder.counting.bit_sums._BATCH_BYTES", batch)
    metric = metric_of(tmp_path, "rappor", cohorts=cohorts, bits=16)
    rng = np.random.default_rng(cohorts)
    # Two thousand records in the groups that occur often, and one in each.
    group = rng.permutation(np.concatenate([np.arange(cohorts), rng.integers(0, often, 2000)]))
    bits = rng.random((len(group), 16)) < 0.75
    held = bits @ (1 << np.arange(16))
    packed = [pack(metric.device.fields, [int(g), int(h)]) for g, h in zip(group, held, strict=True)]
    records = np.frombuffer(b"".join(packed), np.uint8).reshape(len(group), -1)
    sums, reports = grouped_bit_sums(metric, records, cohorts)
    assert reports.tolist() == np.bincount(group, minlength=cohorts).tolist()
    assert sums.tolist() == [bits[group == g].sum(axis=0).tolist() for g in range(cohorts)]
