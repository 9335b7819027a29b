"""What the workers read: checked in their parent, once, and copied to the folder ``run`` where it is right.

The workers read the registry, the certificate and its key from those copies, and begin with the copy of the tokens
where the file of the tokens is not right. So one that is started again while a file is broken starts as the others are.
"""

from __future__ import annotations

import contextlib
import logging
import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import BinaryIO

from hubbub_client.errors import HubbubError
from hubbub_collector.access.file import read_tokens, write_tokens
from hubbub_collector.access.tokens import UNSEEN, Version, version_of
from hubbub_collector.durable import write_atomically
from hubbub_collector.errors import CollectorError
from hubbub_collector.layout import DataDirectory
from hubbub_collector.live import REGISTRY, TLS, TOKENS
from hubbub_collector.tls import check_pair
from hubbub_collector.worker import WorkerSettings
from hubbub_registry import load_registry

log = logging.getLogger("hubbub.collector")


class Reloads:
    """``count`` is told what was read again, and whether it was right."""

    def __init__(self, settings: WorkerSettings, count: Callable[[str, bool], None]) -> None:
        self._settings = settings
        self._data = DataDirectory(Path(settings.data))
        self._count = count
        self._followed: Version = UNSEEN
        self._registry_copy, self._chain, self._key = (
            self._data.run / name for name in ("registry.toml", "chain.pem", "key.pem")
        )

    def settings(self) -> WorkerSettings:
        """The workers' settings, with the copies in the files' places. Raises CollectorError, RegistryError."""
        self._registry()
        self._tokens()
        copied = replace(self._settings, registry=str(self._registry_copy))
        return replace(copied, tls_cert=str(self._chain), tls_key=str(self._key)) if self._tls() else copied

    def run(self) -> list[str]:
        """Reads everything again; returns what is right, for the workers to read."""
        right = []
        for what, read in ((REGISTRY, self._registry), (TLS, self._tls), (TOKENS, self._tokens)):
            try:
                used = read()
            except HubbubError as error:
                log.error("not reloaded, and as before: %s", error)
                self._count(what, False)
                continue
            if used:
                self._count(what, True)
                right.append(what)
        log.info("reloaded: %s", ", ".join(right) or "nothing")
        return right

    def follow(self) -> None:
        """Keeps up the copy of the tokens, which the workers follow by themselves; about once a second."""
        if self._settings.require_token and version_of(self._data.tokens) != self._followed:
            with contextlib.suppress(CollectorError):  # the workers say so, and go on with what they have
                self._tokens()

    def _registry(self) -> bool:
        path = Path(self._settings.registry)
        load_registry(path, candidates=False)  # here, where its problems can be told with its own name
        candidate = self._candidate(path, self._registry_copy)
        load_registry(candidate, candidates=False)  # the file may have been written to in between
        candidate.replace(self._registry_copy)
        return True

    def _tls(self) -> bool:
        chain, key = self._settings.tls_cert, self._settings.tls_key
        if chain is None or key is None:
            return False
        check_pair(chain, key)
        copies = [self._candidate(Path(chain), self._chain), self._candidate(Path(key), self._key)]
        check_pair(*map(str, copies))
        for candidate, copy in zip(copies, (self._chain, self._key), strict=True):
            candidate.replace(copy)
        return True

    def _tokens(self) -> bool:
        if not self._settings.require_token:
            return False
        version = version_of(self._data.tokens)
        tokens = read_tokens(self._data.tokens)
        try:
            write_tokens(self._data.last_tokens, tokens)
        except OSError as error:
            # An old copy must not bring back what was revoked: without one a worker needs the file itself to be right.
            self._data.last_tokens.unlink(missing_ok=True)
            raise _not_copied(self._data.tokens, self._data.last_tokens, error) from None
        self._followed = version
        return True

    def _candidate(self, path: Path, copy: Path) -> Path:
        """A copy of ``path`` that may take the place of ``copy``, for nobody else to read."""
        candidate = copy.with_name(copy.name + ".new")

        def write(file: BinaryIO) -> None:
            os.fchmod(file.fileno(), 0o600)
            file.write(content)

        try:
            content = path.read_bytes()
            write_atomically(candidate, write)
        except OSError as error:
            raise _not_copied(path, copy, error) from None
        return candidate


def _not_copied(path: Path, copy: Path, error: OSError) -> CollectorError:
    return CollectorError(f"{path}: cannot be copied to {copy} ({error.strerror}); free some space")
