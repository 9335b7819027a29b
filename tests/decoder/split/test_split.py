"""Estimates by a public dimension: each cell as if there were no other, and the whole as if there were none."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hubbub_decoder import (
    ArgumentError,
    Dataset,
    EstimateError,
    Estimates,
    HeldBackError,
    RecordError,
    Split,
    State,
    StateCache,
    decode,
    decode_by,
    decode_mean,
    estimate,
    estimate_mean,
    partial,
    trend,
)
from hubbub_decoder.decode import gives_mean
from hubbub_decoder.split.records import by_cell, own_records
from hubbub_decoder.split.states import joined, merged, pooled, taken_apart
from hubbub_registry import Metric

from tests.decoder.reports import seal
from tests.decoder.split.reports import VERSIONS, made, population, sealed_folder, split_metric
from tests.registries import MECHANISMS, metric_of, values_of


def counts(metric: Metric, result: object) -> list[tuple[object, ...]]:
    """All figures of a result, for exact comparison."""
    columns = result.columns()  # type: ignore[attr-defined]
    return [tuple(row) for row in zip(*columns.values(), strict=True)]


def by_hand(metric: Metric, records: np.ndarray) -> object:
    """The result of one cell's records: the byte cut off, and the mechanism's own metric."""
    state = partial(metric.undivided, np.ascontiguousarray(records[:, 1:]))
    candidates = None if metric.candidates else values_of(metric.mechanism)
    return estimate_mean(metric, state) if gives_mean(metric) else estimate(metric, state, candidates)


@pytest.mark.parametrize("mechanism", sorted(MECHANISMS))
def test_cells_and_whole_are_what_their_records_give(tmp_path: Path, mechanism: str) -> None:
    """Each cell's figures equal those of its records alone, and the whole's those of all records without the byte."""
    metric = split_metric(tmp_path, mechanism)
    sealed_folder(tmp_path, metric, (200, 90, 0), (100, 0, 80))
    records = np.concatenate([population(metric, (200, 90, 0), 0), population(metric, (100, 0, 80), 1)])
    candidates = None if metric.candidates or gives_mean(metric) else values_of(mechanism)
    split = decode_by(metric, Dataset(tmp_path, metric), candidates)
    assert (split.dimension, list(split.cells), split.held_back) == ("version", ["1.0", "1.1", "other"], ())
    for place, cell in enumerate(split.cells):
        assert counts(metric, split[cell]) == counts(metric, by_hand(metric, records[records[:, 0] == place]))
    assert counts(metric, split.whole) == counts(metric, by_hand(metric, records))
    whole = (
        decode_mean(metric, Dataset(tmp_path, metric))
        if gives_mean(metric)
        else decode(metric, Dataset(tmp_path, metric), candidates)
    )
    assert counts(metric, whole) == counts(metric, split.whole)
    assert split.whole.n == sum(result.n for result in split.cells.values())


def test_where_reads_one_cell(tmp_path: Path) -> None:
    """Data of one cell decodes to that cell's figures, says so in a note, and trends by the same reports alone."""
    metric = split_metric(tmp_path)
    sealed_folder(tmp_path, metric, (200, 90, 60), (100, 20, 80))
    split = decode_by(metric, Dataset(tmp_path, metric))
    data = Dataset(tmp_path, metric, where={"version": "1.1"})
    found = decode(metric, data)
    assert counts(metric, found) == counts(metric, split["1.1"])
    assert found.notes[0] == "only reports whose version is 1.1"
    assert [len(batch) for batch in data.batches()] == [90, 20]
    over_time = trend(metric, data)
    assert over_time.periods == (7,), "the second period has fewer than min_cell"
    assert any("held back in period 8" in note for note in over_time.notes)
    assert trend(metric, Dataset(tmp_path, metric)).pooled.n == split.whole.n


def test_a_cell_is_found_however_its_name_is_composed(tmp_path: Path) -> None:
    """A value that is asked for is brought to NFC, as the registry's are."""
    metric = split_metric(tmp_path, dimension={"name": "country", "values": ["Co\u0302te", "CH"]})
    sealed_folder(tmp_path, metric, (5, 5, 0))
    for name in ("C\u00f4te", "Co\u0302te"):
        assert Dataset(tmp_path, metric, where={"country": name}).cell == 0


def test_a_small_cell_is_held_back_and_its_size_stays_untold(tmp_path: Path) -> None:
    """Below min_cell a cell is not shown, whether it has one report or none; from it on it is."""
    metric = split_metric(tmp_path, dimension={**VERSIONS, "min_cell": 50})
    sealed_folder(tmp_path, metric, (50, 49, 0))
    split = decode_by(metric, Dataset(tmp_path, metric))
    assert (list(split.cells), split.held_back) == (["1.0"], ("1.1", "other"))
    assert any(note == "held back, fewer than 50 reports or none: version 1.1, other" for note in split.notes)
    said = []
    for cell in ("1.1", "other"):
        with pytest.raises(HeldBackError) as caught:
            decode(metric, Dataset(tmp_path, metric, where={"version": cell}))
        said.append(str(caught.value).replace(cell, "CELL"))
        with pytest.raises(EstimateError, match="is held back"):
            split[cell]
        with pytest.raises(HeldBackError):
            trend(metric, Dataset(tmp_path, metric, where={"version": cell}))
    assert said[0] == said[1]
    assert "49" not in said[0]
    lower = split_metric(tmp_path, dimension={**VERSIONS, "min_cell": 1})
    assert lower.fingerprint == metric.fingerprint, "what is shown is not what is sent"
    split = decode_by(lower, Dataset(tmp_path, lower))
    assert list(split.cells) == ["1.0", "1.1"]
    assert "no reports: version other" in split.notes
    with pytest.raises(HeldBackError, match="there are no reports whose version is other"):
        decode(lower, Dataset(tmp_path, lower, where={"version": "other"}))


