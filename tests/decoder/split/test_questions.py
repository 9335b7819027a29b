"""Pairs, quantiles, ranges and discovered strings by a public dimension."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from hubbub_decoder import (
    Dataset,
    EstimateError,
    Estimates,
    JointEstimates,
    Quantiles,
    State,
    StateCache,
    decode_by,
    decode_joint,
    decode_quantiles,
    decode_ranges,
    estimate,
)
from hubbub_decoder.commands import discover
from hubbub_decoder.discovery import Discovered, discover_in
from hubbub_decoder.output.columns import csv_of
from hubbub_decoder.split.decode_by import split_by
from hubbub_decoder.split.discover_by import discover_by
from hubbub_registry import Metric, Registry

from tests.commands import run_on
from tests.decoder.split.cells import sealed_cells
from tests.decoder.split.reports import sealed_folder, split_metric


@pytest.fixture(scope="module")
def registry(tmp_path_factory: pytest.TempPathFactory) -> Registry:
    return sealed_cells(tmp_path_factory.mktemp("cells"))


@pytest.fixture(scope="module")
def folder(registry: Registry) -> Path:
    return registry.path.parent


def cell_of(folder: Path, metric: Metric, version: str) -> Dataset:
    return Dataset(folder, metric, where={"version": version})


def figures(result: Any) -> str:
    """All that is said of a result by itself, exactly."""
    return csv_of({name: column for name, column in result.columns().items() if name != "significant"})


@pytest.mark.parametrize("cached", [False, True])
def test_pairs_of_each_cell(folder: Path, registry: Registry, tmp_path: Path, cached: bool) -> None:
    """Each cell's table is that of its reports alone, and the whole's that of all, from a cache or not."""
    metric = registry.metric("pair")
    cache = StateCache(tmp_path) if cached else None
    for _ in range(2 if cached else 1):
        split = decode_by(metric, Dataset(folder, metric), cache=cache)
        assert (list(split.cells), split.held_back) == (["1.0", "1.1"], ("other",))
        whole = decode_joint(metric, Dataset(folder, metric))
        assert np.array_equal(split.whole.count, whole.count)  # type: ignore[union-attr]
        for version in split.cells:
            own, alone = split[version], decode_joint(metric, cell_of(folder, metric, version))
            assert isinstance(own, JointEstimates)
            assert figures(own) == figures(alone)
    about = split.described()
    assert about["independence"].keys() == {"1.0", "1.1"}
    assert about["independence_of_all"]["p_value"] == split.whole.independence.p_value  # type: ignore[union-attr]
    shown = str(split).splitlines()[:5]
    assert shown[1].startswith("test of independence: p = ")
    assert shown[2] == "by version: 2 shown, 1 held back"
    assert [line.partition(": p = ")[0] for line in shown[3:]] == [
        f"test of independence, version {each}" for each in split.cells
    ]
    assert split.between("1.0", "1.1").significant().any()
    assert "by version: 2 shown, 1 held back" in str(split)


def test_significance_of_pairs_is_over_all_cells(folder: Path, registry: Registry) -> None:
    """With bonferroni a pair's p-value counts against the pairs of every cell, in columns as in significant."""
    metric = registry.metric("pair")
    split = decode_by(metric, Dataset(folder, metric))
    p_value = np.concatenate([each.p_value.ravel() for each in split.cells.values()])  # type: ignore[union-attr]
    for alpha in (1e-12, 0.01, 0.6):
        found = split.significant(alpha, "bonferroni")
        assert sum(int(each.sum()) for each in found.values()) == (12 * p_value <= alpha).sum()
        columns = split.columns(alpha=alpha, correction="bonferroni")
        assert columns["significant"] == [12 * p <= alpha for p in columns["p_value"]]
    with pytest.raises(EstimateError, match="alpha"):
        split.significant(0)


