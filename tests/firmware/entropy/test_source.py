from __future__ import annotations

from hashlib import sha256

import pytest

from hubbub_client import EntropyError
from hubbub_firmware.entropy import EntropyRefusal
from hubbub_firmware.entropy.source import CheckedSource

from tests.firmware.entropy.noise import Chosen, Noise, stuck_from


def started(raw: Noise) -> CheckedSource:
    source = CheckedSource(raw)
    source.start_up()
    return source


def test_start_up_looks_at_1024_samples() -> None:
    """The standard's least number is taken, and none of them is used: a block is a hash of what comes after."""
    raw = Noise(1)
    source = started(raw)
    assert raw.taken == 1024
    block = source.block()
    samples = Noise(1)
    samples.sample(1024)
    assert block == sha256(b"hubbub noise" + samples.sample(1280)).digest()


@pytest.mark.parametrize(
    ("bits", "milli", "samples"), [(1, 500, 1280), (1, 1000, 640), (1, 750, 854), (8, 4000, 160), (8, 7000, 92)]
)
def test_a_block_is_made_of_twice_the_entropy_it_needs(bits: int, milli: int, samples: int) -> None:
    """2 x (256 + 64) bits of assessed entropy go into 256 bits, rounded up, in readings of at most 1,024 samples."""
    raw = Noise(1, bits, milli)
    source = started(raw)
    del raw.asked[:]
    source.block()
    assert sum(raw.asked) == samples
    assert raw.asked == ([1024, samples - 1024] if samples > 1024 else [samples])
    assert (samples - 1) * milli < 2 * (256 + 64) * 1000 <= samples * milli


def test_blocks_share_no_samples() -> None:
    """Two blocks are made of two stretches of noise."""
    raw = Noise(1)
    source = started(raw)
    assert source.block() != source.block()
    assert raw.taken == 1024 + 2 * 1280


def failing(error: Exception, at: int) -> Noise:
    class Failing(Noise):
        def sample(self, count: int) -> bytes:
            if self.taken >= at:
                raise error
            return super().sample(count)

    return Failing(1)


@pytest.mark.parametrize("error", [OSError(5, "no clock"), ValueError("odd"), MemoryError(), EntropyError("dead")])
@pytest.mark.parametrize("at", [0, 1024])
def test_whatever_a_source_raises_is_a_refusal(error: Exception, at: int) -> None:
    """An error at the start, or later, becomes an EntropyRefusal that names the source and what it said."""
    source = CheckedSource(failing(error, at))
    if at:
        source.start_up()
    with pytest.raises(EntropyRefusal, match="source rp2040-rosc failed: ") as caught:
        source.block() if at else source.start_up()
    assert (str(error) or "MemoryError") in str(caught.value)
    assert caught.value.trouble == "entropy"


@pytest.mark.parametrize("count", [0, 1023, 1025])
def test_a_short_or_long_answer_is_a_refusal(count: int) -> None:
    """Another number of samples than was asked for is no answer."""

    class Wrong(Noise):
        def sample(self, _: int) -> bytes:
            return super().sample(count)

    with pytest.raises(EntropyRefusal, match=f"gave {count} samples where 1024 were asked for"):
        CheckedSource(Wrong()).start_up()


@pytest.mark.parametrize("bits", [1, 4])
def test_a_sample_above_its_bits_is_a_refusal(bits: int) -> None:
    """A source of n bits that gives 2**n is not the source it says it is; 2**n - 1 is fine."""
    milli = 500 if bits == 1 else 2000
    started(Noise(1, bits, milli, lambda at, sample: (1 << bits) - 1 if at == 500 else sample))
    with pytest.raises(EntropyRefusal, match="a sample that it cannot have"):
        started(Noise(1, bits, milli, lambda at, sample: 1 << bits if at == 500 else sample))


def test_a_source_that_is_not_ready_is_a_refusal() -> None:
    """It is asked before each reading, and after: what came in between may be no noise."""
    raw = Noise(1)
    raw.is_ready = False
    with pytest.raises(EntropyRefusal, match="not ready"):
        CheckedSource(raw).start_up()
    assert raw.taken == 0

    class Fading(Noise):
        def sample(self, count: int) -> bytes:
            self.is_ready = False
            return super().sample(count)

    with pytest.raises(EntropyRefusal, match="not ready"):
        CheckedSource(Fading(1)).start_up()


@pytest.mark.parametrize(
    "raw",
    [
        Chosen(b"\x00"), Chosen(b"\x01"), Chosen(b"\x00\x01"), Chosen(b"\x00\x00\x01"), Chosen(Noise(9).sample(700)),
        Chosen(b"\x00", 8, 4000), Chosen(bytes(range(256)), 8, 4000), Noise(1, 1, 1000, lambda at, bit: bit | at & 1),
        Noise(1, 8, 4000, lambda at, byte: byte & 3),
    ],
    ids=["zeros", "ones", "alternating", "period 3", "period 700", "zero bytes", "counter", "3/4 ones", "2 bits"],
)  # fmt: skip
def test_bad_noise_does_not_start(raw: Noise) -> None:
    """Stuck, biased and repeating sources are refused by the start-up tests. None of these may pass by chance: the
    biased ones are fixed, and the others are certain.
    """
    with pytest.raises(EntropyRefusal):
        CheckedSource(raw).start_up()


@pytest.mark.parametrize("at", [1024, 1500, 1024 + 1280])
def test_noise_that_dies_later_is_refused(at: int) -> None:
    """A source that passes the start-up and stands still later is found while its samples are being used."""
    source = started(Noise(1, change=stuck_from(at)))
    for _ in range((at - 1024) // 1280):
        source.block()
    with pytest.raises(EntropyRefusal, match="stuck"):
        source.block()


def test_noise_that_begins_to_repeat_is_refused() -> None:
    """The same for one that plays what it gave before, and for one that becomes biased."""
    piece = Noise(7).sample(300)
    repeating = started(Noise(1, change=lambda at, bit: piece[at % 300] if at >= 1024 else bit))
    with pytest.raises(EntropyRefusal, match="twice"):
        repeating.block()
    chooser = Noise(8, 8)
    biased = started(Noise(1, change=lambda at, bit: bit if at < 1024 else int(chooser.sample(1)[0] < 205)))
    with pytest.raises(EntropyRefusal, match="biased"):
        [biased.block() for _ in range(8)]


def test_an_assessment_without_a_cutoff_is_an_error_at_once() -> None:
    """A source that claims what no test is made for is refused before it is read."""
    with pytest.raises(EntropyError, match="no cut-off"):
        CheckedSource(Noise(milli=900))
