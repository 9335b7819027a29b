from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from hubbub_client.mechanisms.joint import Encoder
from hubbub_client.pairs import pair_bytes
from hubbub_registry import load_registry
from hubbub_registry.commands import main
from hubbub_simulations.commands import audit
from hubbub_simulations.fleet.reference import reference_uploads
from hubbub_simulations.fleet.tally import Tally
from hubbub_simulations.fleet.values import Tabs
from hubbub_simulations.fleet.vectorised import vectorised_uploads
from hubbub_simulations.mechanisms import encoder

from tests.joints import BOOLEAN, LETTERS, PARTS, joint, part
from tests.registries import metric_of, write_registry

SECRET = bytes(32)
VERSIONS = {"name": "version", "values": ["1.0", "other"], "other": "other", "min_cell": 10}


@pytest.mark.parametrize("first", [name for name in PARTS if name != "rappor, bloom"])
def test_the_vectorised_encoder_is_the_clients(tmp_path: Path, first: str) -> None:
    """Of the same random bytes both make the same records, for every mechanism that a part can be."""
    metric = joint(tmp_path, part(first), part("count-mean-sketch"))
    items = [pair_bytes((a, b)) for a in LETTERS for b in ("x", "y")]
    fast = encoder(metric, items)
    slow = Encoder(metric.device, SECRET)
    # A device derives its cohort from its secret; a simulated one draws it, from bytes in front of the others.
    cohort = fast.noise_bytes - slow.random_bytes
    noise = np.random.default_rng(1).integers(0, 256, (40, fast.noise_bytes), np.uint8)
    index = np.arange(40) % len(items)
    records = fast.encode(index, noise)
    for i in range(40):
        own = noise[i, cohort:].tobytes()
        assert slow.encode(items[index[i]], lambda _, own=own: own) == records[i].tobytes()  # type: ignore[misc]


@pytest.mark.parametrize("client", ["reference", "vectorised"])
def test_a_fleet_reports_pairs_of_a_file(tmp_path: Path, client: str) -> None:
    """A line holds both values with a tab between them; one without, and one with an unlisted half, are refused."""
    registry = load_registry(
        write_registry(
            tmp_path / "registry.toml",
            {"m": {"mechanism": "joint", "epsilon": 3, "first": part("local-hashing"), "second": BOOLEAN}},
        )
    )
    lines = ["word\ttrue", "word", "word\tmaybe", "two words\tfalse"]
    tally = Tally()
    if client == "reference":
        uploads = list(reference_uploads(registry.plan, "m", lines, 1, tally))
    else:
        uploads = list(vectorised_uploads(registry.metric("m"), lines, 1, tally, np.random.default_rng(1)))
    assert sum(upload.reports for upload in uploads) == 2
    assert tally.refused == {"type": 1, "not-in-values": 1}


@pytest.mark.parametrize(
    ("keys", "lines", "note"),
    [
        ({}, "word\n\n word\n", "line 1 has no tab, and so have 1 more: write FIRST<tab>SECOND"),
        ({"dimension": VERSIONS}, "\nword\ttrue\n", "line 2 has too few tabs: write version<tab>FIRST<tab>SECOND"),
    ],
)
def test_a_line_without_its_tabs_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], keys: dict[str, Any], lines: str, note: str
) -> None:
    """The first line with too few tabs is named on stderr, with how lines are written; blank lines count as lines."""
    joint_keys = {"mechanism": "joint", "epsilon": 3, "first": part("local-hashing"), "second": BOOLEAN, **keys}
    registry = write_registry(tmp_path / "registry.toml", {"m": joint_keys})
    (tmp_path / "values.txt").write_text(lines)
    words = ["fleet", str(registry), "m", str(tmp_path / "values.txt"), "--url", "http://127.0.0.1:9"]
    assert main(words) == 1
    assert f"values.txt: {note}" in capsys.readouterr().err


def test_lines_with_their_tabs_are_not_named(tmp_path: Path) -> None:
    """Of a metric without a dimension and of one value every line is whole; of a pair one with a tab."""
    for registered, line in (
        (metric_of(tmp_path, "local-hashing"), "a"),
        (metric_of(tmp_path, "local-hashing", dimension=VERSIONS), "1.0\ta"),
        (joint(tmp_path, part("local-hashing"), BOOLEAN), "a\ttrue"),
    ):
        tabs = Tabs(registered)
        tabs.see(1, line)
        assert tabs.note() is None


def test_an_audit_finds_the_epsilon_of_both_parts(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """``hubbub audit`` drives either part's encoder, and what it finds multiplies to what the metric states."""
    registry = write_registry(
        tmp_path / "registry.toml",
        {
            "m": {
                "mechanism": "joint", "epsilon": 2, "first": part("hadamard-response"),
                "second": {**BOOLEAN, "share": 0.25},
            }
        },
    )  # fmt: skip
    parser = argparse.ArgumentParser()
    audit.add_arguments(parser)
    assert audit.run(parser.parse_args([str(registry), "m", "--json"])) == 0
    found = json.loads(capsys.readouterr().out)["audits"]
    assert [each["metric"] for each in found] == ["m.first", "m.second"]
    metric = load_registry(registry).metric("m")
    for each, own in zip(found, metric.parts, strict=True):
        assert each["epsilon"] == pytest.approx(float(own.exact_epsilon), abs=1e-15)
