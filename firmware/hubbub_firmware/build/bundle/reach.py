"""What a program reaches: which units, and which members of classes, whoever asks for them by name.

A member is kept where any code that is kept says its name, in whatever it says it of; so nothing is left out that could
run. What a call of an overlay leads to is in that overlay, if nothing else needs it.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence

from hubbub_firmware.build.bundle.constants import folded
from hubbub_firmware.build.bundle.linking import Linked
from hubbub_firmware.build.bundle.overlays import Visit
from hubbub_firmware.build.bundle.raised import only_raised
from hubbub_firmware.build.bundle.scopes import Names


class Reached:
    """``resident`` and each of ``overlays``: the names of units, in an order in which they can be loaded.

    ``entries`` of an overlay are what resident code calls in it. ``passing`` are classes that may be in an overlay.
    """

    def __init__(self, linked: Linked, roots: Sequence[str], visits: Sequence[Visit], passing: Sequence[str]) -> None:
        self._units = linked.units
        self._visits = {id(visit.entry): visit for visit in visits}
        self._passing = frozenset([*passing, *only_raised(linked.statements())])
        self._seen: dict[int, tuple[set[str], list[Visit]]] = {}
        resident = self._closure(roots)
        while True:
            self.entries = self._visited(resident)
            whole = {overlay: self._closure(entries) for overlay, entries in self.entries.items()}
            more = self._to_share(resident, whole)
            if not more:
                break
            resident |= self._closure(sorted(more))
        self.resident = self._ordered(resident)
        self.overlays = {overlay: self._ordered(names - resident) for overlay, names in sorted(whole.items())}
        for visit in visits:
            if visit.function in self.entries.get(visit.overlay, ()):
                visit.entry.value = self.entries[visit.overlay].index(visit.function)

    def needed(self, names: Sequence[str]) -> set[str]:
        """What units use that are not among them."""
        return {used for name in names for used in self._scan(name)[0]} - set(names)

    def _scan(self, name: str) -> tuple[set[str], list[Visit]]:
        """The units that one uses, and what it visits."""
        unit = self._units[name]
        if id(unit) not in self._seen:
            used = {used.place.name for used in Names([unit.statement]).globals} & set(self._units)
            visited = [self._visits[id(node)] for node in ast.walk(unit.statement) if id(node) in self._visits]
            self._seen[id(unit)] = used - set(unit.names), visited
        return self._seen[id(unit)]

    def _closure(self, names: Sequence[str]) -> set[str]:
        found: set[str] = set()
        waiting = list(names)
        while waiting:
            name = waiting.pop()
            if name not in found:
                found |= set(self._units[name].names)
                waiting += sorted(self._scan(name)[0])
        return found

    def _visited(self, resident: set[str]) -> dict[str, list[str]]:
        """Overlay -> its entries, from whatever is reached."""
        visited: dict[str, set[str]] = {}
        waiting, done = sorted(resident), set()
        while waiting:
            name = waiting.pop()
            if name not in done:
                done.add(name)
                waiting += sorted(self._scan(name)[0])
                for visit in self._scan(name)[1]:
                    visited.setdefault(visit.overlay, set()).add(visit.function)
                    waiting.append(visit.function)
        return {overlay: sorted(entries) for overlay, entries in sorted(visited.items())}

    def _to_share(self, resident: set[str], whole: Mapping[str, set[str]]) -> set[str]:
        """What cannot be in an overlay: classes whose objects stay, and values that two overlays need."""
        more = set()
        for overlay, names in whole.items():
            others = {name for other, of_other in whole.items() if other != overlay for name in of_other}
            for name in names - resident:
                kind = self._units[name].statement
                if isinstance(kind, ast.ClassDef):
                    shared = name not in self._passing and not _is_table(kind)
                else:
                    shared = name in others and not (self._units[name].foreign or _may_be_twice(kind))
                if shared:
                    more.add(name)
        return more

    def _ordered(self, names: set[str]) -> list[str]:
        """One name of each unit, each after what it needs to be loaded."""
        order: list[str] = []

        def place(name: str) -> None:
            unit = self._units[name]
            if name not in names or unit.names[0] in order:
                return
            needed = {used.place.name for used in Names([unit.statement]).globals if used.at_once}
            for other in sorted((needed & set(self._units)) - set(unit.names)):
                place(other)
            if unit.names[0] not in order:
                order.append(unit.names[0])

        places = {name: (self._units[name].module, self._units[name].statement.lineno, name) for name in names}
        for name in sorted(names, key=lambda name: places[name]):
            place(name)
        return order


def _may_be_twice(statement: ast.stmt) -> bool:
    """Whether nothing can tell two of it from one: a function, or a value that cannot be changed."""
    if isinstance(statement, ast.Assign):
        return folded(statement.value) is not None
    return isinstance(statement, ast.FunctionDef)


def _is_table(statement: ast.ClassDef) -> bool:
    """A class that no object is made of: what a module defines, for whoever asks it by name (computed.py)."""
    named = statement.name.startswith("module_")
    return named and all(isinstance(part, ast.Assign | ast.Pass) for part in statement.body)
