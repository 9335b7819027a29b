from __future__ import annotations

import random

import pytest

from hubbub_firmware.entropy import EntropyRefusal
from hubbub_firmware.entropy.cutoffs import proportion_cutoff, reference_length, replay_length, window_of
from hubbub_firmware.entropy.health import HealthTests
from hubbub_firmware.entropy.lags import LAGS, check_lags
from hubbub_firmware.entropy.replay import ReplayTest

from tests.firmware.entropy.noise import Noise


def echoing(lag: int, bits: int, equal: int, length: int = 1024) -> bytes:
    """Noise in whose last window exactly ``equal`` samples equal the one that came ``lag`` before."""
    chooser = random.Random(lag)
    samples = list(Noise(lag, bits).sample(length))
    start = max(lag, length - window_of(bits) + 1)
    echoes = set(chooser.sample(range(start, length), equal))
    for i in range(start, length):
        samples[i] = samples[i - lag] if i in echoes else samples[i - lag] ^ chooser.randrange(1, 1 << bits)
    return bytes(samples)


@pytest.mark.parametrize("lag", range(1, 17))
@pytest.mark.parametrize(("bits", "milli"), [(1, 500), (8, 4000)])
def test_a_source_that_follows_itself_is_refused(lag: int, bits: int, milli: int) -> None:
    """At each distance of 1 to 16, C - 1 equal pairs in the last window are refused, and C - 2 pass."""
    cutoff = proportion_cutoff(bits, milli)
    check_lags(echoing(lag, bits, cutoff - 2), bits, milli)
    with pytest.raises(EntropyRefusal, match=f"distance of {lag} samples") as caught:
        check_lags(echoing(lag, bits, cutoff - 1), bits, milli)
    assert caught.value.trouble == "entropy"


def test_only_the_last_window_counts() -> None:
    """Of 1,024 bytes the last 512 are one window: what echoes before it is another window's matter."""
    noise = Noise(1, 8).sample(513)
    check_lags(noise[:1] * 511 + noise, 8, 4000)
    with pytest.raises(EntropyRefusal):
        check_lags(noise + noise[:1] * 511, 8, 4000)


def test_pairs_before_the_window_do_not_count() -> None:
    """With as many equal pairs within the last window as may be, more of them just before it change nothing."""
    assert range(1, 17) == LAGS
    samples = bytearray(echoing(1, 8, proportion_cutoff(8, 4000) - 2))
    samples[500:512] = bytes([samples[512]]) * 12
    check_lags(bytes(samples), 8, 4000)


def test_alternation_passes_the_standards_tests_and_not_this_one() -> None:
    """0, 1, 0, 1: no run, no bias, at full assessed entropy, and still no noise."""
    samples = b"\x00\x01" * 512
    HealthTests(1, 1000).take(samples)
    with pytest.raises(EntropyRefusal, match="distance of 2"):
        check_lags(samples, 1, 1000)


def test_noise_follows_nothing() -> None:
    """A hundred starts of uniform noise pass; at full assessed entropy 1,600 distances alarm with 2**-9 at most, at
    half of it, as here, with less than 1e-30.
    """
    for seed in range(100):
        check_lags(Noise(seed).sample(1024), 1, 500)


