"""From a file of values to sealed data: the fleet's command against the collector itself."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from hubbub_registry import load_registry
from hubbub_registry.commands import main

from tests.registries import MECHANISMS, values_of, write_registry

ENTRY = "import sys; from hubbub_registry.commands import main; sys.exit(main())"
METRICS = {mechanism.replace("-", "_"): {"mechanism": mechanism} for mechanism in MECHANISMS}


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, str]]:
    """A folder with registry and values, and the address of a collector that runs on it until the tests are done."""
    folder = tmp_path_factory.mktemp("fleet")
    write_registry(folder / "registry.toml", METRICS)
    for metric, keys in METRICS.items():
        a, b, c = values_of(keys["mechanism"])
        (folder / f"{metric}.txt").write_text(f"{a}\n{b}\n{c}\n\n{b}\n" * 25 + "x" * 300 + "\n")
    collect = ["collect", str(folder / "registry.toml"), "--data", str(folder / "data"), "--port", "0"]
    command = [sys.executable, "-c", ENTRY, *collect]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    assert process.stdout is not None
    try:
        line = process.stdout.readline()
        found = re.search(r"http://\S+", line)
        assert found, line + process.stdout.read()
        yield folder, found[0]
    finally:
        process.terminate()
        process.wait(timeout=30)
        process.stdout.close()


def fleet(place: tuple[Path, str], metric: str, capsys: pytest.CaptureFixture[str], *options: str) -> dict[str, Any]:
    folder, url = place
    arguments = ["fleet", str(folder / "registry.toml"), metric, str(folder / f"{metric}.txt"), "--url", url, "--json"]
    assert main([*arguments, *options]) == 0
    summary: dict[str, Any] = json.loads(capsys.readouterr().out)
    return summary


@pytest.mark.parametrize("client", ["reference", "vectorised"])
@pytest.mark.parametrize("metric", METRICS)
def test_the_collector_accepts_every_report(
    place: tuple[Path, str], capsys: pytest.CaptureFixture[str], metric: str, client: str
) -> None:
    """Every mechanism's records pass the collector's strict checks, from either client, and are counted alike."""
    summary = fleet(place, metric, capsys, "--client", client, "--per-upload", "30")
    assert summary["devices"] == 101
    assert summary["reports"] == {"accepted": 100, "quarantined": 0, "refused": {"too-long": 1}}
    assert summary["uploads"] == {"accepted": 4, "refused": 0, "retries": 0}
    assert summary["reports_per_second"] > 0


def test_uploads_that_are_refused_for_good_are_an_error(
    place: tuple[Path, str], capsys: pytest.CaptureFixture[str]
) -> None:
    """An address without a collector's path refuses uploads for good: all are counted, and the status is 1."""
    folder, url = place
    arguments = ["fleet", str(folder / "registry.toml"), "rappor", str(folder / "rappor.txt")]
    assert main([*arguments, "--url", url + "/elsewhere", "--json"]) == 1
    shown = capsys.readouterr()
    assert json.loads(shown.out)["uploads"]["refused"] == 100
    assert "refused 100 uploads for good" in shown.err


def test_reports_that_the_collector_only_keeps_aside_are_an_error(
    place: tuple[Path, str], capsys: pytest.CaptureFixture[str]
) -> None:
    """A registry that the collector does not run: every report is told as quarantined, none as accepted, with status 1;
    and sealing with that registry brings every one of them into the data set, beside the running collector.
    """
    folder, url = place
    changed = write_registry(folder / "changed.toml", {"rappor": {"mechanism": "rappor", "bits": 32}})
    arguments = ["fleet", str(changed), "rappor", str(folder / "rappor.txt"), "--url", url, "--per-upload", "30"]
    for option in ([], ["--json"]):
        assert main([*arguments, *option]) == 1
        shown = capsys.readouterr()
        fingerprint = load_registry(changed).metric("rappor").fingerprint.hex()
        assert f"(fingerprint {fingerprint}): 100 reports lie in its quarantine" in shown.err
        if option:
            reports = json.loads(shown.out)["reports"]
            assert reports == {"accepted": 0, "quarantined": 100, "refused": {"too-long": 1}}
        else:
            rows = [line.strip("│ ").split("│") for line in shown.out.splitlines() if line.startswith("│")]
            cells = {row[0].strip(): row[-1].strip() for row in rows}
            assert (cells["reports accepted"], cells["quarantined"]) == ("0", "100")
    for released in (8, 0):
        assert main(["seal", str(changed), "--data", str(folder / "data"), "--all", "--json"]) == 0
        report = json.loads(capsys.readouterr().out)
        assert (report["released"], report["quarantined"]) == (released, 0)
        sealed = [group["records"] for group in report["groups"] if group["status"] == "sealed"]
        assert sum(sealed) == 25 * released
