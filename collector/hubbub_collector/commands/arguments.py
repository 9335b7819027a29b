"""Arguments as people write them: durations, sizes, counts."""

from __future__ import annotations

import argparse
import ipaddress
import re
from collections.abc import Callable

from hubbub_collector.limits.rate import parse_rate

_SECONDS = {"s": 1, "m": 60, "h": 3600, "d": 86_400, "w": 604_800}
_BYTES = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}


def seconds(least: str = "0s") -> Callable[[str], int]:
    """For argparse: reads ``"28d"`` as seconds; raises ArgumentTypeError for less than ``least``."""
    example = f"write a number and one of s, m, h, d or w, such as {least}"
    return _at_least(least, lambda text: _number(text, r"[smhdw]", _SECONDS), "a duration", example)


def size(least: str = "0") -> Callable[[str], int]:
    """For argparse: reads ``"64M"`` as bytes, in powers of 1024; raises ArgumentTypeError for less than ``least``."""
    example = f"write bytes, or a number and one of K, M, G or T, such as {least}"
    return _at_least(least, lambda text: _number(text, r"[KMGT]?", _BYTES), "a size", example)


def positive(text: str) -> int:
    """An integer of at least 1. For argparse: raises ArgumentTypeError."""
    if not re.fullmatch(r"[1-9][0-9]{0,8}", text):
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number of at least 1")
    return int(text)


def port(text: str) -> int:
    """A port, from 0 to 65535. For argparse: raises ArgumentTypeError."""
    if not re.fullmatch(r"[0-9]{1,5}", text) or int(text) > 65535:
        raise argparse.ArgumentTypeError(f"{text!r} is not a port: write a number from 0 to 65535")
    return int(text)


def address(text: str) -> tuple[str, int]:
    """``"127.0.0.1:9090"`` or ``"[::1]:9090"`` as host and port. For argparse: raises ArgumentTypeError."""
    host, colon, number = text.rpartition(":")
    if not colon or not host:
        raise argparse.ArgumentTypeError(f"{text!r} is not HOST:PORT, such as 127.0.0.1:9090")
    return host.removeprefix("[").removesuffix("]"), port(number)


def network(text: str) -> str:
    """An address or a network in CIDR notation, as it is. For argparse: raises ArgumentTypeError."""
    try:
        ipaddress.ip_network(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is not a network, such as 10.0.0.0/8 or ::1") from None
    return text


def rate(text: str) -> str:
    """A rate such as ``"50/s"``, as it is. For argparse: raises ArgumentTypeError."""
    try:
        parse_rate(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(f"{text!r} is not a rate: {error}") from None
    return text


def database(text: str) -> str:
    """The URL of a PostgreSQL database, as it is. For argparse: raises ArgumentTypeError, which does not quote it: it
    may hold a password.
    """
    if not text.startswith(("postgresql://", "postgres://")):
        raise argparse.ArgumentTypeError(
            "a store is the URL of a database, such as postgresql://hubbub@db.example/hubbub"
        )
    return text


def _at_least(least: str, read: Callable[[str], int | None], what: str, example: str) -> Callable[[str], int]:
    smallest = read(least)

    def parse(text: str) -> int:
        found = read(text)
        if found is None:
            raise argparse.ArgumentTypeError(f"{text!r} is not {what}: {example}")
        if smallest is not None and found < smallest:
            raise argparse.ArgumentTypeError(f"{text!r} is too little: it must be at least {least}")
        return found

    return parse


def _number(text: str, unit: str, units: dict[str, int]) -> int | None:
    match = re.fullmatch(rf"([0-9]{{1,12}})({unit})", text)
    return None if match is None else int(match[1]) * units[match[2]]
