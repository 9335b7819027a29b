"""Who shuffles: by default nobody that could be counted on, since the collector and its sealer are one operator."""

from __future__ import annotations

import re
from typing import NamedTuple

from hubbub_registry.table import Table, shown

SHUFFLER_KEYS = ("shuffler", "shuffler_operator", "shuffler_key")
_INDEPENDENT = ("independent",)
_REMEDIES = {
    "shuffler": 'write shuffler = "independent" too',
    "shuffler_operator": "name who runs the shuffler, apart from the collector",
    "shuffler_key": "write the id of the analyst's key, as hubbub keys new printed it: reports are sealed to it",
}


class Shuffler(NamedTuple):
    """Who shuffles, independent of the collector, and the id of the analyst's key that reports are sealed to, in
    hexadecimal; both empty where nobody is stated to.
    """

    operator: str = ""
    key: str = ""


def read_shuffler(table: Table) -> Shuffler:
    """What the ``[registry]`` table states of an independent shuffler.

    Each of ``SHUFFLER_KEYS`` needs the others. Figures that rest on trust must say in whom; and a shuffler that could
    read what it passes on, or an analyst who could take reports past it, would be one operator more to trust.
    """
    stated = [key for key in SHUFFLER_KEYS if table.has(key)]
    if not stated:
        return Shuffler()
    for key in SHUFFLER_KEYS:
        if key not in stated:
            table.problem(key, "is missing", _REMEDIES[key])
    independent = "shuffler" in stated and table.choice("shuffler", _INDEPENDENT)
    operator = table.text("shuffler_operator") if "shuffler_operator" in stated else ""
    key = _read_key(table) if "shuffler_key" in stated else ""
    return Shuffler(operator, key) if independent and operator and key else Shuffler()


def _read_key(table: Table) -> str:
    key = table.take("shuffler_key")
    if isinstance(key, str) and re.fullmatch(r"[0-9a-f]{16}", key):
        return key
    table.problem("shuffler_key", f"{shown(key)} is not the id of a key", "write its sixteen hexadecimal digits")
    return ""
