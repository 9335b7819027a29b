"""Running a subcommand in the test's own process."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType


def run_command(command: ModuleType, words: Sequence[str]) -> int:
    """The exit code of ``command`` with these words behind its name; its errors come out as they are."""
    parser = argparse.ArgumentParser()
    command.add_arguments(parser)
    return int(command.run(parser.parse_args(words)))


def run_on(command: ModuleType, folder: Path, *words: str) -> int:
    """The same for the registry and the sealed data that are in ``folder``; the metric's name is the first word."""
    return run_command(command, [str(folder / "registry.toml"), *words, "--data", str(folder)])
