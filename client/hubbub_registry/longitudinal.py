"""What many RAPPOR reports of ONE unchanging value cost together, exactly.

The permanent response is drawn once and shared by every report of the value, so the reports are not independent and
composition (t reports cost t times one) only bounds their cost. The exact figure rises from eps_1 to eps_inf.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

from hubbub_registry.exact import ln_upper
from hubbub_registry.metric import Metric

# Past this many reports the exact integers get long (t * precision bits), and eps_inf, which bounds them all, is close.
MOST_EXACT_REPORTS = 1024


def one_value_ratio(parameters: Mapping[str, int], reports: int) -> Fraction:
    """e^epsilon of ``reports`` longitudinal reports of one value, exactly.

    ``parameters`` are the plan's (``prr_threshold`` .. ``irr_precision``, ``hashes``). With a = 1 - f/2, t reports of
    a filter bit that is 1 show s ones, in one given order, with probability a q^s (1-q)^(t-s) + (1-a) p^s (1-p)^(t-s);
    for a bit that is 0, a and 1 - a change places. Their quotient is monotone in the likelihood ratio
    (q/p)^s ((1-q)/(1-p))^(t-s), which rises with s: the worst output of a bit that falls is all ones, and of a bit
    that rises all zeros. Two values differ in at most h bits of each kind.
    Source: Erlingsson, Pihur, Korolova 2014, section 3, gives t = 1 (theorem 2) and the limit (theorem 1).
    """
    flip = Fraction(parameters["prr_threshold"], 1 << parameters["prr_precision"])
    total = 1 << parameters["irr_precision"]
    q, p = parameters["irr_q"], parameters["irr_p"]
    ones = _quotient(flip, q**reports, p**reports)
    zeros = _quotient(flip, (total - p) ** reports, (total - q) ** reports)
    return (ones * zeros) ** (parameters["hashes"] or 1)


def one_value_epsilon(metric: Metric, reports: int) -> Fraction:
    """An upper bound of epsilon for ``reports`` longitudinal reports of one value of ``metric``.

    ln of ``one_value_ratio``, rounded up, to ``MOST_EXACT_REPORTS``; past that eps_inf, which no number of reports
    exceeds. Raises ValueError for a metric with no permanent noise.
    """
    if metric.permanent_ratio is None:
        raise ValueError(f"metric {metric.name} has no permanent noise")
    if reports > MOST_EXACT_REPORTS:
        return ln_upper(metric.permanent_ratio)
    return ln_upper(one_value_ratio(metric.device.parameters, reports))


def _quotient(flip: Fraction, likely: int, unlikely: int) -> Fraction:
    """The largest ratio of an output that is ``likely`` under a permanent 1 (say), between the two filter bits."""
    return ((1 - flip) * likely + flip * unlikely) / (flip * likely + (1 - flip) * unlikely)
