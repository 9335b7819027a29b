"""How much of a real word list the prefix extending method finds, and what it finds that is not there.

Devices hold names of the United States' census of 1990 (package ``names``) as often as people do, or English words
(package ``wordfreq``, which has to be installed for them) as often as they are written. Everything is the product's own
path, vectorised clients included. ``python benchmarks/decoder/discovery_prefixes.py [--lists LIST ...]
[--reports N ...] [--epsilon E ...] [--seeds K] [--set KEY=VALUE ...] [--alphabet CHARACTERS] [--json FILE]``; the
default takes about five minutes.
"""

from __future__ import annotations

import argparse
import itertools
import json
import time
from functools import cache
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

NAMES = {"first names": ("first:male", "first:female"), "family names": ("last",)}
LISTS = (*NAMES, "words")
MOST_WORDS = 50_000
# Recall is of the values that so many devices hold at least, of 1.
SHARES = (0.02, 0.01, 0.005, 0.002)


@cache
def population(kind: str) -> tuple[list[str], npt.NDArray[np.float64]]:
    """The values of a list, and their shares, which add up to 1."""
    share: dict[str, float] = {}
    if kind == "words":
        import wordfreq  # a package that nothing else here needs

        share = dict(itertools.islice(wordfreq.get_frequency_dict("en").items(), MOST_WORDS))
    else:
        for file in NAMES[kind]:
            for line in Path(names.FILES[file]).read_text(encoding="ascii").splitlines():
                name, percent = line.split()[:2]
                share[name.title()] = share.get(name.title(), 0.0) + float(percent)
    weights = np.array(list(share.values()))
    return list(share), weights / weights.sum()


def run(kind: str, reports: int, epsilon: float, seed: int, keys: dict[str, Any], options: Options) -> dict[str, Any]:
    """One population, its reports, and the list that comes out of them."""
    held, share = population(kind)
    rng = np.random.default_rng(seed)
    salt = f"{int(rng.integers(1 << 62)):016x}"
    metric = define("prefix-extending-method", epsilon=epsilon, salt=salt, **keys)
    index = rng.choice(len(held), reports, p=share)
    state = partial(metric, encode(metric, [value.encode() for value in held], index, rng))
    start = time.process_time()
    listed = discover(metric, state, options=options)
    seconds = time.process_time() - start
    holders = dict(zip(held, np.bincount(index, minlength=len(held)).tolist(), strict=True))
    truth = np.array([holders.get(value, 0) for value in listed.value])
    low, high = listed.confidence_interval()
    frequent = {least: {value for value, n in holders.items() if n >= least * reports} for least in SHARES}
    return {
        "list": kind, "reports": reports, "epsilon": epsilon, "seed": seed, "seconds": seconds, "listed": len(listed),
        "false": int((truth == 0).sum()), "covered": int(((low <= truth) & (truth <= high)).sum()),
        "frequent": {str(least): len(those) for least, those in frequent.items()},
        "found": {str(least): len(those & set(listed.value)) for least, those in frequent.items()},
    }  # fmt: skip


def table_of(rows: list[dict[str, Any]]) -> Table:
    """A row for each setting, over its seeds."""
    heads = [f"of those with {least:.1%}" for least in SHARES]
    table = Table("list", "epsilon", "reports", "listed", *heads, "false, all runs", "covered by 95 %", "CPU s")
    for _, group in itertools.groupby(rows, lambda row: (row["list"], row["epsilon"], row["reports"])):
        same = list(group)
        total = {name: sum(row[name] for row in same) for name in ("listed", "false", "covered", "seconds")}
        recall = [
            f"{sum(row['found'][least] for row in same)}/{sum(row['frequent'][least] for row in same)}"
            for least in map(str, SHARES)
        ]
        table.add_row(
            same[0]["list"], f"{same[0]['epsilon']:g}", f"{same[0]['reports']:,}", f"{total['listed'] / len(same):.1f}",
            *recall, f"{total['false']} of {total['listed']}", f"{total['covered'] / max(1, total['listed']):.1%}",
            f"{total['seconds'] / len(same):.1f}",
        )  # fmt: skip
    return table


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--lists", nargs="+", choices=LISTS, default=list(LISTS))
    parser.add_argument("--reports", type=int, nargs="+", default=[200_000, 500_000, 1_000_000])
    parser.add_argument("--epsilon", type=float, nargs="+", default=[2, 4])
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--set", metavar="KEY=VALUE", nargs="+", default=[], help="keys of the metric, as longest=7")
    parser.add_argument("--alphabet", metavar="CHARACTERS", help="what values are made of; default: any characters")
    parser.add_argument("--json", type=Path, help="also write the figures to this file")
    arguments = parser.parse_args()
    keys = {key: json.loads(value) for key, value in (each.split("=") for each in arguments.set)}
    options = Options(alphabet=arguments.alphabet)
    settings = itertools.product(arguments.lists, arguments.epsilon, arguments.reports, range(arguments.seeds))
    rows = [run(kind, reports, epsilon, seed, keys, options) for kind, epsilon, reports, seed in settings]
    Console(width=150).print(table_of(rows))
    if arguments.json:
        arguments.json.write_text(json.dumps(rows, indent=1) + "\n")


if __name__ == "__main__":
    main()
