"""``hubbub decode``: what the population looks like, with error bars."""

from __future__ import annotations

import argparse

from rich.console import Console

from hubbub_decoder.commands.figures import add_figures, show_figures
from hubbub_decoder.commands.question import add_question, question_of
from hubbub_decoder.commands.shared import add_candidates, add_data, check_open_unit
from hubbub_decoder.errors import EstimateError

SUMMARY = "estimate counts, a mean, quantiles, or pairs, with errors, from a sealed data set"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments of ``hubbub decode``."""
    add_data(parser)
    add_candidates(parser)
    add_figures(parser)
    add_question(parser)


def run(arguments: argparse.Namespace) -> int:
    """Prints the estimates on stdout. Raises HubbubError for whatever keeps it from doing so."""
    check_open_unit(arguments, "level", "alpha")
    metric, ask = question_of(arguments)
    if metric.parts and arguments.consistent:
        raise EstimateError(
            "--consistent: a joint table has its most likely counts in the column likeliest; leave it out"
        )
    show_figures(arguments, metric, ask, Console(stderr=True))
    return 0
