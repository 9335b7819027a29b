"""``hubbub audit``: epsilon from what an encoder does, not from what it says."""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import Progress

from hubbub_registry import Metric, load_registry
from hubbub_simulations.audit.empirical import CONFIDENCE, EmpiricalAudit, audit_empirically
from hubbub_simulations.audit.errors import AuditError
from hubbub_simulations.audit.exact import audit_exactly
from hubbub_simulations.audit.printing import empirical_as_json, exact_as_json, print_empirical, print_exact
from hubbub_simulations.audit.targets import client_target, load_target
from hubbub_simulations.audit.values import spread, values_of
from hubbub_simulations.commands.arguments import positive

SUMMARY = "find epsilon from what the encoder does: exactly, or from many reports of any encoder"
_VALUES = 4


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The command line of ``hubbub audit``."""
    parser.add_argument("registry", metavar="REGISTRY.toml", type=Path)
    parser.add_argument("metric", metavar="METRIC", nargs="?", help="one metric (default: every one)")
    how = parser.add_mutually_exclusive_group()
    how.add_argument("--exact", action="store_true", help="drive the client's encoder with all random inputs (default)")
    how.add_argument(
        "--empirical", type=positive, metavar="N", help="a lower bound of epsilon from N reports of each value"
    )
    parser.add_argument(
        "--target",
        metavar="MODULE:FUNCTION",
        help="with --empirical: a function of a value that returns one report, in place of the client; it is held "
        "against METRIC's declared epsilon, with the module's VALUES if it has any",
    )
    parser.add_argument(
        "--confidence", type=_confidence, default=CONFIDENCE, metavar="C", help="of --empirical (0.999999)"
    )
    parser.add_argument("--json", action="store_true", help="print one JSON document")


def run(arguments: argparse.Namespace) -> int:
    """Prints what was found; 1 where an epsilon is refuted or could not be verified. Raises AuditError."""
    if arguments.target and not (arguments.empirical and arguments.metric):
        raise AuditError("--target needs --empirical N, and a METRIC whose epsilon the target claims")
    registry = load_registry(arguments.registry)
    names = [arguments.metric] if arguments.metric else list(registry.metrics)
    audits = []
    sound = True
    with Progress(console=Console(stderr=True), transient=True) as progress:
        for name in names:
            task = progress.add_task(name, total=1.0)
            told = _told(progress, task)
            metric = registry.metric(name)
            # The noise of a joint metric's parts is independent: each is audited, and their epsilons add up.
            for each in metric.parts or (metric,):
                described, passed = _empirical(arguments, each, told) if arguments.empirical else _exact(each, told)
                audits.append(described)
                sound = sound and passed
            progress.remove_task(task)
    if arguments.json:
        print(json.dumps({"audits": [found() for found, _ in audits], "passed": sound}, indent=2))
    else:
        for _, show in audits:
            show(Console())
    return 0 if sound else 1


Described = tuple[Callable[[], dict[str, Any]], Callable[[Console], None]]


def _exact(metric: Metric, progress: Callable[[float], None]) -> tuple[Described, bool]:
    audit = audit_exactly(metric, progress=progress)
    return (lambda: exact_as_json(audit), lambda console: print_exact(console, audit)), audit.passed


def _empirical(
    arguments: argparse.Namespace, metric: Metric, progress: Callable[[float], None]
) -> tuple[Described, bool]:
    values: list[str] = [value.decode() for value in values_of(metric, _VALUES)]
    claimed, reports, confidence = float(metric.epsilon), arguments.empirical, arguments.confidence
    name = metric.name
    audit: EmpiricalAudit
    if arguments.target:
        name = arguments.target
        target, own = load_target(name)
        values = spread(own, _VALUES) if own else values
        audit = audit_empirically(target, values, claimed, reports, confidence, progress)
    else:
        with client_target(metric) as client:
            audit = audit_empirically(client, values, claimed, reports, confidence, progress)
    return (lambda: empirical_as_json(name, audit), lambda console: print_empirical(console, name, audit)), (
        not audit.refuted
    )


def _told(progress: Progress, task: Any) -> Callable[[float], None]:
    return lambda share: progress.update(task, completed=share)


def _confidence(text: str) -> float:
    try:
        confidence = float(text)
    except ValueError:
        confidence = 0.0
    if not 0 < confidence < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a confidence strictly between 0 and 1")
    return confidence
