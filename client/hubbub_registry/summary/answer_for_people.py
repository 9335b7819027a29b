"""The answer to a question of composition as plain text."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from hubbub_registry.composition.answer import NO_SHUFFLER, Answer, Shuffled, Side
from hubbub_registry.composition.question import Question
from hubbub_registry.summary.figures import columns, decimal_down, decimal_up, duration

_YEAR = 365 * 86400


def answer_as_text(answer: Answer) -> str:
    """A table of local and composed figures, then priors, then what shuffling adds or why it adds nothing."""
    question = answer.question
    lines = [f"{_who(question)} over {_time(question.horizon)}, at delta {float(question.delta):g}, rounded up", ""]
    rows = [["epsilon", "reports", "local", "basic", "advanced", "Renyi", "zCDP", "PLD"]]
    rows += [[name, *_figures(side)] for name, side in answer.metrics.items()]
    rows.append(["all metrics", *_figures(answer.everything)])
    if answer.unchanging is not None:
        same = answer.unchanging
        four = [_up(value) for value in (same.advanced, same.rdp, same.zcdp, same.pld)]
        rows.append(["  while no value changes", "", "", decimal_up(same.basic), *four])
    lines += columns(rows)
    lines += [
        "",
        "local: one report of each metric, no delta. basic: all reports, no delta. The rest hold but for delta;",
        "PLD is the tightest.",
    ]
    if answer.unchanging is not None:
        lines.append(
            "Where noise is permanent, all hold between values that change at the same reports: see memoisation."
        )
    lines += _priors(answer)
    if answer.shuffled is not None:
        lines += ["", *_shuffled(answer.shuffled, question)]
    return "\n".join(lines)


def _figures(side: Side) -> list[str]:
    composed = side.composed
    return [
        str(side.reports),
        *(decimal_up(value) for value in (side.local, composed.basic)),
        *(_up(value) for value in (composed.advanced, composed.rdp, composed.zcdp, composed.pld)),
    ]


def _priors(answer: Answer) -> Iterator[str]:
    prior = answer.question.prior
    if prior is None:
        return
    yield ""
    yield f"a belief about {_who(answer.question)} of {float(prior):g} beforehand becomes, whatever is seen:"
    rows = [["", "after one report", "after all"]]
    for name, side in [*answer.metrics.items(), ("all metrics", answer.everything)]:
        if side.posteriors is not None:
            ranges = [f"{decimal_down(Fraction(low))} to {_up(high)}" for low, high in side.posteriors]
            rows.append([name, *ranges])
    yield from columns(rows)


def _shuffled(shuffled: Shuffled, question: Question) -> Iterator[str]:
    if not shuffled.shuffler or shuffled.horizon is None:
        yield f"amplified by shuffling: not claimed: {NO_SHUFFLER}"
        return
    yield (
        f"amplified by shuffling, on the registry's word that {shuffled.shuffler} shuffles apart from the collector "
        "what is sealed to the analyst, "
        f"where {shuffled.batch}"
    )
    yield f"devices send the same metric into each batch, at delta {float(question.delta):g}:"
    for name, epsilon in shuffled.one_report.items():
        yield f"  {name}: {_up(epsilon)} for one report of {_who(question)}"
    for name, why in shuffled.refused.items():
        yield f"  {name}: nothing, since {why}"
    yield f"  all metrics, all batches: {_up(shuffled.horizon)}"


def _who(question: Question) -> str:
    return "one device" if question.household == 1 else f"a household of {question.household} devices"


def _time(seconds: int) -> str:
    return f"{seconds // _YEAR}y" if seconds % _YEAR == 0 else duration(seconds)


def _up(value: float) -> str:
    return decimal_up(Fraction(value))
