"""What a board does once, at its start: it reads its files, and opens storage, entropy and its way out.

Apart from device.py so that a board forgets it again: what runs for years has the memory.
"""

import json
import sys

from hubbub_client.errors import EntropyError
from hubbub_client.plan import Plan
from hubbub_client.reasons import text_of
from hubbub_firmware.settings import SettingsError, link, read_settings
from hubbub_firmware.slow_clock import SlowClock

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from hubbub_client.storage import Storage

# Forgotten after the start. The links are the modules that the settings name, and are used for nothing else.
MODULES = ("start", "settings", "links")


def files(board: "Any", folder: str) -> "tuple[Plan, dict[str, Any], int]":
    """The plan, the settings and the Unix time of the build, 0 where it is not known.

    Raises SettingsError and PlanError for files that are missing or that cannot be used, and on another board.
    """
    if sys.platform != board.PLATFORM:
        raise SettingsError("this folder was built for %s, and this board is a %s" % (board.NAME, sys.platform))
    plan = Plan.from_bytes(_content(folder, "plan.json"))  # first: checking it takes the most memory
    return plan, read_settings(_content(folder, "settings.json")), _built(folder)


def clock_of(storage: "Storage", plan: Plan, built: int) -> SlowClock:
    """The clock that reports go by, which begins at the time of the build."""
    return SlowClock(storage, built, 3600, 1024, max([0] + [metric.expires for metric in plan.metrics.values()]))


def noise_of(board: "Any", storage: "Storage") -> "tuple[Callable[[int], bytes], str | None]":
    """The source of noise, and what is wrong with it: then it raises EntropyError whenever it is asked."""
    from hubbub_firmware.entropy import open_entropy

    try:
        return open_entropy(board.raw_source(), storage, sys.platform, sys.implementation, board.device()), None
    except EntropyError as error:
        text = text_of(error)

    def refuse(_: int) -> bytes:
        raise EntropyError(text)

    return refuse, text


def transport_of(
    settings: "dict[str, Any]", folder: str, source: "Callable[[int], bytes]", learn: "Any", board: "Any", plan: Plan,
    storage: "Storage",
) -> "Any":  # fmt: skip
    """The transport that the settings name. Raises SettingsError, and TransportError for what it cannot use."""
    ca = _content(folder, settings["ca"]) if settings["ca"] else None
    return link(settings["transport"]).transport_of(settings, ca, source, learn, board, plan, storage)


def _content(folder: str, name: str) -> bytes:
    """A file of the folder. Raises SettingsError where it cannot be read."""
    try:
        with open(folder + name, "rb") as file:
            return file.read()
    except OSError:
        raise SettingsError("%s cannot be read; build the folder and copy it again" % name) from None


def _built(folder: str) -> int:
    """When the folder was built, in Unix seconds: the time has at least come so far. 0 where that is not known."""
    try:
        built = json.loads(_content(folder, "build.json"))["built"]
        return built if type(built) is int else 0
    except (SettingsError, ValueError, LookupError, TypeError):
        return 0
