"""``hubbub discover`` on sealed reports of a sequence fragment puzzle."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from hubbub_decoder.commands import discover
from hubbub_decoder.errors import ArgumentError
from hubbub_simulations.mechanisms import encode

from tests.commands import run_on
from tests.decoder.reports import seal
from tests.registries import metric_of


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """A registry, and the sealed reports of devices of which two thirds hold ``Öl`` and one third ``gas``."""
    metric = metric_of(tmp_path, "sequence-fragment-puzzle", epsilon=12, hashes=1024, fragment_hashes=64)
    index = np.repeat([0, 1], [4000, 2000])
    seal(tmp_path, metric, encode(metric, ["Öl".encode(), b"gas"], index, np.random.default_rng(1)))
    return tmp_path


def hubbub_discover(folder: Path, *arguments: str) -> int:
    return run_on(discover, folder, "m", *arguments)


def test_the_alphabet_is_what_values_are_made_of(data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """With their characters named both values are listed, the more frequent first, and a note says what was tried."""
    assert hubbub_discover(data, "--alphabet", "Öagls", "--format", "json") == 0
    document = json.loads(capsys.readouterr().out)
    assert [row["value"] for row in document["rows"]][:2] == ["Öl", "gas"]
    assert any("at most 8 bytes over the 5 characters 'aglsÖ'" in note for note in document["notes"])


def test_other_characters_are_not_found(data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Without the capital letter the value that has it is not listed, and neither is a part of it."""
    assert hubbub_discover(data, "--alphabet", "agls", "--format", "csv") == 0
    assert [line.split(",")[0] for line in capsys.readouterr().out.splitlines()] == ["value", "gas"]


@pytest.mark.parametrize("alphabet", ["", "a\udc80"])
def test_what_is_no_alphabet_is_refused(data: Path, alphabet: str) -> None:
    """No character, and bytes of a command line that are no text, are refused before anything is read."""
    with pytest.raises(ArgumentError, match="an alphabet is a text of its characters"):
        hubbub_discover(data, "--alphabet", alphabet)
