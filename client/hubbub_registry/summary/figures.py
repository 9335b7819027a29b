"""How figures are written for people: rounded up, in columns."""

from __future__ import annotations

from fractions import Fraction

DECIMALS = 6
_UNITS = {"w": 604800, "d": 86400, "h": 3600, "m": 60, "s": 1}


def decimal_up(value: Fraction, decimals: int = DECIMALS) -> str:
    """``value``, not negative, with so many decimals, rounded up: what is printed never flatters."""
    scaled = -(-value.numerator * 10**decimals // value.denominator)
    whole, rest = divmod(scaled, 10**decimals)
    return f"{whole}.{rest:0{decimals}}"


def decimal_down(value: Fraction, decimals: int = DECIMALS) -> str:
    """The same rounded down: for a lower bound."""
    whole, rest = divmod(value.numerator * 10**decimals // value.denominator, 10**decimals)
    return f"{whole}.{rest:0{decimals}}"


def duration(seconds: int) -> str:
    """Seconds in the largest unit that divides them, as a registry writes a period."""
    unit = next(unit for unit, length in _UNITS.items() if seconds % length == 0)
    return f"{seconds // _UNITS[unit]}{unit}"


def columns(rows: list[list[str]]) -> list[str]:
    """The rows as lines: the first column to the left, the others to the right."""
    first, *widths = [max(len(cell) for cell in column) for column in zip(*rows, strict=True)]
    return [
        f"{row[0]:{first}}" + "".join(f"  {cell:>{width}}" for cell, width in zip(row[1:], widths, strict=True))
        for row in rows
    ]
