"""Stands in for a board's ``network``: a radio that is on, and a station that is connected."""


class WLAN:
    """A station and an access point in one."""

    IF_STA = 0
    IF_AP = 1
    PM_NONE = 0

    def __init__(self, interface=0):
        self._settings = {"pm": self.PM_NONE}

    def active(self, on=True):
        """It is."""
        return True

    def connect(self, *_, **__):
        """It does."""

    def isconnected(self):
        """It is."""
        return True

    def status(self, *_):
        """STAT_GOT_IP of the boards that have it."""
        return 3

    def config(self, name=None, **settings):
        """What was set is read back."""
        self._settings.update(settings)
        return self._settings.get(name)

    def ifconfig(self, *_):
        """The loopback interface."""
        return ("127.0.0.1", "255.0.0.0", "127.0.0.1", "127.0.0.1")


class LAN(WLAN):
    """A cable that is plugged in."""


STA_IF = WLAN.IF_STA
AP_IF = WLAN.IF_AP
STAT_GOT_IP = 3


def country(*_):
    """Taken."""


def hostname(*_):
    """Taken."""
    return "board"
