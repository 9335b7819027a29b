"""The scores of fragments are those of the client's own hash functions, position by position."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from hubbub_client.hashing import bucket, item_key
from hubbub_client.mechanisms.sequence_fragment_puzzle import fragment_at, fragment_item, puzzle_piece
from hubbub_decoder import partial
from hubbub_decoder.puzzle import evidence
from hubbub_decoder.puzzle.alphabet import fragments_of
from hubbub_decoder.puzzle.evidence import Evidence
from hubbub_simulations.mechanisms import encode

from tests.decoder.reports import random_records
from tests.registries import metric_of

KEYS = {"epsilon": 6, "hashes": 16, "fragment_hashes": 16, "positions": 4, "piece_bits": 3}


def test_the_support_is_counted_with_the_clients_hashes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """For every fragment, piece and position it is the cells at the client's buckets, and scores are in its spread."""
    metric = metric_of(tmp_path, "sequence-fragment-puzzle", **KEYS)
    p = metric.device.parameters
    state = partial(metric, random_records(metric, 3000, 1))
    fragments = [*fragments_of("abc", 2).full, *fragments_of("abc", 2).ended]
    monkeypatch.setattr(evidence, "_ITEMS_AT_ONCE", 37)
    monkeypatch.setattr(evidence, "_BUCKETS_AT_ONCE", 100)
    found = Evidence(metric, state, fragments)
    for position in range(4):
        cells = state.arrays["fragments"][:, position]
        support = np.zeros((8, len(fragments)))
        for piece, at, j in np.ndindex(8, len(fragments), 16):
            key = item_key(fragment_item(fragments[at], piece), p["fragment_salt"])
            own = bucket(key, p["fragment_salt"], position + 4 * j, p["fragment_width_bits"])
            support[piece, at] += cells[j, own]
        reports, width = cells.sum(), cells.shape[1]
        spread = max(support.std(), np.sqrt(reports * (1 - 1 / width) / width))
        assert found.at(position) == pytest.approx((support - reports / width) / spread, rel=1e-5, abs=1e-5)


def test_what_devices_hold_stands_out(tmp_path: Path) -> None:
    """The fragments of the one string that all devices hold, with its piece, have the highest score everywhere."""
    metric = metric_of(tmp_path, "sequence-fragment-puzzle", **KEYS)
    records = encode(metric, [b"abcba"], np.zeros(2000, np.intp), np.random.default_rng(2))
    fragments = [*fragments_of("abc", 2).full, *fragments_of("abc", 2).ended]
    piece = puzzle_piece(b"abcba", metric.device.parameters)
    found = Evidence(metric, partial(metric, records), fragments)
    for position in range(4):
        best = np.unravel_index(np.argmax(found.at(position)), (8, len(fragments)))
        assert [int(i) for i in best] == [piece, fragments.index(fragment_at(b"abcba", position, 2))]


def test_a_position_without_reports_says_nothing(tmp_path: Path) -> None:
    """With one report three of four positions have none: their scores are 0, and none is a division by it."""
    metric = metric_of(tmp_path, "sequence-fragment-puzzle", **KEYS)
    state = partial(metric, random_records(metric, 1, 3))
    fragments = [*fragments_of("abc", 2).full, *fragments_of("abc", 2).ended]
    found = Evidence(metric, state, fragments)
    used = int(state.arrays["fragments"].sum(axis=(0, 2)).argmax())
    for position in range(4):
        assert bool(found.at(position).any()) == (position == used)
