"""Whether a plan that came over the network may take the place of the one in force: for less it may ask, not for more.

A plan that ships with the app is the app's word; a remote one is somebody else's. docs/ledger.md gives each rule's
reason.
"""

from hubbub_client.charges import MOST_CHARGES, charged_after
from hubbub_client.errors import PlanChangeError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from hubbub_client.plan import Metric, Plan

REASONS = (
    "namespace", "new-metric", "epsilon", "charges", "lifetime", "reports", "period", "expires", "cohorts", "dimension",
)  # fmt: skip


def check_change(old: "Plan", new: "Plan") -> None:
    """Raises PlanChangeError where ``new`` asks for more than ``old`` in any one place; metrics may be left out."""
    if new.namespace != old.namespace:
        raise PlanChangeError(
            "namespace", "remote plan: it is of namespace %s, and not of %s" % (new.namespace, old.namespace)
        )
    for name in sorted(new.metrics):
        before = old.metrics.get(name)
        if before is None:
            raise PlanChangeError(
                "new-metric",
                "remote plan, metric %s: the plan in force has no such metric; ship it with the app" % name,
            )
        reason = _raised(before, new.metrics[name])
        if reason is not None:
            raise PlanChangeError(
                reason, "remote plan, metric %s: it asks for more %s than the plan in force" % (name, reason)
            )


def _raised(old: "Metric", new: "Metric") -> "str | None":
    """What ``new`` asks more of; None where it does not."""
    if new.epsilon_nano > old.epsilon_nano or new.declared_nano > old.declared_nano:
        return "epsilon"
    if charges_raised(old, new):
        return "charges"
    if old.lifetime_nano is not None and (new.lifetime_nano is None or new.lifetime_nano > old.lifetime_nano):
        return "lifetime"
    if new.reports_per_period > old.reports_per_period:
        return "reports"
    if new.period < old.period:
        return "period"
    if new.expires > old.expires:
        return "expires"
    # A cohort is sent in the clear: more of them tell devices further apart, and no epsilon counts that.
    if _cohorts(new) > _cohorts(old):
        return "cohorts"
    if dimension_raised(old.dimension, new.dimension):
        return "dimension"
    return None


def dimension_raised(old: "dict[str, Any] | None", new: "dict[str, Any] | None") -> bool:
    """Whether anything would be sent in the clear that was not: a dimension, a value of it, or one for all others."""
    if new is None:
        return False
    if old is None or new["name"] != old["name"] or [value for value in new["values"] if value not in old["values"]]:
        return True
    # What a list leaves out is sent under the value for others, where it was not sent at all without one.
    return "other" in new and ("other" not in old or new["values"][new["other"]] != old["values"][old["other"]])


def _cohorts(metric: "Metric") -> int:
    """How many cohorts a metric tells apart: those of a joint metric's two parts together."""
    count = 1
    for name in metric.parameters:
        if name.endswith("cohorts"):
            count *= metric.parameters[name]
    return count


def charges_raised(old: "Metric", new: "Metric") -> bool:
    """Whether some number of reports of one value would cost more than before; past the lists nothing changes."""
    if old.charges and not new.charges:
        return True
    return any(charged_after(new, reports) > charged_after(old, reports) for reports in range(1, MOST_CHARGES + 1))
