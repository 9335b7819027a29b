"""How likely a reported bit is 1, from a plan's integers."""

from __future__ import annotations

from fractions import Fraction

from hubbub_registry import Metric


def bit_rates(metric: Metric) -> tuple[Fraction, Fraction]:
    """(q*, p*): the chance that a report shows 1 where the filter holds 1, and where it holds 0; exact.

    The paper's section 3, with its f/2 the permanent response's flip probability.
    """
    parameters = metric.device.parameters
    flip = Fraction(parameters["prr_threshold"], 1 << parameters["prr_precision"])
    if not parameters["irr_precision"]:
        return 1 - flip, flip
    whole = 1 << parameters["irr_precision"]
    q, p = Fraction(parameters["irr_q"], whole), Fraction(parameters["irr_p"], whole)
    return (1 - flip) * q + flip * p, flip * q + (1 - flip) * p
