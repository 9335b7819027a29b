"""The keys that every metric has, whatever its mechanism: how each is read."""

from __future__ import annotations

import datetime
import re
from fractions import Fraction
from pathlib import Path
from typing import Any

from hubbub_registry.lists import ListError, read_list, tidy
from hubbub_registry.mechanisms import Key
from hubbub_registry.table import Table, shown

MAX_EPSILON = 16
MAX_LIFETIME_EPSILON = 1_000_000
MAX_REPORTS_PER_PERIOD = 1_000_000
MAX_PERIOD_DAYS = 3660
COMMON_KEYS = (
    "description", "owner", "expires", "mechanism", "epsilon", "period", "reports_per_period", "lifetime_epsilon",
    "unbounded_justification", "salt", "silence", "dimension",
)  # fmt: skip
_UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86400, "w": 604800}


def read_epsilon(table: Table) -> Fraction | None:
    """``epsilon`` of one report."""
    return table.positive("epsilon", MAX_EPSILON, "protects nobody", f"write an epsilon above 0, at most {MAX_EPSILON}")


def read_lifetime(table: Table) -> tuple[Fraction | None, str]:
    """``lifetime_epsilon`` (None for "unbounded") and the justification that "unbounded" needs."""
    if table.peek("lifetime_epsilon") == "unbounded":
        table.take("lifetime_epsilon")
        return None, table.reason(
            "unbounded_justification", "write, in a sentence, why this metric may spend without end"
        )
    if table.has("unbounded_justification"):
        table.take("unbounded_justification")
        table.problem(
            "unbounded_justification", "justifies nothing", 'say lifetime_epsilon = "unbounded", or remove it'
        )
    lifetime = table.positive(
        "lifetime_epsilon",
        MAX_LIFETIME_EPSILON,
        "bounds nothing",
        'write an epsilon above 0, or "unbounded" and an unbounded_justification',
    )
    return lifetime, ""


def read_period(table: Table) -> int | None:
    """``period`` in seconds."""
    value = table.take("period")
    if value is None:
        return None
    match = re.fullmatch(r"([1-9][0-9]{0,8})([smhdw])", value) if isinstance(value, str) else None
    if match is None:
        table.problem(
            "period",
            f"{shown(value)} is not a period",
            'write a number and a unit of s, m, h, d or w, such as "7d"',
        )
        return None
    seconds = int(match[1]) * _UNITS[match[2]]
    if seconds > MAX_PERIOD_DAYS * _UNITS["d"]:
        table.problem("period", f"{value} is longer than ten years", f"write at most {MAX_PERIOD_DAYS}d")
        return None
    return seconds


def read_reports_per_period(table: Table) -> int | None:
    """``reports_per_period``, 1 where it is left out."""
    if not table.has("reports_per_period"):
        return 1
    return table.integer("reports_per_period", 1, MAX_REPORTS_PER_PERIOD)


def read_expires(table: Table) -> datetime.date | None:
    """``expires``, a TOML date: the first day (UTC) on which no device reports any more."""
    value = table.take("expires")
    if value is None:
        return None
    if isinstance(value, datetime.datetime) or not isinstance(value, datetime.date):
        table.problem(
            "expires", f"{shown(value)} is not a date", "write a TOML date without quotes, such as 2027-06-30"
        )
        return None
    return value


def read_salt(table: Table) -> int | None:
    """``salt`` as an integer, where the registry fixes it: sixteen hexadecimal digits."""
    if not table.has("salt"):
        return None
    value = table.take("salt")
    if not isinstance(value, str) or re.fullmatch(r"[0-9a-f]{16}", value) is None:
        table.problem(
            "salt",
            f"{shown(value)} is not a salt",
            "write sixteen small hexadecimal digits in quotes, or leave it out",
        )
        return None
    return int(value, 16)


def read_mechanism_key(table: Table, name: str, key: Key) -> Any:
    """A mechanism's own key, by its description; None where it is wrong or missing, its default where it may be."""
    if not key.required and not table.has(name):
        return key.default
    if key.kind == "integer":
        return table.integer(name, key.low, key.high)
    if key.kind == "power-of-two":
        return table.power_of_two(name, key.low, key.high)
    if key.kind == "choice":
        return table.choice(name, key.choices)
    return table.probability(name)


def read_values(table: Table, key: str, folder: Path) -> tuple[str, ...]:
    """A list of values written in the registry, or the name of a UTF-8 file with one a line; empty where wrong."""
    raw = table.take(key)
    try:
        if isinstance(raw, str):
            values = read_list(folder / raw)
        elif isinstance(raw, list):
            values = tidy(raw)
        else:
            raise ListError(f"{shown(raw)} is neither a list of texts nor a file name", "write one of the two")
        if not values:
            raise ListError("the list is empty", "write at least one value")
    except ListError as error:
        table.problem(key, error.what, error.remedy)
        return ()
    return values


def read_silence(table: Table, known: frozenset[str]) -> dict[str, str]:
    """``[metrics.NAME.silence]``: lint -> the written reason why it does not apply here."""
    if not table.has("silence"):
        return {}
    silence = Table(f"{table.where}.silence", raw := table.take("silence"), table.problems)
    if not isinstance(raw, dict):
        return {}
    for lint in raw.keys() - known:
        silence.take(lint)
        silence.problem(lint, "is not a check that can be silenced", f"name one of {', '.join(sorted(known))}")
    return {
        lint: silence.reason(lint, "write, in a sentence, why it does not apply here") for lint in raw if lint in known
    }
