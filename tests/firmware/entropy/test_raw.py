from __future__ import annotations

import errno
import random
import sys
from types import SimpleNamespace
from typing import TYPE_CHECKING

import pytest

from hubbub_client import MemoryStorage
from hubbub_firmware.entropy import open_entropy
from hubbub_firmware.entropy.cutoffs import proportion_cutoff
from hubbub_firmware.entropy.raw import esp32, nrf52, rp2040, rp2350, stm32
from hubbub_firmware.entropy.raw.registers import board_registers
from hubbub_firmware.entropy.raw.system import SystemSource
from hubbub_firmware.entropy.trust import trust

from tests.firmware.entropy import registers as models

if TYPE_CHECKING:
    from hubbub_firmware.entropy.raw import RawSource

STM32_BASE = 0x50060800


def words(count: int, seed: int = 1) -> list[int]:
    chooser = random.Random(seed)
    return [chooser.getrandbits(32) for _ in range(count)]


def bits_of(block: list[int]) -> list[int]:
    return [word >> i & 1 for word in block for i in range(32)]


SOURCES: list[tuple[RawSource, str]] = [
    (rp2040.RingOscillator(models.rosc()), "rp2"),
    (rp2350.TrngBlock(models.trng([words(6, seed) for seed in range(60)])), "rp2"),
    (stm32.RandomNumberGenerator(models.stm32(words(3000), STM32_BASE), STM32_BASE, wake=bytes), "pyboard"),
    (nrf52.RandomNumberGenerator(models.nrf([word & 255 for word in words(6000)]), lambda: False), "nrf52"),
    (esp32.RadioFed(random.Random(1).randbytes, lambda: True), "esp32"),
    (SystemSource(random.Random(1).randbytes), "linux"),
]


@pytest.mark.parametrize(("source", "platform"), SOURCES, ids=[source.name for source, _ in SOURCES])
def test_a_board_boots_from_its_source(source: RawSource, platform: str) -> None:
    """Each source is in the table of its port, has cut-offs, is ready, and brings a generator up."""
    assert source.name in trust(platform, (1, 28))[2]
    assert proportion_cutoff(source.sample_bits, source.entropy_milli)
    assert 0 < source.entropy_milli <= 500 * source.sample_bits  # no more than half of what could be
    assert source.ready()
    entropy = open_entropy(source, MemoryStorage(), platform, (1, 28, 0))
    assert len(set(entropy(1000))) > 200
    assert entropy.fresh(8) != entropy.fresh(8)


@pytest.mark.parametrize("decimation", [1, 8])
def test_the_ring_oscillator_is_read_as_often_as_it_says(decimation: int) -> None:
    """Of each eight readings the last one is the sample, so samples are eight readings apart."""
    registers, twin = models.rosc(), models.rosc()
    samples = rp2040.RingOscillator(registers, decimation).sample(100)
    readings = [twin[0x4006001C] for _ in range(100 * decimation)]
    assert list(samples) == readings[decimation - 1 :: decimation]
    assert registers.count[0x4006001C] == 100 * decimation
    assert rp2040.RingOscillator(models.rosc()).sample(100) == rp2040.RingOscillator(models.rosc(), 8).sample(100)


def test_only_the_lowest_bit_of_the_oscillator_counts() -> None:
    """Whatever else the register held, a sample is one bit."""
    registers = models.rosc()
    registers.reads[0x4006001C] = lambda: 0xFFFFFFFE
    assert rp2040.RingOscillator(registers).sample(3) == bytes(3)


@pytest.mark.parametrize(("status", "ready"), [(0x80001000, True), (0x80001AA5, True), (0x80000000, False),
                                               (0x1000, False), (0, False)])  # fmt: skip
def test_an_oscillator_that_does_not_run_is_not_ready(status: int, ready: bool) -> None:
    """It must be enabled and stable, both."""
    assert rp2040.RingOscillator(models.rosc(status)).ready() is ready


@pytest.mark.parametrize("count", [1, 191, 192, 193, 400])
def test_the_trng_gives_its_raw_bits_in_order(count: int) -> None:
    """192 bits from each block, lowest first, cut to what was asked for; it is switched off afterwards."""
    blocks = [words(6, seed) for seed in range(3)]
    registers = models.trng(blocks)
    samples = rp2350.TrngBlock(registers).sample(count)
    assert list(samples) == [bit for block in blocks for bit in bits_of(block)][:count]
    assert registers.memory[0x400F012C] == 0
    assert registers.log[0] == (0x40023000, 1 << 25)
    assert (0x400F0108, 0xF) in registers.log
    assert (0x400F01BC, 1) in registers.log
    assert (0x400F010C, 0) in registers.log
    assert (0x400F0130, 100) in registers.log


def test_a_block_that_somebody_else_set_up_is_thrown_away() -> None:
    """Up to three times in a row; the fourth is an error, and the block is off then, too."""
    blocks = [words(6, seed) for seed in range(4)]
    samples = rp2350.TrngBlock(models.trng(blocks, disturbed=3)).sample(192)
    assert list(samples) == bits_of(blocks[3])
    registers = models.trng(blocks, disturbed=4)
    with pytest.raises(OSError, match="set differently"):
        rp2350.TrngBlock(registers).sample(192)
    assert registers.memory[0x400F012C] == 0


