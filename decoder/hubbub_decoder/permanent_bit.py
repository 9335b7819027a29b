"""How often a report shows a bit that was flipped for good and perturbed again."""

from __future__ import annotations

from fractions import Fraction

from hubbub_registry import Metric


def shown_rates(metric: Metric) -> tuple[Fraction, Fraction]:
    """P(a report shows 1) for a bit that is 1 and for one that is 0: with r the permanent flip and g the perturbation,
    (1-r)(1-g) + r g, and 1 less that. For devices that each report once."""
    p = metric.device.parameters
    flip = Fraction(p["threshold"], 1 << p["precision"])
    change = Fraction(p["perturbation"], 1 << p["perturbation_bits"])
    one = (1 - flip) * (1 - change) + flip * change
    return one, 1 - one
