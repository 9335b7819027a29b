"""One file a mechanism: its encoder and its worst-case ratio. Loaded by name, so that a board holds what it uses.

Each module has

``Encoder(metric, secret)``
    ``random_bytes``: how many bytes one report reads from the source, fixed;
    ``encode(data, source) -> record``: ``data`` is the value's UTF-8 bytes. Raises RejectedValueError. A record is of
    ``metric.fields``, whose width is that of the mechanism alone; ``metric.record_bytes`` counts a public dimension.
``domain_of(parameters) -> int``
    how many values the plan must list (0: any value can be reported). Raises ValueError for integers that no
    calibration gives and with which ``worst_ratio`` would not hold.
``worst_ratio(parameters) -> (numerator, denominator)``
    e^epsilon of one report, exactly: the largest ratio of an output's probabilities, over outputs and pairs of values.

A mechanism with permanent noise, which several reports of one value share, also has

``ratio_after(parameters, reports) -> (numerator, denominator) | None``
    e^epsilon of so many reports (at least 1) of one value, exactly; None where these parameters have no such noise.
``permanent_ratio(parameters) -> (numerator, denominator)``
    what no number of reports of one value exceeds.
``Encoder.permanent_key(data) -> bytes``
    what the permanent noise is keyed by, besides device, metric and cohort. Raises RejectedValueError.
"""

from hubbub_client.errors import PlanError

# One text and no tuple of texts, each of which a board would hold in memory; names.py has them apart.
TABLE = (
    " randomized-response rappor unary-encoding count-mean-sketch hadamard-count-mean-sketch hadamard-response "
    "projective-geometry-response local-hashing subset-selection one-bit-mean d-bit-flip prefix-extending-method "
    "hierarchical-histogram sequence-fragment-puzzle "
)
# Mechanisms made of others: what they take is no single value, and what they give no list of counts.
COMPOSITE_TABLE = " joint "


def module_name(name: str) -> str:
    """The module, in every room, that holds the mechanism ``name``. Raises PlanError for a name not in the table."""
    if " " in name or " %s " % name not in TABLE + COMPOSITE_TABLE:
        raise PlanError("mechanism %r is not one of %s; update hubbub or the plan" % (name, ", ".join(TABLE.split())))
    return name.replace("-", "_")
