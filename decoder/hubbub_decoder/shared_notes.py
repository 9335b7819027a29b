"""Notes of several results as those of one: what all say is said once, and the rest with the name of whose it is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence


def shared_notes(notes: Mapping[str, Sequence[str]]) -> tuple[str, ...]:
    """``notes``, name -> what is said of it, without repetition."""
    shared = set.intersection(*map(set, notes.values())) if notes else set()
    first = next(iter(notes.values()), ())
    return (
        *(note for note in first if note in shared),
        *(f"{name}: {note}" for name, own in notes.items() for note in own if note not in shared),
    )
