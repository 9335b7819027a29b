"""The answer to a question of composition as JSON."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from hubbub_registry.composition.answer import NO_SHUFFLER, Answer, Composed, Shuffled, Side
from hubbub_registry.exact import float_up


def answer_as_json(answer: Answer) -> dict[str, Any]:
    """What stands under ``composed``; docs/accounting.md describes every key."""
    question = answer.question
    document: dict[str, Any] = {
        "horizon_seconds": question.horizon,
        "delta": float(question.delta),
        "household": question.household,
        "metrics": {name: _side(side) for name, side in answer.metrics.items()},
        "namespace": _side(answer.everything),
    }
    if question.prior is not None:
        document["prior"] = float(question.prior)
    if answer.unchanging is not None:
        document["unchanging"] = _composed(answer.unchanging)
    if answer.shuffled is not None:
        document["amplified"] = _shuffled(answer.shuffled)
    return document


def _side(side: Side) -> dict[str, Any]:
    figures: dict[str, Any] = {"reports": side.reports, "local": float_up(side.local), **_composed(side.composed)}
    if side.posteriors is not None:
        figures["posterior"] = {"report": list(side.posteriors[0]), "horizon": list(side.posteriors[1])}
    return figures


def _composed(composed: Composed) -> dict[str, float]:
    return {**asdict(composed), "basic": float_up(composed.basic)}


def _shuffled(shuffled: Shuffled) -> dict[str, Any]:
    if not shuffled.shuffler:
        return {"claimed": False, "why": NO_SHUFFLER, "batch": shuffled.batch}
    metrics: dict[str, Any] = {name: {"why": why} for name, why in shuffled.refused.items()}
    for name, epsilon in shuffled.one_report.items():
        metrics[name] = {"report": epsilon, "one_device": asdict(shuffled.one_device[name])}
    return {
        "claimed": True,
        "shuffler": shuffled.shuffler,
        "batch": shuffled.batch,
        "metrics": metrics,
        "horizon": shuffled.horizon,
    }
