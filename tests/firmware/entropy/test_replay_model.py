"""The test for replayed samples, held against the same in a few lines that keep all that was ever sampled."""

from __future__ import annotations

from hypothesis import example, given
from hypothesis import strategies as st

from hubbub_firmware.entropy import EntropyRefusal
from hubbub_firmware.entropy.replay import ReplayTest


class Model:
    """Looks at everything before, with no seam and nothing forgotten."""

    def __init__(self, length: int, reference: int) -> None:
        self.length = length
        self.reference = reference
        self.all = b""
        self.moving: bytes | None = None
        self.moves_at = 1

    def take(self, samples: bytes) -> bool:
        """Whether some of ``samples`` came before, as the three looks have it."""
        newest = self.all[-self.length :] + samples
        found = len(newest) > self.length and newest.find(newest[-self.length :]) < len(newest) - self.length
        before = self.all
        self.all += samples
        if len(self.all) >= self.reference:
            text = before[-self.reference :] + samples
            found |= text.find(self.all[: self.reference], 1) >= 0
            found |= self.moving is not None and text.find(self.moving, 1) >= 0
            if len(self.all) >= self.moves_at:
                self.moving = self.all[-self.reference :]
                self.moves_at = 2 * len(self.all)
        return found


READINGS = st.lists(st.lists(st.integers(0, 2), max_size=14).map(bytes), max_size=14)


@given(st.integers(1, 5), st.integers(0, 4), READINGS)
@example(2, 3, [b"\x00\x01\x02\x00\x02", b"\x00\x01\x02\x00\x02"])
@example(3, 2, [b"\x00", b"\x01", b"\x02", b"\x01", b"\x00", b"\x00\x01\x02\x01\x00"])
@example(2, 0, [b"\x00\x00", b"\x01\x02", b"\x02\x01", b"\x01\x02"])
@example(5, 0, [b"\x00\x01\x02\x02\x01", b"\x00\x01\x02\x02\x01"])
def test_what_is_found_is_what_a_look_at_everything_finds(length: int, more: int, readings: list[bytes]) -> None:
    """However samples are cut into readings, the same reading is refused, and none before it."""
    model, replay = Model(length, length + more), ReplayTest(1000)
    replay._length, replay._reference = length, length + more
    for samples in readings:
        expected = model.take(samples)
        try:
            replay.take(samples)
        except EntropyRefusal:
            assert expected
            return
        assert not expected
