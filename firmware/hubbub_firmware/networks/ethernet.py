"""Ethernet, with an address from DHCP."""

from hubbub_firmware.networks.waiting import wait_until_connected

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def plug_in(interface: "Any", seconds: int) -> None:
    """Switches ``interface`` on and waits for an address, unless it has one. Raises OSError after ``seconds``.

    ``interface`` is a ``network.LAN``, a ``network.WIZNET5K`` or anything else with their methods.
    """
    if interface.isconnected():
        return
    interface.active(True)
    interface.ipconfig(dhcp4=True)
    wait_until_connected(interface, seconds)
