from __future__ import annotations

import sys
from types import SimpleNamespace

import pytest

from hubbub_firmware.entropy.raw import esp32


class Wlan:
    """MicroPython's network.WLAN on an ESP32."""

    IF_STA, IF_AP, PM_NONE = 0, 1, 1000
    on: tuple[int, ...] = ()
    power = 0

    def __init__(self, interface: int) -> None:
        self._interface = interface

    def active(self) -> bool:
        return self._interface in self.on

    def config(self, name: str) -> int:
        assert (self._interface, name) == (self.IF_STA, "pm")
        return self.power


@pytest.mark.parametrize(
    ("on", "power", "ready"),
    [
        ((), 1000, False),
        ((0,), 1000, True),
        ((0,), 999, False),
        ((0,), 1001, False),
        ((1,), 0, True),
        ((0, 1), 0, True),
        ((), 0, False),
    ],
)
def test_the_esp32_needs_its_radio(
    monkeypatch: pytest.MonkeyPatch, on: tuple[int, ...], power: int, ready: bool
) -> None:
    """An access point, or a station that saves no power: only those keep the receiver on."""
    wlan = type("Wlan", (Wlan,), {"on": on, "power": int(str(power))})
    monkeypatch.setitem(sys.modules, "network", SimpleNamespace(WLAN=wlan))
    assert esp32.RadioFed().ready() is ready
