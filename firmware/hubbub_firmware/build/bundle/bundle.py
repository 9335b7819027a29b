"""A program and what it reaches, as a bundle: one module, its overlays, and the file of messages."""

from __future__ import annotations

import ast
import copy
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from hubbub_firmware.build.bundle import constants, messages
from hubbub_firmware.build.bundle.computed import resolve
from hubbub_firmware.build.bundle.foreign import foreign_members
from hubbub_firmware.build.bundle.linking import Linked
from hubbub_firmware.build.bundle.methods import as_functions
from hubbub_firmware.build.bundle.overlays import RUNTIME, VISIT, set_apart
from hubbub_firmware.build.bundle.pruning import prune
from hubbub_firmware.build.bundle.raised import merge
from hubbub_firmware.build.bundle.reach import Reached
from hubbub_firmware.build.bundle.recipe import OVERLAYS, PASSING, VALUES
from hubbub_firmware.build.bundle.renaming import Shortened
from hubbub_firmware.build.bundle.sources import trees

MODULE = "hubbub"
_RUNTIME = Path(__file__).parent / "on_board" / "visiting.py"
STEPS = ("link", "constants", "messages", "methods", "overlays", "names")


@dataclass(frozen=True)
class Bundle:
    """``modules``, name -> program text as it runs; ``readable``, the same with the names of the sources; ``messages``,
    the file that goes beside them, or empty; and ``names``, what each is called in what runs."""

    modules: Mapping[str, str]
    readable: Mapping[str, str]
    messages: str
    names: Mapping[str, str]
    roots: Mapping[str, str]
    sources: Mapping[str, str]

    def map(self) -> bytes:
        """For whoever reads a bundle: the sources, by their SHA-256, and the names."""
        digests = {name: sha256(text.encode()).hexdigest() for name, text in sorted(self.sources.items())}
        return (json.dumps({"sources": digests, "names": dict(sorted(self.names.items()))}, indent=1) + "\n").encode()


def bundle(sources: Mapping[str, str], roots: Sequence[str], kept: Sequence[str], steps: Sequence[str] = STEPS,
           overlays: Mapping[str, Sequence[str]] = OVERLAYS) -> Bundle:  # fmt: skip
    """The bundle of ``sources``, module -> program text, with all that ``roots``, ``module:name``, reach.

    ``kept`` are members that a program outside of it asks for. Raises BuildError for what cannot be linked.
    """
    parts = trees({**sources, RUNTIME: _RUNTIME.read_text(encoding="utf-8")})
    resolve(parts)
    texts = messages.put_away(parts) if "messages" in steps else []
    linked = Linked(parts)
    named = [linked.name_of(*root.split(":")) for root in roots]
    foreign = foreign_members(linked)
    prune(linked, [*named, linked.name_of(RUNTIME, VISIT)], [], kept)
    if "constants" in steps:
        constants.write_out(linked, named, _given(linked, parts))
    if "methods" in steps:
        as_functions(linked, [*named, *kept, *foreign])
    visits = set_apart(linked, overlays) if "overlays" in steps else []
    prune(linked, named, visits, kept)
    if "methods" in steps:
        merge(linked)
    reached = Reached(linked, named, visits, PASSING)
    written = _written(linked, reached)
    readable = {name: _text(linked, statements) for name, statements in written.items()}
    names: dict[str, str] = {}
    if "names" in steps:
        written = copy.deepcopy(written)
        every = [statement for statements in written.values() for statement in statements]
        names = Shortened(written, [*named, *kept, "ENTRIES"], sorted(foreign)).names
        for node in every:
            if isinstance(node, ast.ImportFrom) and node.module == MODULE:
                node.names = [ast.alias(alias.asname or alias.name) for alias in node.names]
    return Bundle(
        {name: "\n".join(map(ast.unparse, statements)) + "\n" for name, statements in written.items()},
        readable, "".join(text + "\n" for text in texts), names, dict(zip(roots, named, strict=True)),
        sources,
    )  # fmt: skip


def _given(linked: Linked, parts: Mapping[str, object]) -> dict[str, bool]:
    """The values that are others in a bundle, by the names they have now."""
    known = {name: value for name, value in VALUES.items() if name.split(":")[0] in parts}
    given = {linked.name_of(*name.split(":")): value for name, value in known.items()}
    return {name: value for name, value in given.items() if name in linked.units}


def _written(linked: Linked, reached: Reached) -> dict[str, list[ast.stmt]]:
    """Module -> statements, in order; an overlay takes from the resident module what it has not itself."""
    written = {MODULE: [linked.units[name].statement for name in reached.resident]}
    resident = {name for first in reached.resident for name in linked.units[first].names}
    for overlay, names in reached.overlays.items():
        taken = sorted((reached.needed(names) | set(reached.entries[overlay])) & resident)
        statements: list[ast.stmt] = [ast.ImportFrom(MODULE, [ast.alias(name)], 0) for name in taken]
        statements += [linked.units[name].statement for name in names]
        entries = ast.Tuple([ast.Name(name, ast.Load()) for name in reached.entries[overlay]], ast.Load())
        statements.append(ast.Assign([ast.Name("ENTRIES", ast.Store())], entries))
        written[overlay] = [ast.fix_missing_locations(statement) for statement in statements]
    return written


def _text(linked: Linked, statements: Sequence[ast.stmt]) -> str:
    """The statements with the names of the sources, each below the module that it is from."""
    homes = {id(unit.statement): unit.module for unit in linked.units.values() if not unit.foreign}
    lines = []
    home = ""
    for statement in statements:
        if homes.get(id(statement), home) != home:
            home = homes[id(statement)]
            lines.append(f"\n# {home}")
        lines.append(ast.unparse(statement))
    return "\n".join(lines) + "\n"
