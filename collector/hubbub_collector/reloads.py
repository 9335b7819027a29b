"""SIGHUP, in the parent of the workers: each thing is checked here, once, before the workers are told to read it again.

The workers read the registry from a copy of the last one that was right. So one that is started again while the file
is broken starts as the others are.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from hubbub_client.errors import HubbubError
from hubbub_collector.access.file import read_tokens
from hubbub_collector.durable import write_atomically
from hubbub_collector.errors import CollectorError
from hubbub_collector.layout import DataDirectory
from hubbub_collector.live import REGISTRY, TLS, TOKENS
from hubbub_collector.tls import check_pair
from hubbub_collector.worker import WorkerSettings
from hubbub_registry import load_registry

log = logging.getLogger("hubbub.collector")


class Reloads:
    """Keeps the copy in ``folder``. ``count`` is told what was read again, and whether it was right."""

    def __init__(self, settings: WorkerSettings, folder: Path, count: Callable[[str, bool], None]) -> None:
        self._settings = settings
        self._copy = folder / "registry.toml"
        self._count = count

    def settings(self) -> WorkerSettings:
        """The workers' settings, with the copy for a registry. Raises CollectorError, RegistryError."""
        self._registry()
        self._tokens()
        self._tls()
        return replace(self._settings, registry=str(self._copy))

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

    def _registry(self) -> bool:
        path = Path(self._settings.registry)
        load_registry(path, candidates=False)  # here, where its problems can be told with its own name
        candidate = self._copy.with_suffix(".new")
        try:
            text = path.read_bytes()
            write_atomically(candidate, lambda file: file.write(text))
            load_registry(candidate, candidates=False)  # the file may have been written to in between
            candidate.replace(self._copy)
        except OSError as error:
            raise CollectorError(f"{path}: cannot be copied to {self._copy} ({error.strerror}); free space") from None
        return True

    def _tls(self) -> bool:
        if self._settings.tls_cert is None or self._settings.tls_key is None:
            return False
        check_pair(self._settings.tls_cert, self._settings.tls_key)
        return True

    def _tokens(self) -> bool:
        if not self._settings.require_token:
            return False
        read_tokens(DataDirectory(Path(self._settings.data)).tokens)
        return True
