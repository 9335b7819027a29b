"""Taking modules out of a board's memory that it needs once, at its start."""

import sys


def let_go(names: "tuple[str, ...]") -> None:
    """Forgets modules of hubbub_client, on a board; whoever imports one later loads it again. A host keeps them.

    Only for modules that nothing else holds on to: what is imported from one stays in memory, and all of it.
    """
    if sys.implementation.name != "micropython":
        return
    package = sys.modules["hubbub_client"]
    for name in names:
        if sys.modules.pop("hubbub_client." + name, None) is not None:
            delattr(package, name)
