"""The plan: what the registry compiled, as a device reads it. Integers and text only; checked again on the device."""

import json

from hubbub_client.canonical import fingerprint
from hubbub_client.charges import check_shape, understated
from hubbub_client.errors import PlanError, RejectedValueError, UnknownMetricError
from hubbub_client.exponential import FRACTION_BITS, exp_lower
from hubbub_client.mechanisms import module_name
from hubbub_client.records import width

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

SCHEMA = 1
# What a plan says of a metric besides its definition; not part of the fingerprint.
_NOT_DEFINITION = ("fingerprint", "expires")
# No compiled plan comes near these; a hostile one must not make a device count to them.
_BEYOND_64_BITS = 1 << 64
_MOST_BITS = 128
_MOST_FIELD_BITS = 1 << 16


def mechanism(name: str) -> "Any":
    """The client's module of mechanism ``name``. Raises PlanError for a name not in the table."""
    module = __import__("hubbub_client.mechanisms." + module_name(name))
    return getattr(module.mechanisms, module_name(name))


def definition_fingerprint(namespace: str, entry: "dict[str, Any]") -> bytes:
    """The fingerprint of a plan's entry: of everything in it that decides what is sent, how often and how private."""
    definition = {key: entry[key] for key in entry if key not in _NOT_DEFINITION}
    definition["schema"] = SCHEMA
    definition["namespace"] = namespace
    return fingerprint(definition)


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


class Metric:
    """One metric of a plan.

    ``period`` is in seconds, ``expires`` in seconds of Unix time, ``epsilon_nano`` (what a
    report costs, rounded up), ``declared_nano`` (the bound the registry declares for it) and ``lifetime_nano`` in 1e-9
    of epsilon; ``lifetime_nano`` is None where the registry declares the lifetime unbounded, with its justification.
    ``charges`` (see charges.py) is empty where every report costs ``epsilon_nano``.
    """

    def __init__(self, namespace: str, entry: "dict[str, Any]") -> None:
        try:
            self.name: str = entry["name"]
            self.mechanism: str = entry["mechanism"]
            self.parameters: dict[str, int] = entry["parameters"]
            self.fields: list[tuple[str, int, int]] = [(f[0], f[1], f[2]) for f in entry["fields"]]
            self.period: int = entry["period"]
            self.reports_per_period: int = entry["reports_per_period"]
            self.epsilon_nano: int = entry["epsilon_nano"]
            self.lifetime_nano: int | None = entry.get("lifetime_nano")
            self.expires: int = entry["expires"]
            self.fingerprint = definition_fingerprint(namespace, entry)
            self.values: list[bytes] = [value.encode() for value in entry.get("values", [])]
            self.declared_nano: int = entry["declared_nano"]
            self.charges: list[int] = entry.get("charges", [])
            declared = entry["fingerprint"]
            _check_types(self)
            module = mechanism(self.mechanism)
            if module.domain_of(self.parameters) != len(self.values):
                raise ValueError("its list of values has another length")
            numerator, denominator = module.worst_ratio(self.parameters)
            too_high = self.epsilon_nano > self.declared_nano or (
                numerator << FRACTION_BITS > exp_lower(self.epsilon_nano) * denominator
            )
            if "charges" in entry and not too_high:
                check_shape(self.charges, self.epsilon_nano)
                too_high = understated(module, self.parameters, self.charges)
        except (LookupError, TypeError, ValueError, AttributeError, ArithmeticError, RuntimeError) as error:
            raise PlanError(
                "plan: a metric is damaged (%s: %s); compile the registry again" % (type(error).__name__, error)
            ) from None
        if "".join(["%02x" % byte for byte in self.fingerprint]) != declared:
            raise PlanError(
                "plan, metric %s: it was changed after it was compiled (its fingerprint is not its own)" % self.name
            )
        if too_high:
            raise PlanError("plan, metric %s: its integers give less privacy than the epsilon it states" % self.name)
        self.record_bytes = width(self.fields)
        self._indices = {}
        for i in range(len(self.values)):
            self._indices[self.values[i]] = i

    def index_of(self, data: bytes) -> int:
        """The index of a value of a closed domain. Raises RejectedValueError where it is not one of the values."""
        index = self._indices.get(data)
        if index is None:
            raise RejectedValueError(
                "not-in-values", "metric %s: a value is not one of its %d" % (self.name, len(self.values))
            )
        return index


class Plan:
    """The metrics of one namespace. ``Plan.load(path)`` reads a file; ``Plan(document)`` takes it decoded."""

    def __init__(self, document: "dict[str, Any]") -> None:
        if "schema" not in document:
            raise PlanError("plan: this is not a compiled plan; make one with: hubbub compile REGISTRY.toml -o PLAN")
        if type(document["schema"]) is not int or document["schema"] != SCHEMA:
            raise PlanError(
                "plan: schema %r, this client reads schema %d; update the one that is older"
                % (document["schema"], SCHEMA)
            )
        entries = document.get("metrics")
        namespace = document.get("namespace")
        if not isinstance(namespace, str) or not isinstance(entries, list):
            raise PlanError("plan: its namespace or its metrics are missing; compile the registry again")
        self.namespace = namespace
        self.metrics: dict[str, Metric] = {}
        for entry in entries:
            metric = Metric(namespace, entry)
            self.metrics[metric.name] = metric

    @staticmethod
    def from_bytes(data: bytes) -> "Plan":
        """A plan from the bytes of a JSON or msgpack document. Raises PlanError."""
        document: object
        try:
            if data[:1] == b"{":
                document = json.loads(data)
            else:
                import msgpack  # only where the package is: boards read JSON

                document = msgpack.unpackb(data)
        except Exception:  # noqa: BLE001 - msgpack raises many kinds, and boards know none of them
            document = None
        if not isinstance(document, dict):
            raise PlanError("plan: neither JSON nor msgpack; make one with: hubbub compile REGISTRY.toml -o PLAN")
        return Plan(document)

    @staticmethod
    def load(path: str) -> "Plan":
        """The plan in the file ``path``. Raises PlanError, or OSError where the file cannot be read."""
        with open(path, "rb") as file:
            return Plan.from_bytes(file.read())

    def replaced_by(self, document: "bytes | dict[str, Any] | Plan") -> "Plan":
        """The plan of a ``document`` that came from somewhere else, if it asks for nothing more than this one.

        Raises PlanError where it is no plan, and PlanChangeError where it would raise or remove a bound.
        """
        from hubbub_client.plan_change import check_change  # only where plans come from somewhere else

        if isinstance(document, Plan):
            new = document
        elif isinstance(document, dict):
            new = Plan(document)
        else:
            new = Plan.from_bytes(document)
        check_change(self, new)
        return new

    def metric(self, name: str) -> Metric:
        """The metric ``name``. Raises UnknownMetricError."""
        found = self.metrics.get(name)
        if found is None:
            raise UnknownMetricError(
                "metric %r is not in the plan of %s; it has: %s"
                % (name, self.namespace, ", ".join(sorted(self.metrics)))
            )
        return found
