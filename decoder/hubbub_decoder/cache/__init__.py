"""Partial states of sealed parts, kept between runs: a part never changes, so it need be counted only once."""

from hubbub_decoder.cache.entry import Counted
from hubbub_decoder.cache.store import StateCache

__all__ = ["Counted", "StateCache"]
