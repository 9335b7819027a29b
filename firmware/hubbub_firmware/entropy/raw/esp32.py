"""ESP32 family: the hardware generator, which is fed with noise only while the radio is on (ESP-IDF, Random Numbers).

With the radio off the same register goes on giving numbers that look random and are not, and no test of them could
tell. So the condition is asked for before and after each reading.
"""

from os import urandom

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable


def radio_is_on() -> bool:
    """Whether Wi-Fi feeds the generator all the time.

    A station that saves power switches its receiver off between beacons, so its power saving must be off, too:
    ``wlan.config(pm=network.WLAN.PM_NONE)``. Bluetooth does not count: its controller sleeps when it likes.
    """
    from network import WLAN

    if WLAN(WLAN.IF_AP).active():
        return True
    station = WLAN(WLAN.IF_STA)
    return bool(station.active()) and station.config("pm") == WLAN.PM_NONE


class RadioFed:
    """Eight bits a sample, through ``os.urandom``, which waits between readings as the maker asks.

    The maker's hardware mixes the noise before anyone can read it, so the health tests see a generator that stands
    still, and not one without noise. 4 bits of entropy a sample: half of what the maker states for a radio that is on.
    """

    name = "esp32-rng"
    sample_bits = 8
    entropy_milli = 4000

    def __init__(self, read: "Callable[[int], bytes]" = urandom, radio: "Callable[[], bool]" = radio_is_on) -> None:
        self._read = read
        self._radio = radio

    def ready(self) -> bool:
        """Whether the radio is on."""
        return self._radio()

    def sample(self, count: int) -> bytes:
        """``count`` samples."""
        return self._read(count)
