"""The points of sealing between which a crash must do no harm, by name, so that tests can crash at each of them."""

from __future__ import annotations

from collections.abc import Callable

STEPS = ("sorted", "taken", "released", "cleared", "intent", "parquet", "manifest", "finished", "pruned")
Step = Callable[[str], None]


def no_step(name: str) -> None:
    """Goes on."""
