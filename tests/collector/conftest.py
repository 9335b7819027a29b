"""What most tests of the collector begin with: a registry, its metrics, and a data directory that is not there yet."""

from __future__ import annotations

from pathlib import Path

import pytest

from hubbub_collector.layout import DataDirectory
from hubbub_registry import Metric, Registry

from tests.collector.uploads import load


@pytest.fixture
def registry(tmp_path: Path) -> Registry:
    return load(tmp_path)


@pytest.fixture
def sketch(registry: Registry) -> Metric:
    return registry.metric("sketch")


@pytest.fixture
def choice(registry: Registry) -> Metric:
    return registry.metric("choice")


@pytest.fixture
def data(tmp_path: Path) -> DataDirectory:
    return DataDirectory(tmp_path / "data")
