"""What many reports of ONE unchanging value cost together, where noise is permanent: the client's exact ratios.

The permanent noise is drawn once and shared by every report of the value, so the reports are not independent and
composition (t reports cost t times one) only bounds their cost. The exact figure rises from eps_1 up to a limit.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

from hubbub_registry.exact import ln_upper
from hubbub_registry.mechanisms import client_module
from hubbub_registry.metric import Metric

# Past this many reports the exact integers get long (t * precision bits), and the limit, which bounds them, is close.
MOST_EXACT_REPORTS = 1024


def one_value_ratio(mechanism: str, parameters: Mapping[str, int], reports: int) -> Fraction:
    """e^epsilon of ``reports`` reports of one value, exactly: ``ratio_after`` of the client's mechanism.

    Raises ValueError for a mechanism, or parameters, with no permanent noise.
    """
    module = client_module(mechanism)
    pair = module.ratio_after(parameters, reports) if hasattr(module, "ratio_after") else None
    if pair is None:
        raise ValueError(f"{mechanism} with these parameters has no permanent noise")
    return Fraction(*pair)


def one_value_epsilon(metric: Metric, reports: int) -> Fraction:
    """An upper bound of epsilon for ``reports`` reports of one value of ``metric``.

    ln of ``one_value_ratio``, rounded up, to ``MOST_EXACT_REPORTS``; past that the limit, which no number of reports
    exceeds. Raises ValueError for a metric with no permanent noise.
    """
    if metric.permanent_ratio is None:
        raise ValueError(f"metric {metric.name} has no permanent noise")
    if reports > MOST_EXACT_REPORTS:
        return ln_upper(metric.permanent_ratio)
    return ln_upper(one_value_ratio(metric.mechanism, metric.device.parameters, reports))
