"""How much of a real word list the sequence fragment puzzle finds, and what it finds that is not there.

Devices hold names of the United States' census of 1990 (package ``names``: 5,163 first names, 88,799 family names) as
often as people do. Everything is the product's own path, vectorised clients included.
``python benchmarks/decoder/discovery_puzzle.py [--reports N ...] [--epsilon E ...] [--seeds K] [--set KEY=VALUE ...]
[--json FILE]``; the default takes about ten minutes.
"""

from __future__ import annotations

import argparse
import itertools
import json
import string
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import names
import numpy as np
import numpy.typing as npt
from rich.console import Console
from rich.table import Table

from hubbub_decoder import partial
from hubbub_decoder.discovery import Options, discover
from hubbub_simulations.definitions import define
from hubbub_simulations.mechanisms import encode

LISTS = {"first names": ("first:male", "first:female"), "family names": ("last",)}
LETTERS = Options(alphabet=string.ascii_lowercase)
# Recall is of the names that so many devices hold at least, of 1.
SHARES = (0.01, 0.005, 0.003, 0.002)


def census(files: tuple[str, ...]) -> tuple[list[str], npt.NDArray[np.float64]]:
    """The names, and their shares, which add up to 1."""
    share: dict[str, float] = {}
    for file in files:
        for line in Path(names.FILES[file]).read_text(encoding="ascii").splitlines():
            name, percent = line.split()[:2]
            share[name.lower()] = share.get(name.lower(), 0.0) + float(percent)
    weights = np.array(list(share.values()))
    return list(share), weights / weights.sum()


def run(words: str, reports: int, epsilon: float, seed: int, keys: dict[str, Any]) -> dict[str, Any]:
    """One population, its reports, and the list that comes out of them."""
    held, share = census(LISTS[words])
    rng = np.random.default_rng(seed)
    metric = define("sequence-fragment-puzzle", epsilon=epsilon, salt=f"{int(rng.integers(1 << 62)):016x}", **keys)
    index = rng.choice(len(held), reports, p=share)
    state = partial(metric, encode(metric, [name.encode() for name in held], index, rng))
    start = time.process_time()
    listed = discover(metric, state, options=LETTERS)
    seconds = time.process_time() - start
    holders = dict(zip(held, np.bincount(index, minlength=len(held)).tolist(), strict=True))
    truth = np.array([holders.get(name, 0) for name in listed.value])
    low, high = listed.confidence_interval()
    frequent = {least: {name for name, n in holders.items() if n >= least * reports} for least in SHARES}
    return {
        "words": words, "reports": reports, "epsilon": epsilon, "seed": seed, "seconds": seconds, "listed": len(listed),
        "false": int((truth == 0).sum()), "covered": int(((low <= truth) & (truth <= high)).sum()),
        "frequent": {str(least): len(those) for least, those in frequent.items()},
        "found": {str(least): len(those & set(listed.value)) for least, those in frequent.items()},
    }  # fmt: skip


def summed(rows: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """Over the seeds of each setting."""
    for _, group in itertools.groupby(rows, lambda row: (row["words"], row["reports"], row["epsilon"])):
        same = list(group)
        listed = sum(row["listed"] for row in same)
        yield {
            **same[0], "listed": listed / len(same), "false": sum(row["false"] for row in same),
            "covered": sum(row["covered"] for row in same) / max(1, listed),
            "seconds": sum(row["seconds"] for row in same) / len(same),
            "recall": {
                str(least): _share(sum(row["found"][str(least)] for row in same),
                                   sum(row["frequent"][str(least)] for row in same)) for least in SHARES
            },
        }  # fmt: skip


def _share(part: int, whole: int) -> str:
    return f"{part / whole:.0%}" if whole else "-"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--reports", type=int, nargs="+", default=[300_000, 1_000_000])
    parser.add_argument("--epsilon", type=float, nargs="+", default=[4, 8])
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument(
        "--set", metavar="KEY=VALUE", nargs="+", default=[], help="keys of the metric, such as split=0.5"
    )
    parser.add_argument("--json", type=Path, help="also write the figures to this file")
    arguments = parser.parse_args()
    keys = {key: json.loads(value) for key, value in (each.split("=") for each in arguments.set)}
    settings = itertools.product(LISTS, arguments.reports, arguments.epsilon, range(arguments.seeds))
    rows = [run(words, reports, epsilon, seed, keys) for words, reports, epsilon, seed in settings]
    heads = [f"recall at {least:.1%}" for least in SHARES]
    table = Table("list", "reports", "epsilon", "listed", "false, of all runs", *heads, "covered by 95 %", "CPU s")
    for row in summed(rows):
        table.add_row(
            row["words"], f"{row['reports']:,}", f"{row['epsilon']:g}", f"{row['listed']:.1f}", str(row["false"]),
            *row["recall"].values(), f"{row['covered']:.1%}", f"{row['seconds']:.1f}",
        )  # fmt: skip
    Console(width=140).print(table)
    if arguments.json:
        arguments.json.write_text(json.dumps(rows, indent=1) + "\n")


if __name__ == "__main__":
    main()
