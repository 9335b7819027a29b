"""Arguments as people write them: durations, sizes, counts."""

from __future__ import annotations

import argparse
import re

_SECONDS = {"s": 1, "m": 60, "h": 3600, "d": 86_400, "w": 604_800}
_BYTES = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}


def seconds(text: str) -> int:
    """``"28d"`` -> seconds. For argparse: raises ArgumentTypeError."""
    match = re.fullmatch(r"([0-9]{1,9})([smhdw])", text)
    if match is None:
        raise argparse.ArgumentTypeError(f"{text!r} is not a duration: write a number and one of s, m, h, d or w")
    return int(match[1]) * _SECONDS[match[2]]


def size(text: str) -> int:
    """``"64M"`` -> bytes, in powers of 1024. For argparse: raises ArgumentTypeError."""
    match = re.fullmatch(r"([0-9]{1,12})([KMGT]?)", text)
    if match is None:
        raise argparse.ArgumentTypeError(f"{text!r} is not a size: write bytes, or a number and one of K, M, G or T")
    return int(match[1]) * _BYTES[match[2]]


def positive(text: str) -> int:
    """An integer of at least 1. For argparse: raises ArgumentTypeError."""
    if not re.fullmatch(r"[1-9][0-9]{0,8}", text):
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number of at least 1")
    return int(text)
