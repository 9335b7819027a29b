"""The advice as text and as JSON."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import chain, repeat
from typing import Any

from hubbub_registry.advice.answers import FINDS
from hubbub_registry.advice.choose import Advice
from hubbub_registry.advice.conditions import Conditions
from hubbub_registry.advice.options import Option

# What other questions' errors are of.
_LEGEND = (
    "  (of a mean: in the unit of the values; of a bucket: its share of all reports; below: the share below a bucket)",
    "  (errors of one bucket compare where there are as many buckets)",
)
# What a figure is called where it is no standard error.
_FIGURE = {FINDS: "least_share"}


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
        "answers": {
            each.question: [_option(option, _FIGURE.get(each.question, "standard_error")) for option in each.options]
            for each in advice.answers
        },
    }


def _option(option: Option, figure: str = "standard_error") -> dict[str, Any]:
    return {
        "mechanism": option.mechanism,
        "keys": dict(option.keys),
        "record_bytes": option.record_bytes,
        figure: option.error,
    }


def advice_as_text(advices: Sequence[Advice], conditions: Conditions) -> str:
    """A heading with the conditions, and a paragraph a metric."""
    where = [f"{conditions.reports} reports decoded together", *(["on a board"] if conditions.board else [])]
    if conditions.record_limit is not None:
        where.append(f"records of at most {conditions.record_limit} bytes")
    lines = [
        f"advice for {', '.join(where)}",
        "  (errors are standard errors of a rare value's share of all reports)",
        "  (of mechanisms within 2 % of the least error the one with the smallest record is advised)",
        *(_LEGEND if any(advice.answers for advice in advices) else ()),
    ]
    for advice in advices:
        metric = advice.metric
        now = _line(metric.mechanism, {}, metric.device.record_bytes, advice.now)
        lines += ["", metric.name, f"  now         {now}"]
        if advice.advised is not None:
            best = advice.advised
            lines.append(f"  advised     {_line(best.mechanism, best.keys, best.record_bytes, best.error)}")
        for answer in advice.answers:
            figure = _FIGURE.get(answer.question, "error").replace("_", " ")
            options = [
                _line(each.mechanism, each.keys, each.record_bytes, each.error, figure) for each in answer.options
            ]
            labels = chain([answer.question], repeat(""))
            lines += map("  {:<12}{}".format, labels, options or ["nothing fits"])
        lines.append(f"  because     {advice.because}")
    return "\n".join(lines)


def _line(
    mechanism: str, keys: Mapping[str, int], record_bytes: int, error: float | None, figure: str = "error"
) -> str:
    size = f"{record_bytes} byte{'' if record_bytes == 1 else 's'}"
    settings = "".join(f", {key} {value}" for key, value in keys.items())
    return f"{mechanism}{settings}: {size}, {'no formula' if error is None else f'{figure} {error:.3g}'}"
