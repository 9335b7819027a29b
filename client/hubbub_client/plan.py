"""The plan: what the registry compiled, as a device reads it. Integers and text only; checked again on the device."""

import json

from hubbub_client.errors import PlanError, RejectedValueError, UnknownMetricError
from hubbub_client.let_go import let_go
from hubbub_client.mechanisms import module_name
from hubbub_client.records import width

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

SCHEMA = 1
# Only the check of a plan needs these (plan_check.py).
_OF_THE_CHECK = ("plan_check", "charges_check", "exponential", "canonical")


def mechanism(name: str) -> "Any":
    """The client's module of mechanism ``name``. Raises PlanError for a name not in the table."""
    return __import__("hubbub_client.mechanisms." + module_name(name), None, None, ["Encoder"])


def definition_fingerprint(namespace: str, entry: "dict[str, Any]") -> bytes:
    """The fingerprint of a plan's entry: of everything in it that decides what is sent, how often and how private."""
    from hubbub_client.plan_check import fingerprint_of  # see let_go

    return fingerprint_of(namespace, entry, SCHEMA)


class Metric:
    """One metric of a plan.

    ``period`` is in seconds, ``expires`` in seconds of Unix time, ``epsilon_nano`` (what a
    report costs, rounded up), ``declared_nano`` (the bound the registry declares for it) and ``lifetime_nano`` in 1e-9
    of epsilon; ``lifetime_nano`` is None where the registry declares the lifetime unbounded, with its justification.
    ``charges`` (see charges.py) is empty where every report costs ``epsilon_nano``. ``dimension`` (see dimension.py) is
    the public one's ``name``, ``values`` and ``other``, or None; ``fields`` are those of the mechanism's own record.
    """

    def __init__(self, namespace: str, entry: "dict[str, Any]") -> None:
        from hubbub_client.plan_check import checked_fingerprint  # see let_go

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
            self.values: list[bytes] = [value.encode() for value in entry.get("values", [])]
            self.declared_nano: int = entry["declared_nano"]
            self.charges: list[int] = entry.get("charges", [])
            self.record_bytes = width(self.fields)
            self.dimension: dict[str, Any] | None = entry.get("dimension")
            if self.dimension is not None:
                from hubbub_client.dimension import taken_off  # only where a plan has one

                self.fields = taken_off(self.dimension, self.fields)
            self.fingerprint = checked_fingerprint(self, namespace, entry, SCHEMA)
        except (LookupError, TypeError, ValueError, AttributeError, ArithmeticError, RuntimeError) as error:
            raise PlanError(
                "plan: a metric is damaged (%s: %s); compile the registry again" % (type(error).__name__, error)
            ) from None
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
        let_go(_OF_THE_CHECK)

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
