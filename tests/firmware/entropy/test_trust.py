from __future__ import annotations

import sys
from types import SimpleNamespace
from typing import Any

import pytest

from hubbub_client import EntropyError, MemoryStorage
from hubbub_firmware.entropy import EntropyRefusal, open_entropy
from hubbub_firmware.entropy.raw.system import SystemSource
from hubbub_firmware.entropy.trust import CONDITIONAL, REFUSE, TRUSTED, check_trust, trust
from hubbub_firmware.trouble import Troubles

from tests.firmware.entropy.noise import Noise


@pytest.mark.parametrize(
    ("platform", "release", "verdict", "sources"),
    [
        ("linux", "3.11.7", TRUSTED, ("system",)),
        ("darwin", (1, 27, 0), TRUSTED, ("system",)),
        ("win32", (3, 13), TRUSTED, ("system",)),
        ("esp32", (1, 28, 0), CONDITIONAL, ("esp32-rng",)),
        ("rp2", (1, 27, 0), REFUSE, ("rp2040-rosc", "rp2350-trng")),
        ("rp2", (1, 28, 0), REFUSE, ("rp2040-rosc", "rp2350-trng")),
        ("pyboard", (1, 28, 0), REFUSE, ("stm32-rng",)),
        ("nrf52840-PDK", (1, 28, 0), REFUSE, ("nrf52-rng",)),
        ("nrf52", (1, 28, 0), REFUSE, ("nrf52-rng",)),
        ("esp8266", (1, 28, 0), REFUSE, ()),
        ("samd", (1, 28, 0), REFUSE, ()),
        ("mimxrt", (1, 28, 0), REFUSE, ()),
        ("webassembly", (1, 28, 0), REFUSE, ()),
        ("emscripten", (3, 12), REFUSE, ()),
        ("zephyr", (1, 28, 0), REFUSE, ()),
        ("", (1, 28, 0), REFUSE, ()),
        ("linux-like", (1, 28, 0), REFUSE, ()),
        ("nrf51-DK", (1, 28, 0), REFUSE, ()),
    ],
)
def test_the_table(platform: str, release: Any, verdict: str, sources: tuple[str, ...]) -> None:
    """The verdict on each port, with a reason, and the sources that may be used; what is unknown is refused."""
    found, why, allowed = trust(platform, release)
    assert (found, allowed) == (verdict, sources)
    assert len(why) > 20


@pytest.mark.parametrize(
    ("release", "generator"),
    [
        ("1.27.0", "shift register"), ("1.28.0", "xoroshiro"), ((1, 27, 99), "shift register"), ((2, 0), "xoroshiro"),
        ((1, 28, 0, "preview"), "xoroshiro"), (SimpleNamespace(version=(1, 27, 0)), "shift register"),
        (SimpleNamespace(version=(1, 29, 0, "preview")), "xoroshiro"), ("v9", "shift register"),
        ("1.x.99", "shift register"), ("", "shift register"),
        (sys.implementation, "xoroshiro"),
    ],
)  # fmt: skip
def test_the_version_is_read_in_every_form(release: Any, generator: str) -> None:
    """Text, tuples and ``sys.implementation``; the row of the newest version not above it holds, else the oldest."""
    platform = "".join(["rp", "2"])  # as a board gives it: not the object that the table holds
    assert generator in trust(platform, release)[1]


@pytest.mark.parametrize("platform", ["rp2", "pyboard", "esp32", "nrf52", "samd", "webassembly", "esp8266", "who"])
def test_os_urandom_is_no_source_where_it_is_not_trusted(platform: str) -> None:
    """On every board the system's generator is refused before it is read, in words, and counted."""
    storage = MemoryStorage()

    def read(_: int) -> bytes:
        raise AssertionError("it was read")

    with pytest.raises(EntropyRefusal, match=f"source system is not to be used on {platform}") as caught:
        open_entropy(SystemSource(read), storage, platform, (1, 28, 0))
    assert trust(platform, (1, 28, 0))[1] in str(caught.value)
    assert isinstance(caught.value, EntropyError)
    assert Troubles(storage).counts() == {"entropy": 1}


def test_a_source_of_another_board_is_refused() -> None:
    """An oscillator's name on a port that has none; the message says what to use."""
    with pytest.raises(EntropyRefusal, match="use stm32-rng"):
        check_trust(Noise(), "pyboard", "1.28.0")
    with pytest.raises(EntropyRefusal, match="use rp2040-rosc or rp2350-trng"):
        check_trust(SystemSource(), "rp2", "1.28.0")
    with pytest.raises(EntropyRefusal, match="no report can be made on it"):
        check_trust(Noise(), "samd", "1.28.0")


def test_a_host_boots_from_its_operating_system() -> None:
    """CPython, and MicroPython's unix port, take the same way through the tests and the generator."""
    entropy = open_entropy(SystemSource(), MemoryStorage(), "linux", sys.implementation)
    assert len(set(entropy(1000))) > 100
