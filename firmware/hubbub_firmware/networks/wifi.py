"""Wi-Fi as a station, on every port that has ``network.WLAN``."""

from hubbub_firmware.networks.waiting import wait_until_connected

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from network import WLAN


def station(saves_power: bool = True) -> "WLAN":
    """The station interface, switched on. Raises OSError where the radio does not start.

    ``saves_power`` False keeps its receiver on between beacons, which is what the ESP32's generator lives on.
    """
    from network import WLAN

    interface = WLAN(WLAN.IF_STA)
    interface.active(True)
    if not saves_power:
        interface.config(pm=WLAN.PM_NONE)
    return interface


def join(settings: "dict[str, Any]", saves_power: bool = True) -> None:
    """Joins the network of ``ssid`` and ``passphrase`` within ``timeout`` seconds, unless it is joined already.

    Raises OSError, whose text names neither of them. A trial that failed is broken off, so that the next one begins
    afresh: some radios refuse to connect while they try to.
    """
    interface = station(saves_power)
    if interface.isconnected():
        return
    if not settings["ssid"]:
        raise OSError(22, "no Wi-Fi is named: set ssid in settings.json")
    interface.connect(settings["ssid"], settings["passphrase"] or None)
    try:
        wait_until_connected(interface, settings["timeout"])
    except OSError:
        interface.disconnect()
        raise
