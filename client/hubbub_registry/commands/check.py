"""``hubbub check``: what a registry promises, exactly, and what a reviewer would stop at."""

from __future__ import annotations

import argparse
import json
from datetime import UTC, datetime
from pathlib import Path

from hubbub_registry.advice import (
    DEFAULT_REPORTS,
    AdviceError,
    Conditions,
    advice_as_json,
    advice_as_text,
    advise,
    read_bytes,
    read_reports,
)
from hubbub_registry.composition.answer import answer
from hubbub_registry.composition.question import (
    DEFAULT_DELTA,
    DEFAULT_HORIZON,
    Question,
    read_batch,
    read_delta,
    read_horizon,
    read_household,
    read_prior,
)
from hubbub_registry.curator.lints import lint_curated
from hubbub_registry.errors import RegistryError
from hubbub_registry.lints import lint
from hubbub_registry.registry import load_registry
from hubbub_registry.summary import as_json, as_text

SUMMARY = "check a registry: exact epsilon per report, period, year and lifetime, and lints"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The registry, whether to print JSON, and what to compose."""
    parser.add_argument("registry", metavar="REGISTRY.toml", type=Path)
    parser.add_argument("--json", action="store_true", help="print one JSON document, of errors too")
    composed = parser.add_argument_group(
        "composition", "any of these adds what many reports cost together (extra: hubbub[accounting])"
    )
    composed.add_argument("--horizon", metavar="TIME", help=f"such as 5y, 52w, 90d; default {DEFAULT_HORIZON}")
    composed.add_argument("--delta", help=f"from 1e-12 to 0.1; default {DEFAULT_DELTA}")
    composed.add_argument("--shuffled-batch", metavar="N", help="reports of different devices shuffled together")
    composed.add_argument("--household", metavar="K", help="devices that change together; default 1")
    composed.add_argument("--prior", metavar="P", help="what somebody believes beforehand, such as 0.1")
    advised = parser.add_argument_group("advice", "which mechanism fits each metric best, with its expected error")
    advised.add_argument("--advise", action="store_true", help="name it, at the metric's own epsilon, and say why")
    advised.add_argument("--reports", metavar="N", help="reports that are decoded together; default 100000")
    advised.add_argument("--board", action="store_true", help="it runs on a microcontroller")
    advised.add_argument("--bytes", metavar="B", help="the largest record; default for a board 31, else any")


def run(arguments: argparse.Namespace) -> int:
    """Prints the figures and the findings; 1 where one of them is an error that no written reason silences."""
    question = _question(arguments)
    conditions = _conditions(arguments)
    try:
        registry = load_registry(arguments.registry)
    except RegistryError as error:
        if not arguments.json:
            raise
        problems = [{"where": each.where, "what": each.what, "remedy": each.remedy} for each in error.problems]
        print(json.dumps({"errors": problems}, indent=2))
        return 1
    today = datetime.now(UTC).date()
    findings = lint(registry.metrics.values(), today) + lint_curated(registry.curated.values(), today)
    answered = None if question is None else answer(registry, question)
    advices = [] if conditions is None else [advise(metric, conditions) for metric in registry.metrics.values()]
    if arguments.json:
        document = as_json(registry, findings, answered)
        if conditions is not None:
            document["advice"] = advice_as_json(advices, conditions)
        print(json.dumps(document, indent=2))
    else:
        print(as_text(registry, findings, answered))
        if conditions is not None:
            print(f"\n{advice_as_text(advices, conditions)}")
    return 1 if any(finding.fails for finding in findings) else 0


def _conditions(arguments: argparse.Namespace) -> Conditions | None:
    """What advice is asked for; None without ``--advise``. Raises AdviceError."""
    reports, largest, board = arguments.reports, arguments.bytes, arguments.board
    if not arguments.advise:
        if reports is not None or largest is not None or board:
            raise AdviceError("--reports, --board and --bytes are for --advise; add it, or leave them out")
        return None
    return Conditions(
        DEFAULT_REPORTS if reports is None else read_reports(reports),
        board,
        None if largest is None else read_bytes(largest),
    )


def _question(arguments: argparse.Namespace) -> Question | None:
    """What is asked of composition; None where none of its options is given. Raises AccountingError."""
    horizon, delta, batch = arguments.horizon, arguments.delta, arguments.shuffled_batch
    household, prior = arguments.household, arguments.prior
    if all(option is None for option in (horizon, delta, batch, household, prior)):
        return None
    return Question(
        read_horizon(DEFAULT_HORIZON if horizon is None else horizon),
        read_delta(DEFAULT_DELTA if delta is None else delta),
        None if batch is None else read_batch(batch),
        1 if household is None else read_household(household),
        None if prior is None else read_prior(prior),
    )
