"""What the two benchmarks of discovery share: populations of real names, a run over one, and the table of all runs."""

from __future__ import annotations

import argparse
import itertools
import json
import time
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import names
import numpy as np
import numpy.typing as npt
from rich.console import Console
from rich.table import Table

from hubbub_decoder import partial
from hubbub_decoder.discovery import Discovered, Options, discover
from hubbub_decoder.discovery.selection import listed_from
from hubbub_registry import Metric
from hubbub_simulations.definitions import define
from hubbub_simulations.mechanisms import encode

Population = tuple[list[str], npt.NDArray[np.float64]]
"""Values, and their shares, which add up to 1."""
NAMES = {"first names": ("first:male", "first:female"), "family names": ("last",)}
INTERVALS = ("plain", "conditional", "fcr")
# A string is near the threshold where its truth is less than so many standard errors above it, or below.
NEAR = 1.0


@cache
def census(kind: str) -> Population:
    """The names of the United States' census of 1990, in small letters, as frequent as they are."""
    share: dict[str, float] = {}
    for file in NAMES[kind]:
        for line in Path(names.FILES[file]).read_text(encoding="ascii").splitlines():
            name, percent = line.split()[:2]
            share[name.lower()] = share.get(name.lower(), 0.0) + float(percent)
    return as_population(share)


def as_population(weight: dict[str, float]) -> Population:
    """Values as frequent as their weights."""
    weights = np.array(list(weight.values()))
    return list(weight), weights / weights.sum()


def parser_of(description: str | None, lists: Sequence[str], reports: list[int], epsilon: list[float]) -> Any:
    """The arguments of both, with the defaults of one."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--lists", nargs="+", choices=lists, default=list(lists))
    parser.add_argument("--reports", type=int, nargs="+", default=reports)
    parser.add_argument("--epsilon", type=float, nargs="+", default=epsilon)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--set", metavar="KEY=VALUE", nargs="+", default=[], help="keys of the metric, as longest=7")
    parser.add_argument("--json", type=Path, help="also write the figures to this file")
    return parser


def run_all(
    mechanism: str, population: Callable[[str], Population], arguments: argparse.Namespace, options: Options,
    shares: tuple[float, ...],
) -> None:  # fmt: skip
    """Runs every setting, prints the table, and writes the JSON; recall is of values that ``shares`` of 1 hold."""
    keys = {key: json.loads(value) for key, value in (each.split("=") for each in arguments.set)}
    rows = []
    for kind, epsilon, reports, seed in itertools.product(
        arguments.lists, arguments.epsilon, arguments.reports, range(arguments.seeds)
    ):
        rng = np.random.default_rng(seed)
        salt = f"{int(rng.integers(1 << 62)):016x}"
        metric = define(mechanism, epsilon=epsilon, salt=salt, **keys)
        found = run(metric, population(kind), reports, rng, options, shares)
        rows.append({"list": kind, "epsilon": epsilon, "reports": reports, "seed": seed, **found})
    Console(width=160).print(table_of(rows, shares))
    if arguments.json:
        arguments.json.write_text(json.dumps(rows, indent=1) + "\n")


def run(
    metric: Metric, population: Population, reports: int, rng: np.random.Generator, options: Options,
    shares: tuple[float, ...],
) -> dict[str, Any]:  # fmt: skip
    """One population, its reports, and the list that comes out of them."""
    held, share = population
    index = rng.choice(len(held), reports, p=share)
    state = partial(metric, encode(metric, [value.encode() for value in held], index, rng))
    start = time.process_time()
    everything = discover(metric, state, insignificant=True, options=options)
    there = everything.significant()
    listed = Discovered.of_rows(everything, there, listed_from(everything, there, 0.05, "holm"))
    seconds = time.process_time() - start
    holders = dict(zip(held, np.bincount(index, minlength=len(held)).tolist(), strict=True))
    truth = np.array([holders.get(value, 0) for value in listed.value], np.float64)
    frequent = {least: {value for value, n in holders.items() if n >= least * reports} for least in shares}
    return {
        "seconds": seconds, "listed": len(listed), "false": int((truth == 0).sum()),
        "frequent": {str(least): len(those) for least, those in frequent.items()},
        "found": {str(least): len(those & set(listed.value)) for least, those in frequent.items()},
        "strings": strings_of(listed, truth, len(everything)),
    }  # fmt: skip


def strings_of(listed: Discovered, truth: npt.NDArray[np.float64], found: int) -> list[dict[str, Any]]:
    """Of each listed string how far above its threshold the truth is, and how far off its figures, in standard errors.

    "fcr" intervals are Benjamini and Yekutieli's (2005), which miss 5 % on average over the list: plain ones of a
    level that is as much closer to 1 as fewer are listed than ``found``.
    """
    error, threshold = listed.std_error, listed.listed_from
    assert threshold is not None  # only what is significant is listed
    columns: dict[str, Any] = {
        "above": (truth - threshold) / error,
        "count_off": (listed.count - truth) / error,
        "conditional_off": (listed.conditional_count - truth) / error,
    }
    of_few = 1 - 0.05 * max(1, len(listed)) / max(1, found)
    for name, level, conditional in (("plain", 0.95, False), ("conditional", 0.95, True), ("fcr", of_few, False)):
        low, high = listed.confidence_interval(level, conditional=conditional)
        columns[f"{name}_covers"] = (low <= truth) & (truth <= high)
        columns[f"{name}_width"] = (high - low) / error
    return [dict(zip(columns, row, strict=True)) for row in zip(*(c.tolist() for c in columns.values()), strict=True)]


def table_of(rows: list[dict[str, Any]], shares: tuple[float, ...]) -> Table:
    """A row for each setting, over its seeds, and one for all of them."""
    heads = [f"{least:.1%}" for least in shares]
    table = Table("list", "epsilon", "reports", "listed", *heads, "false", "covered near", "covered far", "CPU s")
    table.caption = "covered by plain, conditional and FCR intervals, of strings near the threshold and far above"
    for setting, group in itertools.groupby(rows, lambda row: (row["list"], row["epsilon"], row["reports"])):
        _add(table, (setting[0], f"{setting[1]:g}", f"{setting[2]:,}"), list(group), shares)
    if rows:
        _add(table, ("all", "", ""), rows, shares)
    return table


def _add(table: Table, setting: tuple[str, ...], same: list[dict[str, Any]], shares: tuple[float, ...]) -> None:
    listed = sum(row["listed"] for row in same)
    recall = [f"{sum(r['found'][least] for r in same)}/{sum(r['frequent'][least] for r in same)}"
              for least in map(str, shares)]  # fmt: skip
    strings = [each for row in same for each in row["strings"]]
    near = [each for each in strings if each["above"] < NEAR]
    far = [each for each in strings if each["above"] >= NEAR]
    table.add_row(
        *setting, f"{listed / len(same):.1f}", *recall, f"{sum(row['false'] for row in same)} of {listed}",
        _covered(near), _covered(far), f"{sum(row['seconds'] for row in same) / len(same):.1f}",
    )  # fmt: skip


def _covered(those: list[dict[str, Any]]) -> str:
    by = [str(sum(each[f"{name}_covers"] for each in those)) for name in INTERVALS]
    return f"{', '.join(by)} of {len(those)}" if those else "-"
