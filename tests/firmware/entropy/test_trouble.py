from __future__ import annotations

import json

import pytest

from hubbub_client import MemoryStorage
from hubbub_firmware.trouble import MOST, NAME, REASONS, Troubles


def test_counts_outlive_a_boot() -> None:
    """What one object counted, the next one over the same storage tells, and both add up."""
    storage = MemoryStorage()
    first, second = Troubles(storage), Troubles(storage)
    assert first.counts() == {}
    first.count("entropy")
    second.count("entropy", 2)
    first.count("clock")
    assert first.counts() == second.counts() == Troubles(storage).counts() == {"entropy": 3, "clock": 1}


def test_what_was_told_is_taken_off_and_no_more() -> None:
    """Counts that came up while the operator was being told stay."""
    troubles = Troubles(MemoryStorage())
    troubles.count("entropy", 2)
    troubles.count("storage")
    told = troubles.counts()
    troubles.count("entropy")
    troubles.settle(told)
    assert troubles.counts() == {"entropy": 1}
    troubles.settle({"entropy": 5, "clock": 1})
    assert troubles.counts() == {}


def test_reasons_are_a_fixed_list() -> None:
    """Another reason is an error: a count must depend on nothing that was recorded. The order is the frames'."""
    assert REASONS == ("entropy", "entropy-repeat", "state-damaged", "state-rolled-back", "storage", "clock")
    storage = MemoryStorage()
    with pytest.raises(ValueError, match="emoji is no trouble"):
        Troubles(storage).count("emoji")
    assert storage.files == {}


def test_counts_end_at_what_a_frame_holds() -> None:
    """2**32 - 1, and it stays there."""
    troubles = Troubles(MemoryStorage())
    troubles.count("clock", MOST)
    troubles.count("clock")
    assert troubles.counts() == {"clock": 0xFFFFFFFF}


@pytest.mark.parametrize(
    "content",
    [b"", b"{", b"[]", b"\xff", b"1", b'{"emoji": 1}', b'{"clock": -1}', b'{"clock": 0}', b'{"clock": true}',
     b'{"clock": 1.5}', b'{"clock": "1"}', b'{"clock": 4294967296}', b'{"clock": 1, "x": 1}'],
)  # fmt: skip
def test_a_damaged_file_is_itself_a_trouble(content: bytes) -> None:
    """Whatever lies in the file, counting goes on, and nothing but reasons and counts comes out."""
    storage = MemoryStorage()
    storage.files[NAME] = content
    troubles = Troubles(storage)
    assert troubles.counts() == {"state-damaged": 1}
    troubles.count("clock")
    assert json.loads(storage.files[NAME]) == {"state-damaged": 1, "clock": 1}


def test_a_storage_that_fails_loses_no_count_of_this_boot() -> None:
    """Nothing raises; what could not be stored is kept, with a count of the failure, and stored once that works."""
    storage = MemoryStorage()
    troubles = Troubles(storage)
    troubles.count("clock")
    works = storage.write

    def fail(*_: object) -> None:
        raise OSError(28)

    storage.write = fail  # type: ignore[method-assign, assignment]
    troubles.count("entropy")
    assert troubles.counts() == {"clock": 1, "entropy": 1, "storage": 1}
    troubles.count("entropy", 2)
    assert troubles.counts() == {"clock": 1, "entropy": 3, "storage": 2}
    storage.write = works  # type: ignore[method-assign]
    troubles.count("clock")
    assert Troubles(storage).counts() == {"clock": 2, "entropy": 3, "storage": 2}
    assert troubles.counts() == Troubles(storage).counts()


def test_a_storage_that_cannot_be_read_says_so() -> None:
    """A read that fails is a count of the storage."""
    storage = MemoryStorage()

    def fail(_: str) -> None:
        raise OSError(5)

    storage.read = fail  # type: ignore[method-assign, assignment]
    assert Troubles(storage).counts() == {"storage": 1}
