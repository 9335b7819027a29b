"""What fakes do to ranges and quantiles, to lists of strings and to pairs.

``python benchmarks/accuracy/poisoned_questions.py [--questions ranges lists pairs] [--runs 10] [--seed 1]``;
docs/poisoning.md says what the columns mean. The lists take some minutes, the others one.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from functools import partial as partial_call
from pathlib import Path
from typing import Any

import names
import numpy as np
from rich import box
from rich.console import Console
from rich.table import Table

from hubbub_client.pairs import pair_bytes
from hubbub_decoder import partial, quantiles, ranges
from hubbub_decoder.discovery import Options, discover
from hubbub_decoder.joint.decode import estimate_joint
from hubbub_decoder.screen import Screen
from hubbub_registry import Metric
from hubbub_simulations.bits import Bytes
from hubbub_simulations.definitions import define
from hubbub_simulations.mechanisms import encode
from hubbub_simulations.number_accuracy import NumberStudy
from hubbub_simulations.poisoning import ATTACKS
from hubbub_simulations.poisoning.lists import LIST_ATTACKS, holders_each, list_records
from hubbub_simulations.poisoning.pairs import pair_leverage, pair_records
from hubbub_simulations.poisoning.ranges import RANGE_ATTACKS, leverage, range_records, strongest

REPORTS, SHARE = 100_000, 0.01
SHARES = (0.003, 0.01, 0.03, 0.1)
STRINGS, LIST_REPORTS = 10, 200_000
OF_EACH = (0.002, 0.004, 0.008, 0.016)


def poisoned_ranges(runs: int, seed: int) -> Table:
    """A log-normal population of 256 values; fakes want the top quarter, which hardly anybody has, to be full."""
    table = Table(
        "epsilon", "attack", "formula", "shift", "median", "0.95 quantile", "flagged from", box=box.SIMPLE_HEAD
    )
    for epsilon in (1.0, 2.0, 4.0):
        study = NumberStudy("log-normal", epsilon, 256, REPORTS)
        metric, values, rng = study.metric, study.values, np.random.default_rng(seed)
        items, top = [b"%d" % i for i in range(256)], (192, 256)
        asked = np.repeat([0.0, 1.0], [192, 64])
        share = float((values >= 192).mean())
        for name in ("nobody", "holders", *RANGE_ATTACKS):
            attack = strongest(metric, asked, name) if name in RANGE_ATTACKS else None

            fakes = (
                partial_call(range_records, metric, attack, rng=rng) if attack else
                partial_call(liars, metric, b"250", rng=rng)
            )  # fmt: skip
            found = []
            for _ in range(runs):
                made_up = fakes(count=0 if name == "nobody" else round(SHARE * REPORTS))
                honest = encode(metric, items, rng.permutation(values)[len(made_up) :].astype(np.intp), rng)
                clean, state = partial(metric, honest), partial(metric, np.concatenate([honest, made_up]))
                shift = ranges(metric, state, [top]).frequency[0] - ranges(metric, clean, [top]).frequency[0]
                found.append([shift, *quantiles(metric, state, [0.5, 0.95]).quantile])
            mean = np.mean(found, axis=0)
            counted = 0.0 if name == "nobody" else leverage(metric, asked, attack) - share if attack else 1 - share
            honest = encode(metric, items, values.astype(np.intp), rng)
            table.add_row(
                f"{epsilon:g}", name, f"{counted:.2f}", f"{100 * mean[0]:.2f}", f"{mean[1]:.0f}", f"{mean[2]:.0f}",
                flagged_from(metric, honest, fakes) if name != "nobody" else "",
            )  # fmt: skip
    return table


def poisoned_lists(_runs: int, seed: int) -> Table:
    """First names of the census of 1990, and ten strings that nobody holds."""
    heads = [f"{share:.1%} each" for share in OF_EACH]
    table = Table("mechanism", "attack", "counts as", *heads, "flagged at the last", box=box.SIMPLE_HEAD)
    held, share = census()
    letters = np.random.default_rng(11).integers(97, 123, (STRINGS, 6), np.uint8)
    made_up = [row.tobytes().decode() for row in letters]
    for mechanism in ("prefix-extending-method", "sequence-fragment-puzzle"):
        metric = define(mechanism, epsilon=4, salt="0123456789abcdef")
        for attack in LIST_ATTACKS:
            rng, listed = np.random.default_rng(seed), []
            for each in OF_EACH:
                fakes = round(each * STRINGS * LIST_REPORTS)
                index = rng.choice(len(held), LIST_REPORTS - fakes, p=share)
                records = np.concatenate(
                    [encode(metric, held, index, rng), list_records(metric, made_up, attack, fakes, rng)]
                )
                letters_only = Options(alphabet="abcdefghijklmnopqrstuvwxyz")
                found = discover(metric, partial(metric, records), options=letters_only)
                listed.append(f"{len(set(made_up) & set(found.value))} of {STRINGS}")
            counts = [f"{each:.2f}" for each in holders_each(metric).values()] if attack == "noiseless" else ["1"]
            table.add_row(
                mechanism, attack, " and ".join(counts), *listed, "yes" if is_flagged(metric, records) else "no"
            )
    return table


def poisoned_pairs(runs: int, seed: int) -> Table:
    """Five values and two, independent of each other; fakes want a pair of values that few hold."""
    heads = ("first part", "attack", "formula", "shift", "independence rejected", "flagged from")
    table = Table(*heads, box=box.SIMPLE_HEAD)
    first, second = [f"v{i}" for i in range(5)], ["yes", "no"]
    truth = np.outer([0.4, 0.3, 0.2, 0.09, 0.01], [0.9, 0.1])
    items = [pair_bytes((a, b)) for a in first for b in second]
    other = {"mechanism": "randomized-response", "values": second}
    sides: dict[str, dict[str, Any]] = {
        "randomized-response": {"values": first},
        "hadamard-count-mean-sketch": {"hashes": 256, "width": 64, "candidates": first},
        "local-hashing": {"hashes": 256, "candidates": first},
    }
    for mechanism, keys in sides.items():
        metric = define("joint", epsilon=4, first={"mechanism": mechanism, **keys}, second=other)
        index = np.repeat(np.arange(10), np.rint(truth * REPORTS).astype(np.int64).ravel())
        for attack in ATTACKS:
            rng, found = np.random.default_rng(seed), []
            made_up = partial_call(pair_records, metric, first, second, attack, rng=rng)
            for _ in range(runs):
                fakes = made_up(count=round(SHARE * REPORTS))
                honest = encode(metric, items, rng.permutation(index)[len(fakes) :], rng)
                both = (honest, np.concatenate([honest, fakes]))
                clean, poisoned = (estimate_joint(metric, partial(metric, records)) for records in both)
                at = first.index("v4"), second.index("no")
                found.append([poisoned.share[at] - clean.share[at], poisoned.independence.p_value < 1e-6])
            shift, rejected = np.mean(found, axis=0)
            exact = attack != "holders" and mechanism == "randomized-response"
            table.add_row(
                mechanism, attack, f"{pair_leverage(metric):.2f}" if exact else "1.00" if attack == "holders" else "",
                f"{100 * shift:.2f}", f"{rejected:.0%}",
                flagged_from(metric, encode(metric, items, index, rng), made_up),
            )  # fmt: skip
    return table


def liars(metric: Metric, value: bytes, count: int, rng: np.random.Generator) -> Bytes:
    """Reports of devices that follow the protocol and say that they hold ``value``."""
    return encode(metric, [value], np.zeros(count, np.intp), rng)


def flagged_from(metric: Metric, honest: Bytes, fakes: Callable[..., Bytes]) -> str:
    """The least of SHARES that the screen flags; ``fakes`` makes ``count`` records."""
    for share in SHARES:
        count = round(share * len(honest))
        if is_flagged(metric, np.concatenate([honest[count:], fakes(count=count)])):
            return f"{share:.1%}"
    return "never"


def is_flagged(metric: Metric, records: Bytes) -> bool:
    screen = Screen(metric)
    screen.add(records)
    return screen.verdict().suspicious


def census() -> tuple[list[bytes], Sequence[float]]:
    """First names, and their shares, which add up to 1."""
    share: dict[bytes, float] = {}
    for file in ("first:male", "first:female"):
        for line in Path(names.FILES[file]).read_text(encoding="ascii").splitlines():
            name, percent = line.lower().encode().split()[:2]
            share[name] = share.get(name, 0.0) + float(percent)
    weights = np.array(list(share.values()))
    return list(share), weights / weights.sum()


QUESTIONS = {"ranges": poisoned_ranges, "lists": poisoned_lists, "pairs": poisoned_pairs}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--questions", nargs="+", choices=list(QUESTIONS), default=list(QUESTIONS))
    parser.add_argument("--runs", type=int, default=10, help="runs that a figure is the mean of (10); one for lists")
    parser.add_argument("--seed", type=int, default=1, help="the seed of the generators (1)")
    arguments = parser.parse_args()
    for question in arguments.questions:
        Console(width=150).print(QUESTIONS[question](arguments.runs, arguments.seed))
    return 0


if __name__ == "__main__":
    sys.exit(main())
