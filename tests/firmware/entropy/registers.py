"""Models of the registers that raw sources read: what each write does, and what each read then gives."""

from __future__ import annotations

import random
from collections.abc import Callable


class Registers:
    """Memory with devices behind it. ``reads`` and ``writes`` are address -> what happens; all else is plain memory.

    ``log`` is every write, and ``count`` how often an address was read.
    """

    def __init__(self) -> None:
        self.memory: dict[int, int] = {}
        self.reads: dict[int, Callable[[], int]] = {}
        self.writes: dict[int, Callable[[int], None]] = {}
        self.log: list[tuple[int, int]] = []
        self.count: dict[int, int] = {}

    def __getitem__(self, address: int) -> int:
        assert address % 4 == 0
        self.count[address] = self.count.get(address, 0) + 1
        return self.reads[address]() if address in self.reads else self.memory.get(address, 0)

    def __setitem__(self, address: int, value: int) -> None:
        assert 0 <= value < 1 << 32
        self.log.append((address, value))
        self.memory[address] = value
        if address in self.writes:
            self.writes[address](value)


def rosc(status: int = 0x80001000) -> Registers:
    """RP2040's ring oscillator: a bit that depends on how often it was read."""
    registers, chooser = Registers(), random.Random(1)
    registers.memory[0x40060018] = status
    registers.reads[0x4006001C] = lambda: chooser.getrandbits(1)
    return registers


def trng(blocks: list[list[int]], waits: int = 3, disturbed: int = 0) -> Registers:
    """RP2350's TRNG: gives ``blocks`` in turn, each after ``waits`` looks at its status.

    It collects only out of reset, enabled, and with everything bypassed; the first ``disturbed`` times somebody else
    sets another sample count meanwhile.
    """
    registers, base = Registers(), 0x400F0000
    state = {"looks": 0, "block": 0, "disturbed": disturbed, "reset": 1}
    data = list(range(base + 0x114, base + 0x12C, 4))

    def ready() -> int:
        if state["reset"] or not registers.memory.get(base + 0x12C, 0) & 1:
            return 0
        assert registers.memory[base + 0x138] == 0xE
        assert registers.memory[base + 0x130] >= 17
        state["looks"] += 1
        if state["looks"] % waits or state["block"] >= len(blocks):
            return 0
        for address, word in zip(data, blocks[state["block"]], strict=True):
            registers.memory[address] = word
        state["block"] += 1
        if state["disturbed"]:
            state["disturbed"] -= 1
            registers.memory[base + 0x130] = 101 if state["disturbed"] % 2 else 0
        return 1

    def reset_counter(_: int) -> None:
        assert not registers.memory.get(base + 0x12C)  # it takes no notice while it is enabled

    registers.reads[base + 0x110] = ready
    registers.writes[base + 0x1BC] = reset_counter
    registers.writes[0x40023000] = lambda bits: state.update(reset=state["reset"] & ~(bits >> 25))
    registers.reads[0x40020008] = lambda: 0 if state["reset"] else 1 << 25
    return registers


def stm32(words: list[int], base: int, status: Callable[[int], int] = lambda _: 1) -> Registers:
    """STM32's RNG: words in turn; ``status(words read)`` is what its status register shows, latches cleared."""
    registers = Registers()
    taken = iter(words)
    registers.reads[base + 4] = lambda: status(registers.count.get(base + 8, 0))
    registers.reads[base + 8] = lambda: next(taken)
    return registers


def nrf(values: list[int], waits: int = 3) -> Registers:
    """nRF52's RNG: values in turn, each ready after ``waits`` looks, once it was started, with bias correction."""
    registers, base = Registers(), 0x4000D000
    state = {"looks": 0, "running": 0, "next": 0}

    def ready() -> int:
        if not state["running"] or registers.memory.get(base + 0x504) != 1 or state["next"] >= len(values):
            return 0
        if registers.memory.get(base + 0x100) == 0:
            state["looks"] += 1
            if state["looks"] % waits:
                return 0
            registers.memory[base + 0x508] = values[state["next"]]
            state["next"] += 1
            registers.memory[base + 0x100] = 1
        return 1

    registers.reads[base + 0x100] = ready
    registers.writes[base] = lambda _: state.update(running=1)
    registers.writes[base + 4] = lambda _: state.update(running=0)
    return registers
