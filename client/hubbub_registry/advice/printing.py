"""The advice as text and as JSON."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from hubbub_registry.advice.choose import Advice
from hubbub_registry.advice.conditions import Conditions
from hubbub_registry.advice.options import Option


def advice_as_json(advices: Sequence[Advice], conditions: Conditions) -> dict[str, Any]:
    """The conditions, and for each metric by name what is advised (null where nothing is) and what else there is."""
    return {
        "reports": conditions.reports,
        "board": conditions.board,
        "most_bytes": conditions.record_limit,
        "metrics": {advice.metric.name: _metric(advice) for advice in advices},
    }


def _metric(advice: Advice) -> dict[str, Any]:
    return {
        "now": {
            "mechanism": advice.metric.mechanism,
            "record_bytes": advice.metric.device.record_bytes,
            "standard_error": advice.now,
        },
        "advised": None if advice.advised is None else _option(advice.advised),
        "because": advice.because,
        "fitting": [_option(option) for option in advice.fitting],
        "too_large": [_option(option) for option in advice.too_large],
    }


def _option(option: Option) -> dict[str, Any]:
    return {
        "mechanism": option.mechanism,
        "keys": dict(option.keys),
        "record_bytes": option.record_bytes,
        "standard_error": option.error,
    }


def advice_as_text(advices: Sequence[Advice], conditions: Conditions) -> str:
    """A heading with the conditions, and a paragraph a metric."""
    where = [f"{conditions.reports} reports decoded together", *(["on a board"] if conditions.board else [])]
    if conditions.record_limit is not None:
        where.append(f"records of at most {conditions.record_limit} bytes")
    lines = [
        f"advice for {', '.join(where)}",
        "  (errors are standard errors of a rare value's share of all reports; for a smaller record 2 % of one is "
        "passed over)",
    ]
    for advice in advices:
        metric = advice.metric
        now = _line(metric.mechanism, {}, metric.device.record_bytes, advice.now)
        lines += ["", metric.name, f"  now         {now}"]
        if advice.advised is not None:
            best = advice.advised
            lines.append(f"  advised     {_line(best.mechanism, best.keys, best.record_bytes, best.error)}")
        lines.append(f"  because     {advice.because}")
    return "\n".join(lines)


def _line(mechanism: str, keys: Mapping[str, int], record_bytes: int, error: float | None) -> str:
    size = f"{record_bytes} byte{'' if record_bytes == 1 else 's'}"
    settings = "".join(f", {key} {value}" for key, value in keys.items())
    return f"{mechanism}{settings}: {size}, {'no formula' if error is None else f'error {error:.3g}'}"
