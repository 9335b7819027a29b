"""Tokens: the command, and the file that it writes."""

from __future__ import annotations

import hmac
import json
import os
import stat

import pytest

from hubbub_collector.access import token as token_module
from hubbub_collector.access.file import read_tokens
from hubbub_collector.access.token import Token, draw_token
from hubbub_collector.errors import CollectorError
from hubbub_collector.layout import DataDirectory
from hubbub_registry.commands import main

from tests.collector.access.issuing import issue

Captured = pytest.CaptureFixture[str]


def test_the_secret_is_nowhere_on_disk(data: DataDirectory, capsys: Captured) -> None:
    """The token is printed once; the file holds its hash, and only its owner may read it. 256 bits make it."""
    arguments = ["--data", str(data.root), "--metrics", "a,b", "--cap", "8", "--label", "an app"]
    assert main(["token", "issue", *arguments]) == 0
    text = capsys.readouterr().out.strip()
    _, id, secret = text.split(".")
    assert len(secret) == 43  # 6 bits each, 256 of them random
    stored = b"".join(path.read_bytes() for path in data.root.rglob("*") if path.is_file())
    assert secret.encode() not in stored
    assert id.encode() in stored
    assert stat.S_IMODE(data.tokens.stat().st_mode) == 0o600
    assert stat.S_IMODE(data.tokens.parent.stat().st_mode) == 0o700
    (token,) = read_tokens(data.tokens)
    assert (token.metrics, token.cap, token.label, token.revoked) == (("a", "b"), 8, "an app", False)
    assert main(["token", "list", "--data", str(data.root), "--json"]) == 0
    (row,) = json.loads(capsys.readouterr().out)["tokens"]
    assert (row["id"], row["metrics"], row["cap"]) == (id, ["a", "b"], 8)
    assert "sha256" not in row
    assert main(["token", "list", "--data", str(data.root)]) == 0
    shown = capsys.readouterr().out
    assert id in shown
    assert secret not in shown
    assert len({draw_token()[0] for _ in range(100)}) == 100


def test_a_secret_is_compared_in_constant_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """The comparison is hmac.compare_digest over two SHA-256 digests, also where there is no such token."""
    compared: list[tuple[int, int]] = []

    def watched(left: bytes, right: bytes) -> bool:
        compared.append((len(left), len(right)))
        return hmac.compare_digest(left, right)

    monkeypatch.setattr(token_module, "hmac", type("hmac", (), {"compare_digest": staticmethod(watched)}))
    _, id, digest = draw_token()
    assert not Token(id, digest).opens("x")
    assert not token_module.NOBODY.opens("x")
    assert compared == [(32, 32), (32, 32)]


@pytest.mark.parametrize(
    "arguments",
    [["issue", "--metrics", "a b"], ["issue", "--metrics", ""], ["issue", "--cap", "0"], ["revoke"], ["forget"]],
)
def test_wrong_usage_makes_no_token(data: DataDirectory, arguments: list[str]) -> None:
    """Wrong usage is status 2, and nothing is written."""
    assert main(["token", *arguments, "--data", str(data.root)]) == 2
    assert not data.root.exists()


def test_revoking_what_is_not_there_is_an_error(data: DataDirectory, capsys: Captured) -> None:
    """An id that no token has is status 1, and says where to look."""
    issue(data)
    assert main(["token", "revoke", "0" * 16, "--data", str(data.root)]) == 1
    assert "see hubbub token list" in capsys.readouterr().err


def test_what_root_writes_belongs_to_the_directorys_owner(data: DataDirectory, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where root issues a token, the folder, the file and the lock are given to whom the folder around each belongs."""
    given: dict[int, tuple[int, int]] = {}
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    monkeypatch.setattr(os, "fchown", lambda file, user, group: given.update({os.fstat(file).st_ino: (user, group)}))
    data.root.mkdir()
    assert main(["token", "issue", "--data", str(data.root)]) == 0
    owner = data.root.stat().st_uid, data.root.stat().st_gid
    assert given == {path.stat().st_ino: owner for path in (data.token_lock, data.tokens.parent, data.tokens)}


@pytest.mark.parametrize(
    "change",
    [
        {"id": "xyz"}, {"sha256": "00"}, {"cap": 0}, {"cap": True}, {"metrics": "a"}, {"metrics": [""]}, {"label": 1},
        {"revoked": 0}, {"more": 1},
    ],
)  # fmt: skip
def test_a_file_that_is_not_right_is_refused(data: DataDirectory, change: dict[str, object]) -> None:
    """A wrong type, a missing or a further key: the whole file is refused, and by name."""
    issue(data)
    document = json.loads(data.tokens.read_text())
    document["tokens"][0].update(change)
    data.tokens.write_text(json.dumps(document))
    with pytest.raises(CollectorError, match=r"tokens\.json: .*restore it"):
        read_tokens(data.tokens)


def test_a_token_file_cut_anywhere_is_refused(data: DataDirectory) -> None:
    """No cut of the file is taken for a file with fewer tokens."""
    issue(data)
    issue(data)
    whole = data.tokens.read_bytes().rstrip()
    for at in range(0, len(whole), 5):
        data.tokens.write_bytes(whole[:at])
        with pytest.raises(CollectorError):
            read_tokens(data.tokens)
