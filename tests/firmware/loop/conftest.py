"""One folder, built once, and a board with a copy of it for each test."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.firmware.loop.boards import Board, board, built


@pytest.fixture(scope="package")
def original(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return built(tmp_path_factory.mktemp("built"))


@pytest.fixture
def device(original: Path, tmp_path: Path) -> Iterator[Board]:
    with board(original, tmp_path) as made:
        yield made
