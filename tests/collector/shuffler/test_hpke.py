"""The sealing of records: HPKE as RFC 9180 has it, keys in files, and plaintexts of one length."""

from __future__ import annotations

import json
import os
import stat
from importlib.metadata import EntryPoint
from pathlib import Path

import pytest
from cryptography.hazmat.bindings._rust import openssl
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey
from hypothesis import given
from hypothesis import strategies as st

from hubbub_collector.errors import CollectorError
from hubbub_collector.opening.keys import PrivateKey, new_keys
from hubbub_collector.shuffler.sealed_body import LEAST_BYTES, MOST_BYTES, parse
from hubbub_registry.commands.discovery import GROUP, missing_package
from hubbub_sealing import KeyFileError, PublicKey
from hubbub_sealing.keys import OVERHEAD, SUITE, key_id
from hubbub_sealing.record import HEAD_BYTES, MAX_PERIOD, MAX_ROOM, SealedRecord, pack, unpack

from tests.collector.server_process import hubbub
from tests.collector.shuffler.sealing import make_keys, sealed
from tests.collector.uploads import batch, load, records, upload


def test_rfc_9180_vector() -> None:
    """The suite opens the first message of RFC 9180, A.1.1: base mode, X25519, HKDF-SHA256, AES-128-GCM."""
    key = X25519PrivateKey.from_private_bytes(
        bytes.fromhex("4612c550263fc8ad58375df3f557aac531d26850903e55a9f23f21d8534e8ac8")
    )
    encapsulated = bytes.fromhex("37fda3567bdbd628e88668c3c8d7e97d1d1253b6d4ea6d44c150f741f1bf4431")
    message = bytes.fromhex(
        "f938558b5d72f1a23810b4be2ab4f84331acc02fc97babc53a52ae8218a355a96d8770ac83d07bea87e13c512a"
    )
    info, aad = b"Ode on a Grecian Urn", b"Count-0"
    opened = openssl.hpke._decrypt_with_aad(SUITE, encapsulated + message, key, info, aad)
    assert opened == b"Beauty is truth, truth beauty"


def test_sealed_and_opened(tmp_path: Path) -> None:
    """What is sealed to a key is opened by its private key alone, never twice the same bytes, and not when changed."""
    keys, other = make_keys(tmp_path / "a"), make_keys(tmp_path / "b")
    once, again = keys.seals.seal(b"a record"), keys.seals.seal(b"a record")
    assert once != again
    assert len(once) == len(b"a record") + OVERHEAD
    assert keys.opens.open(once) == keys.opens.open(again) == b"a record"
    assert other.opens.open(once) is None
    for changed in (once[:-1], once[:40], b"", bytes(len(once)), *(_flipped(once, at) for at in (0, 31, 32, 60))):
        assert keys.opens.open(changed) is None
    assert keys.seals.id == keys.opens.id == keys.id


def _flipped(data: bytes, at: int) -> bytes:
    at = min(at, len(data) - 1)
    return data[:at] + bytes([data[at] ^ 1]) + data[at + 1 :]


def test_a_key_that_protects_nothing_is_refused() -> None:
    """A point of small order, to which everything is sealed with a secret that everybody knows, is no public key."""
    for raw in (bytes(32), b"\x01" + bytes(31)):
        with pytest.raises(ValueError, match="shared key"):
            PublicKey(raw)


def test_key_files(tmp_path: Path) -> None:
    """The command makes files that load, private ones for their owner alone, and never writes over one."""
    done = hubbub("keys", "new", "-o", str(tmp_path / "keys"), "--json")
    assert done.returncode == 0, done.stderr
    said = json.loads(done.stdout)
    private, public, secret = (Path(name) for name in said["files"])
    assert PrivateKey.load(private).id == PublicKey.load(public).id == bytes.fromhex(said["id"])
    assert [stat.S_IMODE(path.stat().st_mode) for path in (private, secret)] == [0o600, 0o600]
    before = secret.read_bytes()
    assert len(new_keys(tmp_path / "keys")[1]) == 2  # the secret stays
    assert secret.read_bytes() == before
    (tmp_path / "file").write_text("")
    with pytest.raises(CollectorError, match="name another folder"):
        new_keys(tmp_path / "file")


