from __future__ import annotations

import random

import pytest

from hubbub_firmware.entropy import EntropyRefusal
from hubbub_firmware.entropy.cutoffs import proportion_cutoff, repetition_cutoff
from hubbub_firmware.entropy.health import HealthTests

from tests.firmware.entropy.noise import Noise


def refused(bits: int, milli: int, samples: bytes) -> bool:
    try:
        HealthTests(bits, milli).take(samples)
    except EntropyRefusal as error:
        return error.trouble == "entropy"
    return False


def others(count: int) -> bytes:
    """Bytes 2 to 255, no value near a cut-off and none twice in a row."""
    return bytes(2 + i % 254 for i in range(count))


@pytest.mark.parametrize(("bits", "milli"), [(1, 250), (1, 500), (1, 1000), (8, 1000), (8, 4000), (8, 8000)])
def test_the_longest_run_allowed_is_one_below_the_cutoff(bits: int, milli: int) -> None:
    """One value C - 1 times in a row passes, C times does not, wherever in the stream it is."""
    cutoff = repetition_cutoff(milli)
    for before in (b"", b"\x00", b"\x00\x01\x00"):
        assert not refused(bits, milli, before + b"\x01" * (cutoff - 1) + b"\x00")
        assert refused(bits, milli, before + b"\x00" + b"\x01" * cutoff)


def test_runs_are_counted_across_pieces() -> None:
    """A run that comes in two readings is one run."""
    health = HealthTests(8, 4000)
    health.take(b"\x05" * 3)
    with pytest.raises(EntropyRefusal, match="6 times in a row"):
        health.take(b"\x05" * 3)


def test_a_run_ends_where_another_value_comes() -> None:
    """Runs just below the cut-off, one after the other, pass: the count starts anew each time, at one."""
    cutoff = repetition_cutoff(8000)
    stream = b"".join(bytes([value]) * (cutoff - 1) for value in range(200))
    assert not refused(8, 8000, stream)


def windowed(matches: int, milli: int, window: int) -> bytes:
    """A window whose first value comes ``matches`` times, spread so that no run is too long."""
    rest = list(others(window - matches))
    stream = [1]
    for _ in range(matches - 1):
        stream += [rest.pop(), 1] if rest else [1]
    return bytes(stream + rest)


@pytest.mark.parametrize("milli", [2000, 4000, 6000, 8000])
def test_the_most_of_one_value_is_one_below_the_cutoff(milli: int) -> None:
    """The first value of a window, itself counted, comes C - 1 times and passes; C times does not."""
    cutoff = proportion_cutoff(8, milli)
    assert not refused(8, milli, windowed(cutoff - 1, milli, 512))
    assert refused(8, milli, windowed(cutoff, milli, 512))


@pytest.mark.parametrize("milli", [500, 750, 1000])
def test_the_most_of_one_bit_is_one_below_the_cutoff(milli: int) -> None:
    """The same for bits in a window of 1,024, at the very last sample."""
    cutoff = proportion_cutoff(1, milli)
    zeros = 1024 - (cutoff - 1)
    run, rest = divmod(cutoff - 1, zeros)
    body = b"".join(b"\x01" * (run + (i < rest)) + b"\x00" for i in range(zeros))
    assert len(body) == 1024
    assert not refused(1, milli, body)
    assert refused(1, milli, body[:-1] + b"\x01")


def test_windows_start_anew() -> None:
    """What a value did in one window is forgotten in the next, and the next window counts its own first value."""
    cutoff = proportion_cutoff(8, 4000)
    calm, busy = windowed(cutoff - 1, 4000, 512), windowed(cutoff, 4000, 512)
    assert not refused(8, 4000, calm * 5)
    assert refused(8, 4000, calm + busy)
    one_late = bytes([7]) + busy[:-1]  # the busy value is not the first one now
    assert not refused(8, 4000, one_late)


def test_a_window_is_512_samples_exactly() -> None:
    """The last match counts as the 512th sample, and begins a new window as the 513th."""
    cutoff = proportion_cutoff(8, 4000)
    base = windowed(cutoff - 1, 4000, 511)
    assert refused(8, 4000, base + b"\x01")
    assert not refused(8, 4000, base + b"\x02\x01")


def test_bias_of_three_quarters_is_refused() -> None:
    """Bits that are 1 with probability 3/4, assessed at 1 bit, do not pass a window.

    A window starting with 1 has Binomial(1023, 3/4) more of them, which is below the 589 that refuse with probability
    below 1e-30; one that starts with 0 passes. Ten windows all start with 0 once in a million.
    """
    chooser = random.Random(1)
    assert refused(1, 1000, bytes(int(chooser.random() < 0.75) for _ in range(10 * 1024)))


def test_bias_of_a_byte_is_refused() -> None:
    """Bytes that are one value in a quarter of all cases (2 bits of entropy), assessed at 4 bits, do not pass.

    Such a window has Binomial(511, 1/4), 9 standard deviations above the 63 that refuse. Of 100 windows at least one
    starts with that value but for 1e-12.
    """
    chooser = random.Random(2)
    assert refused(
        8, 4000, bytes(chooser.choice([9, *(chooser.randrange(256) for _ in range(3))]) for _ in range(51_200))
    )


@pytest.mark.parametrize(("bits", "milli"), [(1, 500), (8, 4000)])
def test_noise_passes(bits: int, milli: int) -> None:
    """A quarter of a million uniform samples pass: at twice the assessed entropy, an alarm has probability 2**-21."""
    assert not refused(bits, milli, Noise(3, bits, milli).sample(1 << 18))
