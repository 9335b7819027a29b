"""What the collector seals is what the decoder takes: every check of sealed data holds of real sealed data."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from hubbub_collector.layout import DataDirectory
from hubbub_collector.seal import seal
from hubbub_decoder import Dataset
from hubbub_decoder.reading import read
from hubbub_registry import Metric, Registry

from tests.collector.uploads import ALL, NOW, TODAY, batch, counts, fill, sealed, upload
from tests.decoder.reports import random_records
from tests.joints import part
from tests.registries import MECHANISMS, registry_of

SPLIT = {"name": "version", "values": ["1", "2", "rest"], "other": "rest", "min_cell": 1}


@pytest.fixture
def registry(tmp_path: Path) -> Registry:
    """A metric of each mechanism, one of two together, and one with a public dimension."""
    return registry_of(
        tmp_path,
        **{name.replace("-", "_"): {"mechanism": name} for name in MECHANISMS},
        both={
            "mechanism": "joint",
            "epsilon": 8,
            "first": part("randomized-response"),
            "second": part("unary-encoding"),
        },
        split={"mechanism": "randomized-response", "dimension": SPLIT},
    )


def reports(metric: Metric) -> bytes:
    """60 reports that devices may send, end to end."""
    own = random_records(metric.undivided, 60, 1)
    return (own if metric.dimension is None else np.column_stack([np.arange(60, dtype=np.uint8) % 3, own])).tobytes()


def test_sealed_data_is_read(tmp_path: Path, registry: Registry) -> None:
    """The parts of two workers, late ones too, of two periods with the very same reports, are all read, without a note.

    So they are where devices' noise is permanent and none of them changes its value: each part has its own order.
    """
    data = DataDirectory(tmp_path)
    data.intake.mkdir()
    sent = {metric.name: reports(metric) for metric in registry.metrics.values()}
    for _ in range(2):  # the second time as a late part
        for worker in range(2):
            bodies = [
                upload(batch(metric, sent[metric.name], period))
                for metric in registry.metrics.values()
                for period in (TODAY - 1, TODAY)
            ]
            fill(data, bodies, worker=worker)
        assert not seal(registry, data, ALL, NOW).problems
    for metric in registry.metrics.values():
        found = Dataset(tmp_path, metric)
        assert [(each.period, each.records) for each in found.parts] == [(TODAY - 1, 120)] * 2 + [(TODAY, 120)] * 2
        assert read(found).state.n == 480
        assert counts([[bytes(row) for rows in found.batches() for row in rows]]) == counts(sealed(data, metric))
        assert not any("manifest" in note for note in found.notes)
