"""Simulated devices with a public dimension: the client's own records, and a fleet that is counted cell by cell."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import msgpack
import numpy as np
import pytest

from hubbub_client.dimension import front_of
from hubbub_client.reporter import Reporter
from hubbub_client.storage import MemoryStorage
from hubbub_decoder import Dataset, Estimates, decode_by
from hubbub_simulations.fleet.reference import Outbox
from hubbub_simulations.fleet.tally import Tally
from hubbub_simulations.fleet.values import in_two
from hubbub_simulations.mechanisms import encode

from tests.decoder.reports import seal
from tests.registries import metric_of, registry_of
from tests.simulations.test_fleet import CLIENTS, Uploads

VERSIONS = {"name": "version", "values": ["1.0", "1.1", "other"], "other": "other", "min_cell": 10}
COUNTRIES = {"name": "country", "values": ["CH", "DE"]}


@CLIENTS
def test_a_line_names_its_cell(tmp_path: Path, client: Uploads) -> None:
    """Both fleets put the place of what stands before the first tab in front, and ``other`` for what is not listed."""
    registry = registry_of(tmp_path, m={"mechanism": "randomized-response", "dimension": VERSIONS})
    tally = Tally()
    lines = ["1.0\ta"] * 5 + ["1.1\tb"] * 3 + ["7.7\tc"] * 2
    bodies = [msgpack.unpackb(upload.body) for upload in client(registry, lines, 4, tally)]
    records = b"".join(batch[2] for body in bodies for batch in body[2])
    assert Counter(records[::2]) == {0: 5, 1: 3, 2: 2}
    assert not tally.refused


@CLIENTS
def test_a_line_without_a_cell_is_refused_by_itself(tmp_path: Path, client: Uploads) -> None:
    """No tab, and a value that is not in a list without other, are counted under the client's own reason."""
    registry = registry_of(tmp_path, m={"mechanism": "randomized-response", "dimension": COUNTRIES})
    tally = Tally()
    uploads = list(client(registry, ["a", "AT\ta", "DE\ta", "DE\tzz", "CH\tb"], 2, tally))
    assert sum(upload.reports for upload in uploads) == 2
    assert tally.refused == {"dimension": 2, "not-in-values": 1}


def test_only_the_first_tab_divides() -> None:
    """A value may hold tabs, and without a dimension a whole line is the value."""
    assert in_two("DE\ta\tb", True) == ("DE", "a\tb")
    assert in_two("DE\ta", False) == (None, "DE\ta")
    assert in_two("a", True) == (None, "a")


def test_encoding_without_cells_is_an_error(tmp_path: Path) -> None:
    """Records of a metric with a dimension cannot be made up without saying whose they are; else cells play no part."""
    metric = metric_of(tmp_path, "randomized-response", dimension=COUNTRIES)
    index = np.zeros(3, np.intp)
    with pytest.raises(ValueError, match="no cells"):
        encode(metric, [b"a"], index, np.random.default_rng(1))
    plain = metric.undivided
    without = encode(plain, [b"a"], index, np.random.default_rng(1))
    assert (encode(plain, [b"a"], index, np.random.default_rng(1), np.arange(3)) == without).all()
    split = encode(metric, [b"a"], index, np.random.default_rng(1), np.array([0, 1, 0]))
    assert (split[:, 1:] == without).all()
    assert split[:, 0].tolist() == [0, 1, 0]


def test_cells_are_told_apart_from_end_to_end(tmp_path: Path) -> None:
    """Reports of the client's own, sealed and split, find in each cell what its devices hold: within 6 standard errors.

    False alarm below 1e-8 for each of 4 figures; noise comes from the operating system. Cells in the wrong order would
    be 20 standard errors off.
    """
    registry = registry_of(tmp_path, m={"mechanism": "randomized-response", "epsilon": 4, "dimension": COUNTRIES})
    metric = registry.metric("m")
    sent = []
    for country, value in [("CH", "a")] * 150 + [("DE", "b")] * 150:
        outbox = Outbox()
        reporter = Reporter(registry.plan, MemoryStorage(), outbox)
        assert reporter.record("m", value, country)
        assert reporter.flush().sent == 1
        sent.append(msgpack.unpackb(outbox.bodies[0])[2][0][2])
    assert {record[:1] for record in sent} == {front_of(metric.device, c) for c in ("CH", "DE")}
    seal(tmp_path, metric, np.frombuffer(b"".join(sent), np.uint8).reshape(-1, 2))
    split = decode_by(metric, Dataset(tmp_path, metric))
    for country, truth in (("CH", {"a": 150, "b": 0}), ("DE", {"a": 0, "b": 150})):
        result = split[country]
        assert isinstance(result, Estimates)
        for value, count in truth.items():
            place = result.value.index(value)
            assert abs(result.count[place] - count) < 6 * result.std_error[place]
