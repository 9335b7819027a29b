"""A public dimension: a value in front of a metric's record that is sent in the clear, such as the app's version.

It is the lowest byte of a record: the place of the value in the plan's closed list. Nothing of it is randomised, so it
must be what the app knows of itself, and never follow from what is reported. No noise depends on it. A board loads
this where a plan has a dimension, and not otherwise. docs/dimensions.md says what it costs.
"""

from hubbub_client.errors import RejectedValueError
from hubbub_client.values import to_bytes

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from hubbub_client.plan import Metric

FIELD = "dimension"
BITS = 8
MOST_VALUES = 1 << BITS


def taken_off(declared: "dict[str, Any]", fields: "list[tuple[str, int, int]]") -> "list[tuple[str, int, int]]":
    """The fields of the mechanism's own record, which follow the dimension's.

    Raises LookupError, TypeError or ValueError where ``declared`` is no dimension, or ``fields`` do not begin with it.
    """
    values = declared["values"]
    other = declared.get("other", 0)
    if type(values) is not list or not 2 <= len(values) <= MOST_VALUES or len(set(values)) != len(values):
        raise ValueError("its dimension has no list of values, or one that repeats itself")
    for text in [declared["name"]] + values:
        if type(text) is not str:
            raise TypeError("a text of its dimension is missing")
    if type(other) is not int or not 0 <= other < len(values):
        raise ValueError("its dimension has no value in the place of others")
    if fields[0] != own_field(declared):
        raise ValueError("its fields do not begin with its dimension")
    return fields[1:]


def own_field(declared: "dict[str, Any]") -> "tuple[str, int, int]":
    """The field of a dimension, as records have it."""
    return (FIELD, BITS, len(declared["values"]) % MOST_VALUES)


def record_fields(metric: "Metric") -> "list[tuple[str, int, int]]":
    """All fields of a metric's record: those of its mechanism, after the dimension's where there is one."""
    if metric.dimension is None:
        return metric.fields
    return [own_field(metric.dimension)] + metric.fields


def front_of(metric: "Metric", value: object) -> bytes:
    """What stands in front of the mechanism's record: the place of ``value``, or that of ``other`` where it has none.

    Raises RejectedValueError, which does not hold the value: an app may have swapped the two.
    """
    declared: dict[str, Any] = metric.dimension  # type: ignore[assignment]
    try:
        text = to_bytes(value).decode()
        values = declared["values"]
        index = values.index(text) if text in values else declared.get("other")
    except RejectedValueError:
        index = None
    if index is None:
        raise RejectedValueError(
            "dimension",
            "metric %s: no value of its public dimension %s was given, or none of its list"
            % (metric.name, declared["name"]),
        )
    return bytes([index])
