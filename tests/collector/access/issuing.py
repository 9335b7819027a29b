"""Making tokens for tests."""

from __future__ import annotations

from hubbub_collector.access.file import read_tokens, write_tokens
from hubbub_collector.access.token import Token, draw_token
from hubbub_collector.layout import DataDirectory


def issue(data: DataDirectory, *metrics: str, cap: int | None = None) -> str:
    """Adds a token to the file; returns its text."""
    text, id, digest = draw_token()
    write_tokens(data.tokens, [*read_tokens(data.tokens), Token(id, digest, "", metrics, cap, "2027-01-15")])
    return text


def bearer(text: str) -> str:
    return f"Bearer {text}"
