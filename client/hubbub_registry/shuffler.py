"""Who shuffles: by default nobody that could be counted on, since the collector and its sealer are one operator."""

from __future__ import annotations

from hubbub_registry.table import Table

SHUFFLER_KEYS = ("shuffler", "shuffler_operator")
_INDEPENDENT = ("independent",)


def read_shuffler(table: Table) -> str:
    """The operator that the ``[registry]`` table names as an independent shuffler; empty where it names none.

    ``shuffler = "independent"`` needs ``shuffler_operator``, and the other way round: figures that rest on trust must
    say in whom.
    """
    if table.has("shuffler"):
        stated = table.choice("shuffler", _INDEPENDENT)
        if not table.has("shuffler_operator"):
            table.problem("shuffler_operator", "is missing", "name who runs the shuffler, apart from the collector")
            return ""
        operator = table.text("shuffler_operator")
        return operator if stated else ""
    if table.has("shuffler_operator"):
        table.take("shuffler_operator")
        table.problem("shuffler_operator", "names a shuffler that is not stated", 'write shuffler = "independent" too')
    return ""
