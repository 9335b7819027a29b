"""What a bundle brings along: modules that are loaded for one call, and messages that stay in flash."""

import gc
import sys

_visiting: "list[str]" = []


def visit(overlay: str, entry: int, *arguments: object) -> object:
    """Calls a function of a module that is in memory only meanwhile; calls within the call find it loaded."""
    gc.collect()  # so that what comes is laid side by side, and not between what is no longer used
    _visiting.append(overlay)
    try:
        return __import__(overlay).ENTRIES[entry](*arguments)
    finally:
        _visiting.remove(overlay)
        if overlay not in _visiting:
            sys.modules.pop(overlay, None)


def message(number: int, parts: object = None) -> str:
    """Line ``number`` of the file of messages, filled in; where it cannot be read, the number and what fills it in."""
    try:
        with open(__file__.rpartition("/")[0] + "/hubbub.txt") as file:
            for _ in range(number):
                file.readline()
            text = file.readline()[:-1]
        return text if parts is None else text % parts
    except (OSError, TypeError, MemoryError):
        return "message %d of hubbub.txt: %s" % (number, (parts,))  # noqa: UP031 - as all code of boards