def test_quantiles_and_ranges_of_each_cell(folder: Path, registry: Registry) -> None:
    """Each cell's are those of its reports alone; nothing of them is tested."""
    metric = registry.metric("age")
    split = decode_by(metric, Dataset(folder, metric), quantiles=[0.5, 0.9]).at_level(0.5)
    alone = decode_quantiles(metric, cell_of(folder, metric, "1.1"), [0.5, 0.9]).at_level(0.5)
    assert isinstance(split["1.1"], Quantiles)
    assert figures(split["1.1"]) == figures(alone)
    assert split.significant() == {}
    assert list(split.columns()) == ["cell", "n", "probability", "quantile", "std_error", "low", "high"]
    split = decode_by(metric, Dataset(folder, metric), ranges=[(0, 4), (4, 32)])
    alone_ranges = decode_ranges(metric, cell_of(folder, metric, "1.0"), [(0, 4), (4, 32)])
    assert figures(split["1.0"]) == figures(alone_ranges)
    assert split.between("1.0", "1.1").value[0] in ("0..3", "4..31")


def test_strings_of_each_cell(folder: Path, registry: Registry) -> None:
    """Each cell lists what is in its own reports, and the whole what is in all; a cell too small is held back."""
    metric = registry.metric("words")
    split = discover_by(metric, Dataset(folder, metric))
    assert {cell: set(each.value) for cell, each in split.cells.items()} == {  # type: ignore[union-attr]
        "1.0": {"alpha", "beta"}, "1.1": {"gamma", "alpha"},
    }  # fmt: skip
    assert split.held_back == ("other",)
    assert isinstance(split.whole, Discovered)
    assert figures(split.whole) == figures(discover_in(metric, Dataset(folder, metric)))
    assert all(split.columns()["significant"])
    assert "over all cells together" in split.notes[0]


def test_strings_are_tested_over_all_cells(folder: Path, registry: Registry) -> None:
    """What is listed, and the count it is listed from, are those of a correction for the strings of all cells."""
    metric = registry.metric("words")
    every = discover_by(metric, Dataset(folder, metric), insignificant=True, correction="bonferroni")
    tests = sum(len(each) for each in every.cells.values())
    assert f"{tests} strings were found in 2 cells" in every.notes[0]
    listed = discover_by(metric, Dataset(folder, metric), correction="bonferroni")
    for cell, each in every.cells.items():
        assert isinstance(each, Estimates)
        there = tests * each.p_value <= 0.05
        own = listed[cell]
        assert isinstance(own, Discovered)
        assert own.value == tuple(value for value, kept in zip(each.value, there, strict=True) if kept)
        alone = discover_in(metric, cell_of(folder, metric, cell), correction="none", alpha=0.05 / tests)
        assert own.listed_from is not None
        assert alone.listed_from is not None
        assert own.listed_from.tolist() == alone.listed_from.tolist()
        assert figures(own) == figures(alone)


def test_a_cell_of_too_few_reports_is_refused_by_itself(tmp_path: Path) -> None:
    """Where a cell has too few reports for what is asked, a note says why, and the others are shown."""
    metric = split_metric(tmp_path)
    data = Dataset(sealed_folder(tmp_path, metric, (300, 60, 0)), metric)

    def ask(state: State) -> Estimates:
        if state.n < 100:
            raise EstimateError("too few")
        return estimate(metric, state)

    split = split_by(metric, data, ask)
    assert (list(split.cells), split.held_back, split.refused) == (["1.0"], ("other",), {"1.1": "too few"})
    assert "not shown: version 1.1: too few" in split.notes
    with pytest.raises(EstimateError, match=r"'1\.1': too few; shown are: 1\.0"):
        split["1.1"]


def test_what_discovers_nothing_by_cells_is_refused(folder: Path, registry: Registry) -> None:
    """Another mechanism, an alpha and a correction that are none, and one cell already."""
    with pytest.raises(EstimateError, match="do not spell what they hold"):
        run_on(discover, folder, "age", "--by", "version")
    metric = registry.metric("words")
    with pytest.raises(EstimateError, match="alpha"):
        discover_by(metric, Dataset(folder, metric), alpha=1)
    with pytest.raises(EstimateError, match="correction"):
        discover_by(metric, Dataset(folder, metric), correction="some")  # type: ignore[arg-type]
    with pytest.raises(EstimateError, match="one cell already"):
        discover_by(metric, cell_of(folder, metric, "1.0"))