def test_a_trng_that_says_nothing_is_an_error() -> None:
    """Out of blocks, or held in reset: the wait ends."""
    registers = models.trng([])
    with pytest.raises(OSError, match="the TRNG gave nothing in time"):
        rp2350.TrngBlock(registers).sample(1)
    assert registers.memory[0x400F012C] == 0
    registers = models.trng([words(6)])
    registers.reads[0x40020008] = lambda: 0
    with pytest.raises(OSError, match="reset gave nothing in time"):
        rp2350.TrngBlock(registers).sample(1)


def generator(registers: models.Registers, woken: list[int] | None = None) -> stm32.RandomNumberGenerator:
    calls: list[int] = [] if woken is None else woken
    return stm32.RandomNumberGenerator(registers, STM32_BASE, wake=calls.append)


def test_the_stm32_gives_words_after_the_stale_ones() -> None:
    """The port is made to feed the clock once, latches are cleared, 12 words thrown away; then four bytes of each."""
    given = words(40)
    woken: list[int] = []
    registers = models.stm32(given, STM32_BASE)
    source = generator(registers, woken)
    expected = b"".join(word.to_bytes(4, "little") for word in given[12:])
    assert source.sample(5) == expected[:5]
    assert registers.count[STM32_BASE + 8] == 14
    assert source.sample(8) == expected[8:16]
    assert registers.count[STM32_BASE + 8] == 16
    assert woken == [1]
    assert registers.log == [(STM32_BASE + 4, 0)]


@pytest.mark.parametrize("error", [2, 4, 0x20, 0x40])
@pytest.mark.parametrize("ready", [0, 1])
@pytest.mark.parametrize("after", [0, 11, 12, 13])
def test_an_error_of_the_stm32_is_an_error(error: int, ready: int, after: int) -> None:
    """Seed and clock errors, present or latched, at any word, with or without data: no sample."""
    registers = models.stm32(words(40), STM32_BASE, lambda read: ready | error if read >= after else 1)
    with pytest.raises(OSError, match="seed or clock error") as caught:
        generator(registers).sample(8)
    assert caught.value.errno == errno.EIO


def test_an_stm32_without_data_is_an_error() -> None:
    """Never ready: the wait ends, where the port would have given zeros."""
    registers = models.stm32(words(40), STM32_BASE, lambda _: 0)
    with pytest.raises(OSError, match="the RNG gave nothing in time") as caught:
        generator(registers).sample(1)
    assert caught.value.errno == errno.ETIMEDOUT
    assert registers.count[STM32_BASE + 4] == 20_000


@pytest.mark.parametrize("place", [0, 5, 12, 13])
def test_a_zero_or_a_repeated_word_of_the_stm32_is_an_error(place: int) -> None:
    """Either stands for an error that the status did not show in time."""
    for value in (0, None):
        given = words(40)
        given[place] = int(str(given[place - 1])) if value is None else value
        if place or value == 0:
            with pytest.raises(OSError, match="a zero, or one word twice"):
                generator(models.stm32(given, STM32_BASE)).sample(8)


def test_the_nrf_gives_corrected_values_and_stops() -> None:
    """Started with bias correction, one value for each event, stopped afterwards."""
    values = [word & 255 for word in words(20)]
    registers = models.nrf([*values[:10], 0x1FF, *values[11:]])
    source = nrf52.RandomNumberGenerator(registers, lambda: False)
    assert list(source.sample(10)) == values[:10]
    assert source.sample(1) == b"\xff"
    assert registers.log[:3] == [(0x4000D504, 1), (0x4000D100, 0), (0x4000D000, 1)]
    assert registers.log[-1] == (0x4000D004, 1)


def test_an_nrf_without_values_is_an_error() -> None:
    """The corrector gives nothing where the noise stands still: the wait ends, and the peripheral is stopped."""
    registers = models.nrf([1, 2])
    with pytest.raises(OSError, match="the RNG gave nothing in time"):
        nrf52.RandomNumberGenerator(registers, lambda: False).sample(3)
    assert registers.log[-1] == (0x4000D004, 1)


def test_the_nrf_is_left_to_the_soft_device(monkeypatch: pytest.MonkeyPatch) -> None:
    """Not ready while Nordic's stack is on; ready where it is off, or not in the firmware."""
    assert nrf52.RandomNumberGenerator(models.nrf([])).ready()
    for enabled in (0, 1):
        monkeypatch.setitem(sys.modules, "ble", SimpleNamespace(enabled=lambda on=enabled: on))
        assert nrf52.RandomNumberGenerator(models.nrf([])).ready() is not bool(enabled)


def test_registers_are_the_boards(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without an argument each source reads machine.mem32, and STM32 finds its peripheral in stm, when first used."""
    for source, memory in (
        (rp2040.RingOscillator(), models.rosc()),
        (rp2350.TrngBlock(), models.trng([words(6)])),
        (nrf52.RandomNumberGenerator(taken=lambda: False), models.nrf([7])),
        (stm32.RandomNumberGenerator(wake=bytes), models.stm32(words(20), STM32_BASE)),
    ):
        with pytest.raises(ImportError):
            source.sample(1)
        monkeypatch.setitem(sys.modules, "machine", SimpleNamespace(mem32=memory))
        monkeypatch.setitem(sys.modules, "stm", SimpleNamespace(RNG=STM32_BASE))
        assert board_registers() is memory
        assert len(source.sample(1)) == 1
        monkeypatch.delitem(sys.modules, "machine")
