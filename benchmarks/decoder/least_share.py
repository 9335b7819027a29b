"""At how many standard errors of its rarest part a string that nobody named is listed every other time.

``python benchmarks/decoder/least_share.py [--seeds 2]``: 20 strings of 14 letters are held by ever smaller shares of
200,000 devices, the others of which hold first names. These are the two constants of
``hubbub_registry.advice.strings``, which ``hubbub check --advise`` tells the least share by. Some minutes.
"""

from __future__ import annotations

import argparse
import string

import numpy as np
from discovery_runs import census

from hubbub_decoder import partial
from hubbub_decoder.discovery import Options, discover
from hubbub_registry.advice.strings import STANDS_OUT, part_error
from hubbub_simulations.definitions import define
from hubbub_simulations.mechanisms import encode

REPORTS, STRINGS, LENGTH = 200_000, 20, 14
ERRORS = (3.0, 3.5, 4.0, 4.5, 5.0, 5.5)
# The prefix extending method by its defaults; the puzzle with the letters that values are made of, as it is meant.
SETTINGS = (
    ("prefix-extending-method", 2.0, {"longest": 15}, Options()),
    ("sequence-fragment-puzzle", 4.0, {"positions": 8}, Options(alphabet=string.ascii_lowercase)),
)


def listed(mechanism: str, epsilon: float, keys: dict[str, int], options: Options, errors: float, seed: int) -> float:
    """Of the strings that stand out by ``errors`` standard errors, the share that is listed."""
    rng = np.random.default_rng(seed)
    metric = define(mechanism, epsilon=epsilon, salt=f"{int(rng.integers(1 << 62)):016x}", **keys)
    share = errors * part_error(mechanism, metric.device.parameters, REPORTS)
    letters = np.array(list(string.ascii_lowercase))
    strings = ["".join(rng.choice(letters, LENGTH)) for _ in range(STRINGS)]
    held, weight = census("first names")
    rest = (1 - STRINGS * share) * weight
    index = rng.choice(STRINGS + len(held), REPORTS, p=np.concatenate([np.full(STRINGS, share), rest]))
    items = [value.encode() for value in (*strings, *held)]
    found = discover(metric, partial(metric, encode(metric, items, index, rng)), options=options).value
    return len(set(strings) & set(found)) / STRINGS


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=2)
    seeds = range(parser.parse_args().seeds)
    for mechanism, epsilon, keys, options in SETTINGS:
        found = [
            float(np.mean([listed(mechanism, epsilon, keys, options, errors, seed) for seed in seeds]))
            for errors in ERRORS
        ]
        half = float(np.interp(0.5, np.maximum.accumulate(found), ERRORS))
        points = ", ".join(f"{errors:g}: {share:.0%}" for errors, share in zip(ERRORS, found, strict=True))
        print(f"{mechanism}: listed at {points}; half at {half:.1f} (advice: {STANDS_OUT[mechanism]})", flush=True)


if __name__ == "__main__":
    main()