@pytest.mark.parametrize(("bits", "milli"), [(1, 500), (1, 1000), (8, 4000), (8, 8000)])
@pytest.mark.parametrize("period", [17, 100, 255, 256, 640, 900])
def test_an_exact_period_is_refused(bits: int, milli: int, period: int) -> None:
    """A piece of noise that plays again and again, too long for any other test, is refused within 1,024 samples."""
    piece = Noise(period, bits).sample(period)
    samples = (piece * (1 + 1024 // period))[:1024]
    with pytest.raises(EntropyRefusal, match="one sequence twice") as caught:
        ReplayTest(milli).take(samples)
    assert caught.value.trouble == "entropy"


def samples_until_refused(samples: bytes, at_once: int, milli: int) -> int:
    """How many samples a test took, itself included, when it refused; all of them and 1 where it never did."""
    test = ReplayTest(milli)
    for at in range(0, len(samples), at_once):
        try:
            test.take(samples[at : at + at_once])
        except EntropyRefusal:
            return at + at_once
    return len(samples) + 1


@pytest.mark.parametrize(("bits", "milli"), [(1, 500), (8, 4000)])
@pytest.mark.parametrize("at_once", [160, 1024])
@pytest.mark.parametrize("period", [1, 200, 1025, 1400, 2047, 3000, 20_001])
def test_any_period_from_the_start_is_found_in_time(bits: int, milli: int, at_once: int, period: int) -> None:
    """A source with an exact period P is refused in the reading that holds its sample P + ceil(64 / H), or before."""
    piece = Noise(period, bits).sample(period)
    due = period + reference_length(milli)
    samples = (piece * (2 + due // period))[: due + at_once]
    assert samples_until_refused(samples, at_once, milli) < due + at_once


@pytest.mark.parametrize(("bits", "milli"), [(1, 500), (8, 4000)])
@pytest.mark.parametrize(("good", "period"), [(5000, 1500), (3000, 4000), (700, 5000), (20_000, 1100)])
def test_a_period_that_begins_later_is_found_in_time(bits: int, milli: int, good: int, period: int) -> None:
    """Good for T samples and then with a period P, a source is refused within 3 max(T, P + R) and two readings."""
    within = 3 * max(good, period + reference_length(milli)) + 2048
    noise, piece = Noise(good, bits).sample(good), Noise(period, bits).sample(period)
    samples = (noise + piece * (1 + within // period))[: within + 1024]
    assert samples_until_refused(samples, 1024, milli) < within + 1024


def test_a_register_of_eleven_bits_is_refused() -> None:
    """A linear feedback shift register of 11 bits passes every other test from each of its phases, and not this one."""
    state, register = 1, bytearray()
    for _ in range(2047):
        register.append(state & 1)
        state = state >> 1 | ((state ^ state >> 2) & 1) << 10
    for phase in range(0, 2047, 64):
        samples = bytes(register[phase:] + register * 2)
        check_lags(samples[:1024], 1, 500)
        HealthTests(1, 500).take(samples)
        assert samples_until_refused(samples, 1024, 500) <= 3 * 1024


def test_the_end_is_looked_for_in_the_piece_before() -> None:
    """What one reading ended with must not come in the next one; in the one after that it is forgotten."""
    noise = Noise(1, 8).sample(3000)
    length = replay_length(4000)
    test = ReplayTest(4000)
    test.take(noise[:100])
    with pytest.raises(EntropyRefusal):
        test.take(noise[100:200] + noise[100 - length : 100])
    test = ReplayTest(4000)
    test.take(noise[:100])
    test.take(noise[100:200])
    test.take(noise[200:300] + noise[100 - length : 100])


def test_a_shorter_piece_may_come_twice() -> None:
    """One sample less than ceil(30 / H) may repeat by chance, and passes; that many do not."""
    noise = Noise(2, 8).sample(200)
    length = replay_length(4000)
    ReplayTest(4000).take(noise[:100] + noise[1:length])
    with pytest.raises(EntropyRefusal):
        ReplayTest(4000).take(noise[:100] + noise[1 : length + 1])


def test_little_is_no_repetition() -> None:
    """Fewer samples than are compared, or just as many, are no repetition of themselves."""
    test = ReplayTest(4000)
    test.take(b"\x01\x02")
    test.take(b"\x03\x04\x05\x06\x07\x08")


def test_noise_does_not_repeat() -> None:
    """A quarter of a million uniform samples in readings of 1,024: at twice the assessed entropy, 2**-42 to alarm."""
    source, test = Noise(5), ReplayTest(500)
    for _ in range(256):
        test.take(source.sample(1024))
