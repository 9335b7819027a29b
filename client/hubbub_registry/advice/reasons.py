"""Why a mechanism is advised, in a sentence or two."""

from __future__ import annotations

from hubbub_registry.advice.conditions import BOARD_VALUES, Conditions
from hubbub_registry.advice.options import Option
from hubbub_registry.lints.sketch import TYPICAL_S

_BECAUSE = {
    "randomized-response": "the list is short: with {domain} values none is more exact, and none is simpler",
    "hadamard-response": "of {domain} values none is more exact at so small an epsilon, and its client is the simplest",
    "projective-geometry-response": "the error is the least known and does not grow with the list of {domain} values",
    "unary-encoding": "of {domain} values none is more exact with so small a record",
    "subset-selection": "of {domain} values none is more exact, and the record may be that large",
    "local-hashing": "any text can be reported, and a number of a hash is the most exact in a few bytes",
    "hadamard-count-mean-sketch": "any text can be reported, and one bit of a wide row collides seldom",
    "count-mean-sketch": "any text can be reported, and at so many reports a wide row, which collides seldom, pays",
}


OF_NUMBERS = (
    "which to take depends on what is asked: a mean, the share of one bucket, or the share below a bound, which ranges "
    "and quantiles are made of; one-bit-mean and d-bit-flip have permanent noise, for values that stay, and "
    "hierarchical-histogram has new noise in every report, for values that change"
)
OF_PAIRS = (
    "two values are reported together, and the noise of both multiplies in a pair, so each part is best off with the "
    "mechanism that is most exact for its own values, at its own share of epsilon; the errors are those of its values, "
    "summed over the other part's"
)
OF_STRINGS = (
    "it finds values that nobody named, which other mechanisms cannot; the share is what a string as long as the "
    "metric takes needs to be found about every other time"
)


def reason(option: Option, domain: int, conditions: Conditions) -> str:
    """The reason for ``option``; ``domain`` is the length of the metric's list, 0 where any text can be reported."""
    parts = [_BECAUSE[option.mechanism].format(domain=domain)]
    if domain and "hashes" in option.keys:
        whose = f"a board holds some {BOARD_VALUES} values" if conditions.board else "no mechanism over lists takes"
        parts = [f"{whose}, not {domain}: report them as text, and bring the list when decoding"]
    if "hashes" in option.keys:
        parts.append(
            f"collisions that no number of reports removes are {option.floor / option.error**2:.2g} of the variance "
            f"(where all squared frequencies sum to {TYPICAL_S:g})"
        )
    return "; ".join(parts)
