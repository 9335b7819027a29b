"""Whether a metric of a plan is what the registry compiled, and as private as it says. Checked again on the device."""

from hubbub_client.canonical import fingerprint
from hubbub_client.errors import PlanError
from hubbub_client.exponential import FRACTION_BITS, exp_lower
from hubbub_client.plan import mechanism

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from hubbub_client.plan import Metric

# What a plan says of a metric besides its definition; not part of the fingerprint.
_NOT_DEFINITION = ("fingerprint", "expires")
# No compiled plan comes near these; a hostile one must not make a device count to them.
_BEYOND_64_BITS = 1 << 64
_MOST_BITS = 128
_MOST_FIELD_BITS = 1 << 16


def fingerprint_of(namespace: str, entry: "dict[str, Any]", schema: int) -> bytes:
    """The fingerprint of a plan's entry: of everything in it that decides what is sent, how often and how private."""
    definition = {key: entry[key] for key in entry if key not in _NOT_DEFINITION}
    definition["schema"] = schema
    definition["namespace"] = namespace
    return fingerprint(definition)


def checked_fingerprint(metric: "Metric", namespace: str, entry: "dict[str, Any]", schema: int) -> bytes:
    """The fingerprint of a metric that was read from ``entry``, once everything in it is found to be in order.

    Raises PlanError where it was changed, or gives less privacy than it states; and LookupError, TypeError, ValueError
    and the like where it is damaged.
    """
    found = fingerprint_of(namespace, entry, schema)
    declared = entry["fingerprint"]
    _check_types(metric)
    module = mechanism(metric.mechanism)
    if module.domain_of(metric.parameters) != len(metric.values):
        raise ValueError("its list of values has another length")
    numerator, denominator = module.worst_ratio(metric.parameters)
    too_high = metric.epsilon_nano > metric.declared_nano or (
        numerator << FRACTION_BITS > exp_lower(metric.epsilon_nano) * denominator
    )
    if "charges" in entry and not too_high:
        from hubbub_client.charges_check import check_shape, understated

        check_shape(metric.charges, metric.epsilon_nano)
        too_high = understated(module, metric.parameters, metric.charges)
    if "".join(["%02x" % byte for byte in found]) != declared:
        raise PlanError(
            "plan, metric %s: it was changed after it was compiled (its fingerprint is not its own)" % metric.name
        )
    if too_high:
        raise PlanError("plan, metric %s: its integers give less privacy than the epsilon it states" % metric.name)
    return found


def _check_types(metric: "Metric") -> None:
    """Raises TypeError or ValueError where a plan's integers are none, or are below what they can be."""
    for integer in (
        metric.period,
        metric.reports_per_period,
        metric.epsilon_nano,
        metric.declared_nano,
        1 if metric.lifetime_nano is None else metric.lifetime_nano,
    ):
        if type(integer) is not int or integer < 1:
            raise ValueError("an integer above 0 is missing")
    for integer in [metric.expires] + list(metric.parameters.values()):
        if type(integer) is not int or not 0 <= integer < _BEYOND_64_BITS:
            raise ValueError("an integer is missing")
    for name in metric.parameters:
        if name.endswith(("precision", "_bits")) and metric.parameters[name] > _MOST_BITS:
            raise ValueError("%s of %d" % (name, metric.parameters[name]))
    for name, bits, domain in metric.fields:
        if type(name) is not str or type(bits) is not int or type(domain) is not int:
            raise ValueError("a field is damaged")
        if not 0 <= bits <= _MOST_FIELD_BITS or not 0 <= domain <= 1 << bits:
            raise ValueError("a field is damaged")
    if type(metric.name) is not str or type(metric.mechanism) is not str:
        raise TypeError("a name is missing")
