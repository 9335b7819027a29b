"""The choice: the least error that fits; and of what comes within 2 % of that, the smallest record."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from hubbub_registry.advice.answers import FIRST, SECOND, Answer
from hubbub_registry.advice.conditions import BOARD_VALUES, Conditions
from hubbub_registry.advice.error import rare_value_error
from hubbub_registry.advice.numbers import number_answers, own_error
from hubbub_registry.advice.options import Option, options
from hubbub_registry.advice.reasons import OF_NUMBERS, OF_PAIRS, OF_STRINGS, reason
from hubbub_registry.advice.strings import strings_answer
from hubbub_registry.mechanisms import SPELLING
from hubbub_registry.metric import Metric

# So little more error is not worth a larger record, or a client that is harder to read.
AS_EXACT = 1.02


@dataclass(frozen=True)
class Advice:
    """For one metric: what is advised (None where nothing is), why, and all that it was chosen from.

    ``now`` is the standard error of the metric as it is; None where there is no formula for it. Where it depends on the
    question which mechanism fits, ``answers`` holds what there is for each.
    """

    metric: Metric
    advised: Option | None
    because: str
    fitting: tuple[Option, ...] = ()
    too_large: tuple[Option, ...] = ()
    now: float | None = None
    answers: tuple[Answer, ...] = ()


def advise(metric: Metric, conditions: Conditions) -> Advice:
    """The mechanism to use for ``metric`` under ``conditions``, with the same declared epsilon."""
    if metric.numeric:
        answers = number_answers(metric, conditions)
        return Advice(metric, None, OF_NUMBERS, now=own_error(metric, conditions.reports), answers=answers)
    if metric.parts:
        return Advice(metric, None, OF_PAIRS, answers=_of_parts(metric, conditions))
    now = rare_value_error(metric.mechanism, metric.device.parameters, conditions.reports)
    if metric.mechanism in SPELLING:
        return Advice(metric, None, OF_STRINGS, now=now, answers=(strings_answer(metric, conditions),))
    if metric.permanent_ratio is not None:
        return Advice(metric, None, "its noise is permanent, for values that stay; nothing else here offers that")
    domain = len(metric.values)
    hashed = domain == 0 or (conditions.board and domain > BOARD_VALUES)
    found = () if hashed else tuple(options(metric.epsilon, domain, conditions.reports))
    found = found or tuple(options(metric.epsilon, 0, conditions.reports))
    if metric.dimension is not None:  # one byte more, whatever the mechanism
        found = tuple(replace(option, record_bytes=option.record_bytes + 1) for option in found)
    limit = conditions.record_limit
    fitting = tuple(option for option in found if limit is None or option.record_bytes <= limit)
    too_large = tuple(option for option in found if option not in fitting)
    best = choose(fitting)
    if best is None:
        why = f"no mechanism fits: the smallest record takes {min(option.record_bytes for option in found)} bytes"
        return Advice(metric, None, why, (), too_large, now)
    why = reason(best, domain, conditions)
    finds: tuple[Answer, ...] = ()
    if not metric.closed and not metric.candidates:
        why += f"; no list is named: where nobody can write one, {' or '.join(sorted(SPELLING))} finds frequent values"
        finds = (strings_answer(metric, conditions),)
    return Advice(metric, best, why, fitting, too_large, now, finds)


def _of_parts(metric: Metric, conditions: Conditions) -> tuple[Answer, ...]:
    """What is advised for either part of a joint metric, at its own epsilon and in half of the record."""
    limit = conditions.record_limit
    own = conditions if limit is None else replace(conditions, most_bytes=limit // 2)
    advised = (advise(part, own).advised for part in metric.parts)
    sides = zip((FIRST, SECOND), advised, strict=True)
    return tuple(Answer(side, () if best is None else (best,)) for side, best in sides)


def choose(fitting: Sequence[Option]) -> Option | None:
    """The smallest of those that are as exact as the most exact one, the first of these; None of none."""
    if not fitting:
        return None
    least = min(option.error for option in fitting)
    return min((each for each in fitting if each.error <= AS_EXACT * least), key=lambda option: option.record_bytes)