def test_what_to_install() -> None:
    """Where the package that seals is not there, a command says which extra brings it."""
    command = EntryPoint("open", "hubbub_collector.commands.open", GROUP)
    said = missing_package(command, ModuleNotFoundError(name="cryptography.hazmat"))
    assert said.endswith("run: pip install 'hubbub[shuffler]'")


def test_ciphertext_size(tmp_path: Path) -> None:
    """``hubbub keys size`` prints the size that devices make of these plans."""
    keys, registry = make_keys(tmp_path / "keys"), load(tmp_path)
    plan = tmp_path / "plan.json"
    assert hubbub("compile", str(registry.path), "-o", str(plan)).returncode == 0
    body = upload(batch(registry.metric("choice"), records(registry.metric("choice"), 1)))
    assert hubbub("keys", "size", str(plan)).stdout == f"{parse(sealed(body, keys.seals, registry)).size}\n"


def test_wrong_key_files(tmp_path: Path) -> None:
    """A file of the other kind, a changed one, and what is no key at all are refused, and the file is named."""
    keys = make_keys(tmp_path)
    document = json.loads(keys.public.read_text())
    bad = tmp_path / "bad.json"
    for change in ({"key": "00" * 31}, {"key": "00" * 32}, {"id": "0" * 16}, {"schema": 2}, {"suite": "x"}, {"key": 5}):
        bad.write_text(json.dumps({**document, **change}))
        with pytest.raises(KeyFileError, match=r"bad\.json: is not a hubbub public key"):
            PublicKey.load(bad)
    zero = {**document, "key": "00" * 32, "id": key_id(bytes(32)).hex()}
    bad.write_text(json.dumps(zero))
    with pytest.raises(KeyFileError, match="no usable X25519 key"):
        PublicKey.load(bad)
    for text in (b"", b"[]", b"\xff", b"{}", b"[" * 100_000):
        bad.write_bytes(text)
        with pytest.raises(KeyFileError):
            PublicKey.load(bad)
    with pytest.raises(KeyFileError, match="is not a hubbub private key"):
        PrivateKey.load(keys.public)
    with pytest.raises(KeyFileError, match="is not a hubbub public key"):
        PublicKey.load(keys.private)
    with pytest.raises(CollectorError, match="cannot be read"):
        PrivateKey.load(tmp_path / "none")


@given(
    st.binary(min_size=16, max_size=16), st.binary(min_size=8, max_size=8), st.integers(0, MAX_PERIOD),
    st.binary(min_size=1, max_size=40), st.integers(0, 30),
)  # fmt: skip
def test_records_come_back(id: bytes, fingerprint: bytes, period: int, record: bytes, more: int) -> None:
    """Whatever is packed is unpacked, and its length is that of the room, not of the record."""
    sealed = SealedRecord(id, fingerprint, period, record)
    packed = pack(sealed, len(record) + more)
    assert len(packed) == HEAD_BYTES + len(record) + more
    assert unpack(packed) == sealed


def test_what_is_no_record() -> None:
    """Padding that is not zero, a length of nothing or past the end, a period too large: none is a record."""
    good = pack(SealedRecord(b"i" * 16, b"f" * 8, 7, b"abc"), 5)
    assert unpack(good).record == b"abc"
    length_at = HEAD_BYTES - 2
    for bad in (
        good[:-1] + b"\x01",
        good[:length_at] + b"\x00\x00" + bytes(5),
        good[:length_at] + b"\x00\x06" + good[HEAD_BYTES:],
        good[:24] + b"\x00\x20" + good[26:],
        good[: HEAD_BYTES - 1],
        b"",
    ):
        with pytest.raises(ValueError, match="not a record"):
            unpack(bad)
    for record, room in ((b"", 5), (b"abcdef", 5), (os.urandom(MAX_ROOM + 1), MAX_ROOM + 1)):
        with pytest.raises(ValueError, match="does not fit"):
            pack(SealedRecord(b"i" * 16, b"f" * 8, 7, record), room)


def test_a_shuffler_takes_every_size_that_a_client_makes() -> None:
    """The bounds that a shuffler checks, without any cryptography, are those of the shortest and longest records."""
    assert LEAST_BYTES == OVERHEAD + HEAD_BYTES + 1
    assert MOST_BYTES == OVERHEAD + HEAD_BYTES + MAX_ROOM
