"""Reports with a public dimension in the collector: checked, stored, and sealed with no cell too small to hide in."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hubbub_collector.errors import Refusal
from hubbub_collector.layout import DataDirectory
from hubbub_collector.seal import SealOptions, seal
from hubbub_collector.seal.fold import fold
from hubbub_collector.upload import Validator
from hubbub_collector.window import Window
from hubbub_registry import Metric, Registry

from tests.collector.uploads import NOW, batch, fill, sealed, upload
from tests.registries import registry_of

VERSIONS: dict[str, Any] = {
    "name": "version",
    "values": ["1.0", "1.1", "1.2", "other"],
    "other": "other",
    "min_cell": 5,
}


def loaded(folder: Path, dimension: dict[str, Any] | None = VERSIONS, **keys: Any) -> Registry:
    return registry_of(folder, m={"mechanism": "randomized-response", "dimension": dimension, **keys})


def body(cells: list[int], own: list[int]) -> bytes:
    """Records of two bytes, end to end."""
    return bytes(byte for pair in zip(cells, own, strict=True) for byte in pair)


@pytest.mark.parametrize(("cell", "own", "valid"), [(3, 4, True), (4, 4, False), (255, 0, False), (0, 5, False)])
@pytest.mark.parametrize("count", [1, 40])
def test_a_record_is_checked_behind_the_byte_and_in_it(
    tmp_path: Path, cell: int, own: int, valid: bool, count: int
) -> None:
    """An upload is refused where a byte is past the list, or the mechanism's field past its domain; else accepted."""
    metric = loaded(tmp_path).metric("m")
    check = Validator([metric], Window()).check
    content = upload(batch(metric, body([0] * (count - 1) + [cell], [0] * (count - 1) + [own])))
    if valid:
        assert check(content, NOW).records == count
    else:
        with pytest.raises(Refusal) as caught:
            check(content, NOW)
        assert caught.value.code == "record-range"


def test_all_256_values_are_valid_bytes(tmp_path: Path) -> None:
    """A list of 256 values takes every byte, and one of 257 is no dimension."""
    every = {"name": "country", "values": [f"c{i}" for i in range(256)]}
    metric = loaded(tmp_path, every).metric("m")
    content = upload(batch(metric, body(list(range(256)), [0] * 256)))
    assert Validator([metric], Window()).check(content, NOW).records == 256


def test_small_cells_are_sealed_as_other_and_nothing_is_lost(tmp_path: Path) -> None:
    """A cell below min_cell is sealed under other, one that has it as it is, and every mechanism's record is there."""
    registry, data = loaded(tmp_path), DataDirectory(tmp_path / "data")
    metric = registry.metric("m")
    cells = [0] * 5 + [1] * 4 + [2] * 1
    own = [i % 5 for i in range(10)]
    fill(data, [upload(batch(metric, body(cells[:6], own[:6]))), upload(batch(metric, body(cells[6:], own[6:])))])
    seal(registry, data, SealOptions(minimum=1, everything=True), NOW)
    (part,) = sealed(data, metric)
    assert Counter(record[0] for record in part) == {0: 5, 3: 5}
    assert Counter(record[1] for record in part) == Counter(own)
    assert Counter(record for record in part if record[0] == 0) == Counter(bytes([0, o]) for o in own[:5])


def test_without_other_nothing_is_folded(tmp_path: Path) -> None:
    """A dimension with no value for others, and a metric with none, are sealed byte for byte as they came."""
    for dimension in (
        {**VERSIONS, "other": "other", "min_cell": 1},
        {"name": "v", "values": ["a", "b", "c", "d"]},
        None,
    ):
        kept = {key: value for key, value in (dimension or {}).items() if value is not None} or None
        metric = loaded(tmp_path, kept).metric("m")
        records = np.array([[0, 1], [1, 2], [1, 0]], np.uint8)
        before = records.copy()
        fold(metric, records)
        assert (records == before).all()


METRIC: list[Metric] = []


@pytest.fixture(autouse=True)
def one_metric(tmp_path: Path) -> None:
    METRIC[:] = [loaded(tmp_path).metric("m")]


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 4)), max_size=60))
def test_folding_only_ever_moves_small_cells(rows: list[tuple[int, int]]) -> None:
    """For any part each record keeps its place and its rest; its cell changes, to other, exactly where it is small."""
    records = np.array(rows, np.uint8).reshape(-1, 2)
    fold(METRIC[0], records)
    sizes = Counter(cell for cell, _ in rows)
    expected = [(cell if sizes[cell] >= 5 else 3, own) for cell, own in rows]
    assert list(map(tuple, records.tolist())) == expected
