"""Integers between two bounds, as a metric takes them: parsed strictly, and never pulled to a bound."""

from hubbub_client.errors import RejectedValueError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hubbub_client.plan import Metric


def offset_in_range(metric: "Metric", data: bytes) -> int:
    """How far the decimal integer ``data`` lies above the metric's lowest value: an integer in [0, ``span``].

    The plan's integers are not negative, so the lowest value is ``low - below_zero``, of which one is 0. Raises
    RejectedValueError (``"not-in-values"``) for anything but ``str()`` of an integer within the bounds. A value
    outside is not moved to the bound: it would be counted as a value that nobody has, and nobody would know.
    """
    p = metric.parameters
    value = _integer(data)
    offset = -1 if value is None else value - p["low"] + p["below_zero"]
    if not 0 <= offset <= p["span"]:
        low = p["low"] - p["below_zero"]
        raise RejectedValueError(
            "not-in-values",
            "metric %s: a value is not an integer from %d to %d" % (metric.name, low, low + p["span"]),
        )
    return offset


def _integer(data: bytes) -> "int | None":
    """The integer that ``data`` writes in the one usual way; None for "007", "+1", "1_0", " 1" and the like.

    A function of its own, because a ValueError holds the text it was raised for, and must be gone before another error
    is raised.
    """
    try:
        value = int(data.decode())
    except ValueError:
        return None
    return value if str(value).encode() == data else None
