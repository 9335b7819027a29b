"""The folder ``run`` of a data directory: what a running collector keeps for its workers, and nothing else needs."""

from __future__ import annotations

import contextlib
import shutil
from collections.abc import Iterator
from pathlib import Path

from hubbub_collector.errors import CollectorError
from hubbub_collector.metrics import make_files


@contextlib.contextmanager
def run_folder(folder: Path, workers: int) -> Iterator[Path]:
    """Makes ``folder`` anew for as long as the block lasts, and in it the files of the workers' metrics, whose folder
    it yields. Only who holds the lock of the collector may: what a killed one has left is deleted. It lies beside the
    data and not among the system's temporary files, which are cleaned up by age. Raises CollectorError.
    """
    metrics = folder / "metrics"
    try:
        if folder.exists():
            shutil.rmtree(folder)
        folder.mkdir(mode=0o700)
        make_files(metrics, workers)
    except OSError as error:
        raise CollectorError(
            f"{folder}: cannot be made anew ({error.strerror}); free some space, or correct its rights"
        ) from None
    try:
        yield metrics
    finally:
        shutil.rmtree(folder, ignore_errors=True)
