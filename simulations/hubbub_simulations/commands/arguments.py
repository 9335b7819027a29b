"""Arguments that several subcommands take."""

from __future__ import annotations

import argparse


def positive(text: str) -> int:
    """A whole number above 0, for ``type=`` of an argument."""
    number = int(text) if text.isascii() and text.isdigit() else 0
    if number < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number above 0")
    return number
