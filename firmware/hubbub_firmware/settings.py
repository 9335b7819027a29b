"""What an installation of a board has of its own, in ``settings.json``: where reports go, and how often."""

import json

from hubbub_client.errors import HubbubError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

TRANSPORTS = ("https", "mqtt", "frames")
# Key -> default. docs/firmware.md says what each means. Those of the transport and of the board come besides.
KEYS = {
    "transport": "https",
    "ca": "",
    "plain": False,
    "timeout": 20,
    "read_seconds": 60,
    "flush_seconds": 3600,
    "pending_bytes": 16384,
    "ssid": "",
    "passphrase": "",
}
# The most that a board is asked to sleep, and the most and the least that reports may take.
_MOST_SECONDS = 7 * 86400
_LEAST_BYTES = 1024


class SettingsError(HubbubError):
    """Settings that cannot be used. The text names the key and never its value, which may be a password."""


def read_settings(data: bytes) -> "dict[str, Any]":
    """The settings of a JSON document, with defaults for what it leaves out. Raises SettingsError.

    A key that is not known is an error: a misspelt one would be left out without a word.
    """
    try:
        given = json.loads(data)
    except ValueError:
        given = None
    if not isinstance(given, dict):
        raise SettingsError("settings: this is no JSON object; build the folder again, or correct settings.json")
    settings = {}
    known = keys_of(given.get("transport", KEYS["transport"]))
    for key in known:
        settings[key] = given.get(key, known[key])
        if type(settings[key]) is not type(known[key]):
            kind = {bool: "true or false", int: "a whole number"}.get(type(known[key]), "a text")
            raise SettingsError("settings: %s is not %s" % (key, kind))
    for key in given:
        if key not in known:
            raise SettingsError("settings: there is no key %r; there are: %s" % (key, ", ".join(sorted(known))))
    for key in ("timeout", "read_seconds", "flush_seconds"):
        if not 0 < settings[key] <= _MOST_SECONDS:
            raise SettingsError("settings: %s is not between 1 and %d" % (key, _MOST_SECONDS))
    if settings["pending_bytes"] < _LEAST_BYTES:
        raise SettingsError("settings: pending_bytes is below %d" % _LEAST_BYTES)
    return settings


def keys_of(transport: object) -> "dict[str, Any]":
    """Every key and its default, for a transport by name. Raises SettingsError for one there is not."""
    if transport not in TRANSPORTS:
        raise SettingsError("settings: transport is not one of: %s" % ", ".join(TRANSPORTS))
    keys = dict(KEYS)
    keys["transport"] = transport
    keys.update(link(transport).KEYS)
    return keys


def link(transport: "Any") -> "Any":
    """The module of a transport. Raises SettingsError where the folder was built without it."""
    try:
        return __import__("hubbub_firmware.links." + transport, None, None, ["KEYS"])
    except ImportError:
        raise SettingsError(
            "settings: this folder was built for another transport; build it with --transport %s" % transport
        ) from None
