"""Ends what a crash interrupted. Runs before anything is added to the sorted store."""

from __future__ import annotations

from hubbub_collector.durable import sync_directory
from hubbub_collector.layout import DataDirectory
from hubbub_collector.seal.part import manifest_path, remove_uncommitted
from hubbub_collector.seal.sorted_store import SortedStore


def recover(data: DataDirectory, store: SortedStore) -> None:
    """A part with its manifest is finished; one without is removed, and its uploads wait again."""
    for intent in store.intents():
        folder = data.sealed(intent.metric, intent.fingerprint, intent.period)
        if manifest_path(folder, intent.seal).exists():
            sync_directory(folder)  # what ended the last run may have been that this failed
            store.finish(intent)
        else:
            remove_uncommitted(folder, intent.seal)
            store.abandon(intent)
