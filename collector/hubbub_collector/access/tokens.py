"""The tokens that a running worker knows, as the file says at this moment."""

from __future__ import annotations

import logging
import os
from collections.abc import Iterable
from pathlib import Path

from hubbub_collector.access.file import read_tokens
from hubbub_collector.access.token import NOBODY, Token, split_token
from hubbub_collector.errors import CollectorError, Refusal
from hubbub_registry import Metric

log = logging.getLogger("hubbub.collector")

_SCHEME = "bearer"
Version = tuple[int, ...] | None
UNSEEN: Version = ()
"""The version of no file."""


class Tokens:
    """Follows the file ``path``: a change is noticed by ``refresh``, which is to be called about once a second."""

    def __init__(self, path: Path, last: Path | None = None) -> None:
        """Where the file is not right, begins with the copy ``last`` of the last one that was. Raises CollectorError
        where there is none.
        """
        self._path = path
        self._names: dict[str, bytes] = {}
        self._tokens: dict[str, Token] = {}
        self._scopes: dict[str, frozenset[bytes]] = {}
        self._seen: Version = UNSEEN
        self._failed: Version = UNSEEN
        version = version_of(path)
        try:
            self._take(read_tokens(path))
            self._seen = version
        except CollectorError:
            if last is None or not last.exists():
                raise
            self._take(read_tokens(last))

    def holder(self, authorization: str | None) -> Token:
        """The token of an Authorization header. Raises Refusal (401), the same for unknown, wrong and revoked ones."""
        if authorization is None:
            raise Refusal(401, "token-missing", "this collector takes uploads with a token: Authorization: Bearer ...")
        scheme, _, text = authorization.partition(" ")
        parts = split_token(text.strip()) if scheme.lower() == _SCHEME else None
        id, secret = parts or ("", "")
        token = self._tokens.get(id, NOBODY)
        if not token.opens(secret):
            raise _unknown()
        return token

    def check_scope(self, token: Token, fingerprints: Iterable[bytes]) -> None:
        """Raises Refusal: 403 unless ``token`` is for all of ``fingerprints``, 401 where it is no token any more. One
        for all metrics is for those that this collector does not know as well.
        """
        if (now := self._tokens.get(token.id)) is None or now.revoked:  # it has ended while the body arrived
            raise _unknown()
        if now.metrics and not self._scopes[token.id].issuperset(fingerprints):
            raise Refusal(403, "token-scope", "the token is not for all metrics in the upload; nothing was stored")

    def use(self, metrics: Iterable[Metric]) -> None:
        """Takes the names of tokens' metrics to mean these."""
        self._names = {metric.name: metric.fingerprint for metric in metrics}
        self._take(list(self._tokens.values()))

    def refresh(self) -> bool | None:
        """Reads the file again where it has changed: True where it did and is right, False where the tokens are as
        before because it is not, None where it has not changed. What could not be read is read again the next time:
        the file may be right, and a token in it revoked. The log says it once.
        """
        version = version_of(self._path)  # before the file is read, so that a change meanwhile is seen the next time
        if version == self._seen:
            return None
        try:
            self._take(read_tokens(self._path))
        except CollectorError as error:
            if version != self._failed:
                log.error("the tokens are as before: %s", error)
            self._failed = version
            return False
        self._seen, self._failed = version, UNSEEN
        return True

    def _take(self, tokens: list[Token]) -> None:
        self._scopes = {token.id: frozenset(map(self._fingerprint, token.metrics)) for token in tokens}
        self._tokens = {token.id: token for token in tokens}

    def _fingerprint(self, name: str) -> bytes:
        if name in self._names:
            return self._names[name]
        try:
            return bytes.fromhex(name)
        except ValueError:
            return b""  # a metric that the registry does not have: no batch is of it


def _unknown() -> Refusal:
    return Refusal(401, "token-unknown", "the token is unknown, wrong or revoked")


def version_of(path: Path) -> Version:
    """What changes whenever the file ``path`` does, also where only its rights do; None where there is none."""
    try:
        status = os.stat(path)
    except FileNotFoundError:
        return None
    except OSError as error:
        return (error.errno or 0,)
    return status.st_mtime_ns, status.st_ctime_ns, status.st_ino, status.st_size
