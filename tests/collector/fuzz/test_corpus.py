"""What a fuzzer found, and what it started from, again."""

from __future__ import annotations

import random

import pytest

from hubbub_collector.openapi.answers import REPORTS, TROUBLES

from tests.collector.fuzz import targets
from tests.collector.fuzz.targets import CORPUS, SEEDS, TARGETS, OverrunError, feed, feed_measured

_FOUND = [path.read_bytes() for path in sorted(CORPUS.iterdir())]
_LATER = {"quarantine-full", "token-cap"}
"""Refusals of an upload that has been parsed."""


def test_every_input_is_taken_or_refused() -> None:
    """Within the bounds of time and memory, and with a code, by each of the parsers; nothing else is raised."""
    assert 10 <= len(_FOUND) <= 400
    for data in (*SEEDS, *_FOUND):
        for name in TARGETS:
            feed_measured(name, data)


def test_seeds_reach_every_refusal() -> None:
    """So the fuzzer starts behind all checks, and not in front of them."""
    assert {feed("upload", data) for data in SEEDS} == {"taken", *REPORTS[400]} - _LATER
    assert {feed("troubles", data) for data in SEEDS} >= {"taken", *TROUBLES[400]}
    assert {feed("sealed", data) for data in SEEDS} >= {"taken", "sealed-shape", "ciphertext-size", "not-msgpack"}


def test_inputs_that_were_changed_a_little() -> None:
    """Bytes flipped, cut, doubled and put into one another: 3,000 inputs, always the same ones, as for the corpus."""
    dice = random.Random(1)
    inputs = [*SEEDS, *_FOUND]
    for _ in range(3000):
        data = bytearray(dice.choice(inputs))
        for _ in range(dice.randint(1, 4)):
            at = dice.randint(0, len(data))
            put = (
                bytes([dice.randrange(256)]),
                b"",
                dice.choice(inputs)[:64],
                b"\xdd\xff\xff\xff\xff",
                b"\x93\x01\xc4",
            )
            data[at : at + dice.choice((0, 1, 1, 4))] = dice.choice(put)
        for name in TARGETS:
            feed(name, bytes(data))


def test_a_defect_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """An exception that is no refusal, a 5xx, and too much memory all fail."""

    def defect(data: bytes) -> object:
        raise IndexError

    monkeypatch.setitem(targets.TARGETS, "upload", defect)
    with pytest.raises(IndexError):
        feed("upload", b"x")
    monkeypatch.setitem(targets.TARGETS, "upload", lambda data: bytes(1 << 20))
    with pytest.raises(OverrunError, match="of memory"):
        feed_measured("upload", b"x")
    monkeypatch.setattr(targets, "SECONDS", -1.0)
    with pytest.raises(OverrunError, match="seconds"):
        feed("upload", b"x")