def test_a_cache_gives_the_same_and_reads_nothing_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The whole, one cell and all cells are kept apart in the cache, and each comes from it as it was counted."""
    metric = split_metric(tmp_path, "count-mean-sketch", candidates=None)
    sealed_folder(tmp_path, metric, (200, 90, 60), (100, 70, 80))
    values = values_of(metric.mechanism)
    cache = StateCache(tmp_path / "states")

    def everything(cache: StateCache | None) -> list[object]:
        whole = Dataset(tmp_path, metric)
        cells = [Dataset(tmp_path, metric, where={"version": cell}) for cell in VERSIONS["values"]]  # type: ignore[attr-defined]
        split = decode_by(metric, whole, values, cache=cache)
        return [
            counts(metric, decode(metric, whole, values, cache=cache)),
            *(counts(metric, decode(metric, data, values, cache=cache)) for data in cells),
            split.columns(),
            split.notes,
        ]

    plain = everything(None)
    assert everything(cache) == plain
    assert len(list((tmp_path / "states").rglob("*.state"))) == 2 * (1 + 3 + 1)
    monkeypatch.setattr("hubbub_decoder.reading.part_batches", lambda part: pytest.fail(f"{part} was read"))
    assert everything(cache) == plain


def test_a_cached_state_of_a_cell_is_not_taken_for_another(tmp_path: Path) -> None:
    """An entry that is put in the place of another cell's, or of the whole's, is not used."""
    metric = split_metric(tmp_path)
    sealed_folder(tmp_path, metric, (200, 90, 60))
    cache = StateCache(tmp_path / "states")
    kinds = ["", "cells", "cell 0", "cell 1"]
    (part,) = Dataset(tmp_path, metric).sealed
    decode_by(metric, Dataset(tmp_path, metric), cache=cache)
    decode(metric, Dataset(tmp_path, metric), cache=cache)
    decode(metric, Dataset(tmp_path, metric, where={"version": "1.0"}), cache=cache)
    decode(metric, Dataset(tmp_path, metric, where={"version": "1.1"}), cache=cache)
    paths = {kind: cache._path(metric, part, kind) for kind in kinds}
    contents = {kind: path.read_bytes() for kind, path in paths.items()}
    for kind in kinds:
        assert cache.find(metric, part, kind) is not None
        for other in kinds:
            if other != kind:
                paths[kind].write_bytes(contents[other])
                assert cache.find(metric, part, kind) is None
        paths[kind].write_bytes(contents[kind])


def test_a_difference_between_two_cells_is_found_and_none_is_not(tmp_path: Path) -> None:
    """between() tests one cell against another: p is small where their shares differ, and not where they are alike."""
    metric = split_metric(tmp_path, epsilon=4)
    held = ["a"] * 900 + ["b"] * 100 + ["a"] * 100 + ["b"] * 900 + ["a"] * 900 + ["b"] * 100
    cells = [0] * 1000 + [1] * 1000 + [2] * 1000
    seal(tmp_path, metric, made(metric, cells, held), period=7)
    split = decode_by(metric, Dataset(tmp_path, metric))
    differ, alike = split.between("1.0", "1.1"), split.between("1.0", "other")
    assert differ.any_p_value < 1e-9
    assert alike.any_p_value > 1e-4  # false alarm below 1e-4; the seed is fixed
    assert differ.names == ("version 1.0", "version 1.1")


def test_significance_is_over_all_cells_together(tmp_path: Path) -> None:
    """With bonferroni, a p-value counts against the values of every cell that is shown, not of its own alone."""
    metric = split_metric(tmp_path)
    sealed_folder(tmp_path, metric, (300, 300, 300))
    split = decode_by(metric, Dataset(tmp_path, metric))
    tests = sum(len(result) for result in split.cells.values())
    assert tests == 15
    for cell, result in split.cells.items():
        assert isinstance(result, Estimates)
        p = float(result.p_value[0])
        assert not split.significant(0.999 * tests * p, "bonferroni")[cell][0] or tests * p * 0.999 > 1
        if tests * p < 0.9:
            assert split.significant(1.001 * tests * p, "bonferroni")[cell][0]


def test_every_output_has_the_cell_first(tmp_path: Path) -> None:
    """Columns, DataFrame, Arrow and print name the cell and its n; top cuts each cell, not the table."""
    metric = split_metric(tmp_path)
    sealed_folder(tmp_path, metric, (300, 200, 10))
    split = decode_by(metric, Dataset(tmp_path, metric)).at_level(0.9)
    columns = split.columns(consistent=True, top=2)
    assert list(columns)[:3] == ["cell", "n", "value"]
    assert columns["cell"] == ["1.0", "1.0", "1.1", "1.1"]
    assert columns["n"] == [300, 300, 200, 200]
    assert split["1.1"].level == split.whole.level == 0.9
    assert next(iter(split.to_pandas().columns)) == "cell"
    assert split.to_arrow().num_rows == len(split.to_pandas()) == 10
    assert "by version: 2 shown, 1 held back" in str(split)
    assert len(split) == 2


def test_what_cannot_be_split_is_refused(tmp_path: Path) -> None:
    """No dimension, another name or value, a cell of a cell, and a where of another shape are typed errors."""
    plain = metric_of(tmp_path, "randomized-response")
    seal(tmp_path, plain, made(plain, [0] * 100, ["a"] * 100), period=7)
    with pytest.raises(EstimateError, match="no public dimension"):
        decode_by(plain, Dataset(tmp_path, plain))
    with pytest.raises(EstimateError, match="no public dimension"):
        Dataset(tmp_path, plain, where={"version": "1.1"})
    metric = split_metric(tmp_path)
    sealed_folder(tmp_path, metric, (200, 90, 60))
    with pytest.raises(EstimateError, match="'country'"):
        Dataset(tmp_path, metric, where={"country": "1.1"})
    with pytest.raises(EstimateError, match=r"'2\.0' is no version; there are: 1\.0, 1\.1, other"):
        Dataset(tmp_path, metric, where={"version": "2.0"})
    for where in ("1.1", {}, {"version": "1.1", "country": "DE"}, 3):
        with pytest.raises(ArgumentError, match="where is one name and one value"):
            Dataset(tmp_path, metric, where=where)  # type: ignore[arg-type]
    with pytest.raises(EstimateError, match="one cell already"):
        decode_by(metric, Dataset(tmp_path, metric, where={"version": "1.1"}))
    with pytest.raises(EstimateError, match="is no version"):
        decode_by(metric, Dataset(tmp_path, metric))["2.0"]


def test_a_byte_that_is_no_value_is_a_record_error(tmp_path: Path) -> None:
    """A record whose first byte is past the list raises RecordError, and so does one without the byte."""
    metric = split_metric(tmp_path)
    records = population(metric, (5, 5, 5))
    records[3, 0] = 3
    for wrong in (records, records[:, 1:]):
        with pytest.raises(RecordError):
            partial(metric, wrong)
        with pytest.raises(RecordError):
            list(by_cell(metric, wrong))
    assert partial(metric, population(metric, (5, 5, 5))).n == 15


@given(st.lists(st.tuples(st.integers(0, 2), st.binary(min_size=2, max_size=2)), max_size=40), st.integers(0, 40))
def test_cells_are_a_partition(rows: list[tuple[int, bytes]], cut: int) -> None:
    """By any batches every record is in the cell that its byte names, once, in its order, and no byte is changed."""
    metric = METRIC
    records = np.array([[cell, *own] for cell, own in rows], np.uint8).reshape(-1, 3)
    found: dict[int, list[bytes]] = {}
    for batch in (records[:cut], records[cut:]):
        for cell, own in by_cell(metric, batch):
            assert len(own)
            found.setdefault(cell, []).extend(map(bytes, own))
    expected: dict[int, list[bytes]] = {}
    for cell, rest in rows:
        expected.setdefault(cell, []).append(rest)
    assert found == expected
    for cell in range(3):
        assert list(map(bytes, own_records(metric, records, cell))) == expected.get(cell, [])
    assert list(map(bytes, own_records(metric, records))) == [own for _, own in rows]


@given(st.lists(st.lists(st.integers(0, 2), max_size=20), max_size=4))
def test_states_of_cells_survive_joining_and_merging(batches: list[list[int]]) -> None:
    """taken_apart inverts joined, and merging in any grouping counts each cell's records once."""
    cells: dict[int, State] = {}
    total: dict[int, int] = {}
    for i, batch in enumerate(batches):
        records = (
            made(SKETCH, batch, ["a"] * len(batch), i) if batch else np.zeros((0, SKETCH.device.record_bytes), np.uint8)
        )
        own = {cell: partial(SKETCH.undivided, part) for cell, part in by_cell(SKETCH, records)}
        cells = merged(cells, taken_apart(joined(SKETCH, own)))
        for cell in batch:
            total[cell] = total.get(cell, 0) + 1
    assert {cell: state.n for cell, state in cells.items()} == total
    whole = pooled(cells)
    assert (0 if whole is None else whole.n) == sum(total.values())


def _metric(**keys: object) -> Metric:
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        return split_metric(Path(folder), **keys)  # type: ignore[arg-type]


METRIC = _metric(values=[f"v{i}" for i in range(300)])
SKETCH = _metric(mechanism="hadamard-response")


def test_the_result_is_exported() -> None:
    """Split is public."""
    assert Split.__module__ == "hubbub_decoder.split.result"
