"""What ``hubbub decode`` can be asked of a number's distribution: quantiles, ranges, or the buckets' histogram."""

from __future__ import annotations

import argparse
from collections.abc import Callable

from hubbub_decoder.errors import EstimateError
from hubbub_decoder.numbers import Quantiles, Ranges
from hubbub_decoder.numbers.decode import check_gives_ranges, gives_ranges, quantiles, ranges
from hubbub_decoder.numbers.quantiles import USUAL, check_probabilities
from hubbub_decoder.numbers.ranges import checked_ranges
from hubbub_decoder.state import State
from hubbub_registry import Metric


def add_numbers(parser: argparse.ArgumentParser) -> None:
    """Which figures of a metric that gives them."""
    usual = " ".join(map(str, USUAL))
    which = parser.add_mutually_exclusive_group()
    which.add_argument(
        "--quantiles", metavar="P", type=float, nargs="+", action="extend",
        help=f"of hierarchical-histogram: quantiles at these shares; default: {usual}",
    )  # fmt: skip
    which.add_argument(
        "--ranges", metavar="A:B", type=_pair, nargs="+", action="extend",
        help="of hierarchical-histogram: counts of the integers from A to before B (with --ranges=-5:5 below zero)",
    )  # fmt: skip
    which.add_argument("--histogram", action="store_true", help="of hierarchical-histogram: counts of its buckets")


def numbers_question(arguments: argparse.Namespace, metric: Metric) -> Callable[[State], Quantiles | Ranges] | None:
    """What is to be asked of the state; None for counts or a mean. Checked here, before hours of reading.

    Quantiles, unless ranges, a histogram or candidates are asked for. Raises EstimateError where the metric, or what is
    asked besides, does not allow it.
    """
    named = arguments.quantiles is not None or arguments.ranges is not None
    if named or arguments.histogram:
        check_gives_ranges(metric)
        for option in ("by", "candidates"):
            if named and getattr(arguments, option) is not None:
                raise EstimateError(f"--{option}: it is for counts of buckets; leave out --quantiles or --ranges")
    elif not gives_ranges(metric) or arguments.candidates is not None or arguments.by is not None:
        return None
    if arguments.histogram:
        return None
    if arguments.ranges is not None:
        pairs = checked_ranges(metric, arguments.ranges)
        return lambda state: ranges(metric, state, pairs)
    chosen = check_probabilities(metric.name, arguments.quantiles or USUAL)
    return lambda state: quantiles(metric, state, chosen)


def _pair(text: str) -> tuple[int, int]:
    low, _, high = text.partition(":")
    try:
        return int(low), int(high)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is no range such as 0:100, which ends before 100") from None
