"""One process at a time: an advisory lock on a file, which the kernel releases when its holders are gone."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from hubbub_collector.errors import CollectorError


@contextmanager
def exclusive(path: Path, holder: str) -> Iterator[int]:
    """Holds the lock ``path``; yields its descriptor, which a child process may inherit to hold the lock as well.

    The file stays: removing it would let two processes hold locks on two files of one name. Raises CollectorError where
    another ``holder`` (such as "collector") has it, or where the directory cannot be written.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except OSError as error:
        raise CollectorError(
            f"{path.parent}: cannot be used as a data directory ({error.strerror}); "
            "name a directory that this user can write"
        ) from None
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise CollectorError(
                f"{path.parent}: another {holder} is using this data directory; stop it, or name another directory"
            ) from None
        yield descriptor
    finally:
        os.close(descriptor)
