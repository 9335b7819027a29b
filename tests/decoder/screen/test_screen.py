from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from hubbub_client.mechanisms.names import NAMES
from hubbub_decoder import Dataset, decode
from hubbub_decoder.commands import decode as command
from hubbub_decoder.counting.records import Records
from hubbub_decoder.screen import SUSPICIOUS, Screen
from hubbub_registry import Metric

from tests.commands import run_command
from tests.decoder.reports import encode, seal
from tests.decoder.screen.test_laws import SCREENED
from tests.registries import metric_of, values_of, write_registry


def screened(metric: Metric, records: Records) -> bool:
    screen = Screen(metric)
    screen.add(records)
    return screen.verdict().suspicious


def honest(metric: Metric, n: int, seed: int = 7) -> Records:
    values = values_of(metric.mechanism)
    return encode(metric, [values[i % 7 % len(values)] for i in range(n)], seed)


@pytest.mark.parametrize("mechanism", NAMES)
def test_honest_devices_are_not_flagged(tmp_path: Path, mechanism: str) -> None:
    """The real client's records pass, in one piece or many. False alarms: 1e-6 each by the bound; the seed is fixed."""
    metric = metric_of(tmp_path, mechanism)
    records = honest(metric, 1500)
    assert not screened(metric, records)
    whole, pieces = Screen(metric), Screen(metric)
    whole.add(records)
    for start in range(0, 1500, 400):
        pieces.add(records[start : start + 400])
    assert whole.verdict() == pieces.verdict()


@pytest.mark.parametrize("mechanism", [name for name in SCREENED if name != "subset-selection"])
def test_one_record_sent_over_and_over_is_flagged(tmp_path: Path, mechanism: str) -> None:
    """Copies of one record, as many again as there are honest ones, do not pass."""
    metric = metric_of(tmp_path, mechanism)
    records = honest(metric, 1500)
    copies = [np.concatenate([records, np.repeat(records[i : i + 1], 1500, axis=0)]) for i in range(8)]
    assert sum(screened(metric, each) for each in copies) >= 4


def test_full_vectors_are_flagged_from_a_few_in_a_hundred(tmp_path: Path) -> None:
    """All bits set support every value at once: 3 % of such records among 3,000 are noticed."""
    metric = metric_of(tmp_path, "count-mean-sketch")
    records = honest(metric, 3000)
    full = records[:90].copy()
    full[:, 0] |= 0xC0  # the six bits of the hash index stay
    full[:, 1:-1] = 0xFF
    full[:, -1] = 0x3F
    assert screened(metric, np.concatenate([records, full]))


def test_one_set_of_a_wrong_size_is_flagged(tmp_path: Path) -> None:
    """Subset selection always sends equally many values, so a single record of more, or of none, was made up."""
    metric = metric_of(tmp_path, "subset-selection")
    records = honest(metric, 1500)
    assert not screened(metric, records)
    for forged in (0b11111, 0):
        assert screened(metric, np.concatenate([records, np.full((1, 1), forged, np.uint8)]))


def test_a_device_that_repeats_its_permanent_noise_is_honest(tmp_path: Path) -> None:
    """RAPPOR devices that send twenty reports of one period share a cohort each, and that is no suspicion."""
    metric = metric_of(tmp_path, "rappor", reports_per_period=20)
    records = np.repeat(honest(metric, 60), 20, axis=0)
    assert not screened(metric, records)
    assert screened(metric_of(tmp_path, "rappor"), np.repeat(honest(metric, 60), 40, axis=0))


def test_decode_shows_the_flag(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A part with made-up records is named in the notes and in JSON with its bound; the honest part is not."""
    path = write_registry(tmp_path / "r.toml", {"m": {"mechanism": "hadamard-count-mean-sketch"}})
    metric = metric_of(tmp_path, "hadamard-count-mean-sketch")
    records = honest(metric, 1500)
    seal(tmp_path, metric, records, period=20000)
    seal(tmp_path, metric, np.concatenate([records, np.repeat(records[:1], 300, axis=0)]), period=20001)
    assert command_line(path, tmp_path, "--format", "json") == 0
    document = json.loads(capsys.readouterr().out)
    (suspect,) = document["suspicious"]
    assert suspect["p_value"] < SUSPICIOUS
    assert (suspect["file"], suspect["period"], suspect["records"]) == ("00001.parquet", 20001, 1800)
    assert suspect["what"] in ("hash index", "row")
    assert [note for note in document["notes"] if "is suspicious" in note and "period 20001" in note]
    assert "suspicious" in str(decode(metric, Dataset(tmp_path, metric), ["a"]))
    assert "suspicious" not in str(decode(metric, Dataset(tmp_path, metric, [20000]), ["a"]))


def command_line(registry: Path, data: Path, *options: str) -> int:

    (data / "candidates").write_text("a\nb\n")
    words = [str(registry), "m", "--data", str(data), "--candidates", str(data / "candidates"), *options]
    return run_command(command, words)
