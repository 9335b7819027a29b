"""The page about the curator names every option and column there is."""

from __future__ import annotations

import argparse
import io
import json
import re
from pathlib import Path

from hubbub_firmware.commands.curate import add_arguments
from hubbub_firmware.curator.readings import read_lines
from hubbub_firmware.curator.table import COLUMNS

PAGE = (Path(__file__).parents[3] / "docs" / "curator.md").read_text()


def test_options() -> None:
    """Every option of the command has a row."""
    parser = argparse.ArgumentParser()
    add_arguments(parser)
    for action in parser._actions:
        if action.option_strings and action.dest != "help":
            assert re.search(rf"^\|[^|]*`[^`|]*{action.option_strings[-1].lstrip('-')}\b", PAGE, re.MULTILINE)


def test_columns() -> None:
    """Every column of a release is explained."""
    for column in COLUMNS:
        assert f"`{column}`" in PAGE


def test_the_reading_is_one() -> None:
    """The line that the page shows is a reading."""
    (line,) = re.findall(r'^    (\{"sensor".*\})$', PAGE, re.MULTILINE)
    (reading,) = read_lines(io.BytesIO(line.encode()), "page")
    assert reading.value == json.loads(line)["value"]
