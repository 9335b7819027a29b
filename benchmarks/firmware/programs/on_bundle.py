"""A program of this folder, linked with all it reaches into a bundle. Arguments: PLAN [watch]; else as the program.

With ``watch`` the last step is what was in use at the fullest moment, more than at ``start``.
"""

import gc
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

allocated = getattr(gc, "mem_alloc")  # noqa: B009 - CPython, whose type checker reads this, has none


def figures() -> "Iterator[object]":
    """As one_metric.py."""
    import stand_ins  # noqa: F401 - in place of the network, before it is asked for

    watching = __import__("watching") if sys.argv[-1] == "watch" else None
    yield "start"
    gc.collect()
    first = allocated()
    if watching:
        watching.highest[0] = 0
    from hubbub import figures as linked  # type: ignore[import-not-found]

    yield "import"
    for step in linked():
        if step != "start":
            yield step
        if step == "held" and watching:
            yield "fullest", watching.highest[0] - first
