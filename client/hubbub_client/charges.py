"""What reports of ONE value cost a metric with permanent noise: the plan's ``charges``, applied.

``charges`` lists the cumulative epsilon, in 1e-9 and rounded up, after 1, 2, 3, ... reports of one value. Its last
entry bounds any number of reports, so once it is charged the value costs nothing more.
"""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hubbub_client.plan import Metric

# A list longer than this would cost a board more memory than the precision is worth.
MOST_CHARGES = 64


def charged_after(metric: "Metric", reports: int) -> int:
    """What ``reports`` reports of one value have cost in all, in 1e-9. Without permanent noise each costs the same."""
    if not metric.charges:
        return reports * metric.epsilon_nano
    if reports < 1:
        return 0
    return metric.charges[min(reports, len(metric.charges)) - 1]
