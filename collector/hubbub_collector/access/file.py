"""The file of tokens in a data directory: ``access/tokens.json``, readable by the collector's user alone."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, BinaryIO

from hubbub_collector.access.token import Token
from hubbub_collector.durable import sync_directory, write_atomically
from hubbub_collector.errors import CollectorError

SCHEMA = 1
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,127}")
_ID = re.compile(r"[0-9a-f]{16}")
_KEYS = {"id", "sha256", "label", "metrics", "cap", "issued", "revoked"}


def read_tokens(path: Path) -> list[Token]:
    """The tokens in ``path``, none where it is missing. Raises CollectorError for anything but a whole, right file."""
    try:
        document = json.loads(path.read_bytes())
    except FileNotFoundError:
        return []
    except (OSError, ValueError, RecursionError) as error:
        raise CollectorError(f"{path}: cannot be read ({type(error).__name__}); restore it from a copy") from None
    if not isinstance(document, dict) or document.keys() != {"schema", "tokens"} or document["schema"] != SCHEMA:
        raise CollectorError(f"{path}: is no file of tokens of schema {SCHEMA}; use the hubbub that wrote it")
    if not isinstance(document["tokens"], list):
        raise _wrong(path, "tokens is no array")
    tokens = [_token(path, entry) for entry in document["tokens"]]
    if len({token.id for token in tokens}) != len(tokens):
        raise _wrong(path, "an id is there twice")
    return tokens


def write_tokens(path: Path, tokens: Sequence[Token]) -> None:
    """Writes ``path`` whole or not at all; it belongs to whom its folder belongs to. Raises OSError."""
    entries = [
        {
            "id": token.id, "sha256": token.digest.hex(), "label": token.label, "metrics": list(token.metrics),
            "cap": token.cap, "issued": token.issued, "revoked": token.revoked,
        }
        for token in tokens
    ]  # fmt: skip
    text = json.dumps({"schema": SCHEMA, "tokens": entries}, indent=1, ensure_ascii=False) + "\n"
    if not path.parent.exists():
        path.parent.mkdir(mode=0o700, parents=True)
        folder = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY)
        try:
            keep_owner(folder, path.parent.parent)
        finally:
            os.close(folder)
        sync_directory(path.parent.parent)

    def write(file: BinaryIO) -> None:
        os.fchmod(file.fileno(), 0o600)
        keep_owner(file.fileno(), path.parent)
        file.write(text.encode())

    write_atomically(path, write)


def keep_owner(descriptor: int, folder: Path) -> None:
    """Gives a file that root has made in ``folder`` to the owner of ``folder``: the collector's user has to read it."""
    if os.geteuid() == 0:
        status = folder.stat()
        os.fchown(descriptor, status.st_uid, status.st_gid)


def check_metric(text: str) -> str:
    """``text``, where it can be a metric's name or a fingerprint. Raises ValueError."""
    if not _NAME.fullmatch(text):
        raise ValueError(f"{text!r} is neither the name of a metric nor a fingerprint of 16 hexadecimal digits")
    return text


def _token(path: Path, entry: Any) -> Token:
    if not isinstance(entry, Mapping) or entry.keys() != _KEYS:
        raise _wrong(path, "an entry has other keys than a token")
    id, digest, label, metrics, cap = (entry[key] for key in ("id", "sha256", "label", "metrics", "cap"))
    if not isinstance(id, str) or not _ID.fullmatch(id):
        raise _wrong(path, "an id is not 16 hexadecimal digits")
    if not isinstance(digest, str) or not re.fullmatch("[0-9a-f]{64}", digest):
        raise _wrong(path, f"token {id}: sha256 is not 64 hexadecimal digits")
    if not isinstance(label, str) or not isinstance(entry["issued"], str):
        raise _wrong(path, f"token {id}: label and issued are not text")
    if type(entry["revoked"]) is not bool or not (cap is None or (type(cap) is int and cap > 0)):
        raise _wrong(path, f"token {id}: revoked is not true or false, or cap neither null nor a number above 0")
    if not isinstance(metrics, list) or not all(isinstance(name, str) and _NAME.fullmatch(name) for name in metrics):
        raise _wrong(path, f"token {id}: metrics is not an array of names")
    return Token(id, bytes.fromhex(digest), label, tuple(metrics), cap, entry["issued"], entry["revoked"])


def _wrong(path: Path, what: str) -> CollectorError:
    return CollectorError(f"{path}: {what}; restore it from a copy")
