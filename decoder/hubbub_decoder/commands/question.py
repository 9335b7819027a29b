"""What ``hubbub decode`` and ``hubbub trend`` are asked for: counts, a mean, pairs, or figures of a number."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from hubbub_decoder.asking import Ask, asked
from hubbub_decoder.commands.shared import integer, read_candidates
from hubbub_decoder.decode import gives_mean
from hubbub_decoder.errors import CandidateError, EstimateError
from hubbub_decoder.numbers.decode import check_gives_ranges, gives_ranges
from hubbub_decoder.numbers.quantiles import USUAL
from hubbub_registry import Metric, load_registry


class _Ranges(argparse.Action):
    """Adds ranges to those named before; none is what argparse makes of one that looks like an option."""

    def __call__(
        self, parser: argparse.ArgumentParser, namespace: argparse.Namespace, values: Any,
        option_string: str | None = None,
    ) -> None:  # fmt: skip
        if not values:
            parser.error(
                f"argument {option_string}: expected a range such as 0:100; one that begins below zero takes an equals "
                f"sign: {option_string}=-50:0"
            )
        setattr(namespace, self.dest, [*(getattr(namespace, self.dest) or ()), *values])


def add_question(parser: argparse.ArgumentParser) -> None:
    """Which figures of a metric that gives several, and the candidates of a joint metric's second side."""
    usual = " ".join(map(str, USUAL))
    which = parser.add_mutually_exclusive_group()
    which.add_argument(
        "--quantiles", metavar="P", type=float, nargs="+", action="extend",
        help=f"of hierarchical-histogram: quantiles at these shares; usual ones: {usual}",
    )  # fmt: skip
    which.add_argument(
        "--ranges", metavar="A:B", type=_pair, nargs="*", action=_Ranges,
        help="of hierarchical-histogram: counts of the integers from A to before B; one that begins below zero with an "
        "equals sign, as in --ranges=-50:0",
    )  # fmt: skip
    which.add_argument("--histogram", action="store_true", help="of hierarchical-histogram: counts of its buckets")
    parser.add_argument(
        "--second-candidates", metavar="FILE", type=Path,
        help="of a joint metric: values to look for on its second side; --candidates are those of its first",
    )  # fmt: skip


def question_of(arguments: argparse.Namespace, *, quantiles: bool = True) -> tuple[Metric, Ask]:
    """The metric, and what is to be asked of its states: checked here, before hours of reading.

    Where nothing is named, a metric that gives them is asked for the usual ``quantiles``, or else for its buckets.
    Raises RegistryError, CandidateError, and EstimateError where the metric does not give what is asked.
    """
    first = _list(arguments.candidates, "--candidates")
    second = _list(arguments.second_candidates, "--second-candidates")
    metric = load_registry(arguments.registry, candidates=first is None).metric(arguments.metric)
    if metric.parts:
        if first is not None:  # the registry was read without its lists, and the other side may need its own
            metric = load_registry(arguments.registry).metric(arguments.metric)
    elif second is not None:
        raise CandidateError(f"--second-candidates: metric {metric.name} reports one value, not two; leave it out")
    elif first is not None and gives_mean(metric):
        raise CandidateError(
            f"--candidates: metric {metric.name} gives a mean, and looks for no values; leave it out"
        )  # fmt: skip
    if arguments.histogram:
        check_gives_ranges(metric)
    named = arguments.quantiles or arguments.ranges
    if named and gives_ranges(metric) and first is not None:
        raise EstimateError("--candidates: it is for counts of buckets; leave out --quantiles or --ranges")
    usual = quantiles and gives_ranges(metric) and not (named or arguments.histogram or first)
    return metric, asked(
        metric, first, second=second, quantiles=USUAL if usual else arguments.quantiles, ranges=arguments.ranges
    )


def _list(file: Path | None, option: str) -> tuple[str, ...] | None:
    return None if file is None else read_candidates(file, option)


def _pair(text: str) -> tuple[int, int]:
    low, _, high = text.partition(":")
    try:
        return integer(low), integer(high)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is no range such as 0:100, which ends before 100") from None
