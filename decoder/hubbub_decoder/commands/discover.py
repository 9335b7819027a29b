"""``hubbub discover``: strings that nobody named, with counts and error bars."""

from __future__ import annotations

import argparse
import re
from typing import Any

from rich.console import Console
from rich.progress import Progress

from hubbub_decoder.commands.figures import add_figures, show_figures, show_split
from hubbub_decoder.commands.shared import add_data, cache_of, check_open_unit, positive, watched
from hubbub_decoder.counting.state import State
from hubbub_decoder.discovery import Discovered, Options, check_discovers, discover
from hubbub_decoder.sealed.dataset import Dataset
from hubbub_decoder.split.cell import dimension_of
from hubbub_decoder.split.discover_by import discover_by
from hubbub_registry import load_registry

SUMMARY = "find values that nobody named, with counts and errors, in a sealed data set"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments of ``hubbub discover``."""
    add_data(parser)
    add_figures(parser)
    parser.add_argument("--all", action="store_true", help="list what was found and is not significant, too")
    parser.add_argument(
        "--keep", metavar="N", type=positive, default=Options.kept,
        help="follow so many beginnings at a time, at most; more finds more, and takes longer; default: %(default)s",
    )  # fmt: skip
    parser.add_argument(
        "--alphabet", metavar="CHARACTERS", type=_alphabet,
        help="what values are made of, each character by itself (abc, and not a-c); fewer find more; default: any, and "
        "for sequence-fragment-puzzle a to z, 0 to 9, \" '-._\"",
    )  # fmt: skip


def run(arguments: argparse.Namespace) -> int:
    """Prints the list on stdout. Raises HubbubError for whatever keeps it from doing so."""
    check_open_unit(arguments, "level", "alpha")
    metric = load_registry(arguments.registry, candidates=False).metric(arguments.metric)
    check_discovers(metric)
    Options(arguments.keep, alphabet=arguments.alphabet)  # before hours of reading
    console = Console(stderr=True)
    # It starts with the search, after what shows how far reading is: where someone is there to see it.
    bar = Progress(console=console, transient=True, disable=not console.is_terminal)
    task = bar.add_task("looking for values", total=1.0)

    def tell(share: float) -> None:
        bar.start()
        bar.update(task, completed=share)

    options: Any = {
        "alpha": arguments.alpha, "correction": arguments.correction, "insignificant": arguments.all,
        "options": Options(arguments.keep, tell, arguments.alphabet),
    }  # fmt: skip

    def ask(state: State) -> Discovered:
        try:
            return discover(metric, state, **options)
        finally:
            bar.stop()

    if arguments.by is None:
        show_figures(arguments, metric, ask, console)
        return 0
    dimension_of(metric, arguments.by)
    data = Dataset(arguments.data, metric, arguments.period)
    parts = watched(data.parts, "reading sealed parts", console)
    try:
        split = discover_by(metric, data, **options, cache=cache_of(arguments), parts=parts)
    finally:
        bar.stop()
    show_split(split, arguments, data, console)
    return 0


def _alphabet(text: str) -> str:
    """The characters themselves. A range is refused: ``a-z`` would be three of them."""
    found = re.search("[a-z]-[a-z]|[A-Z]-[A-Z]|[0-9]-[0-9]", text)
    if found:
        raise argparse.ArgumentTypeError(
            f"{found[0]} is three characters, and no range; write all that are meant (abcdefgh), with a hyphen at the "
            "end where it is one of them"
        )
    return text
