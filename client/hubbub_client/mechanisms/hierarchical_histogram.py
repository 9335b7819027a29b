"""A histogram of histograms, for ranges and quantiles (Cormode, Kulkarni, Srivastava, "Answering range queries under
local differential privacy", PVLDB 2019, section 4).

The range is cut into 2**buckets_bits buckets, the leaves of a tree of 2**levels_bits levels; all nodes of a level have
equally many children. A device draws a level, whatever its value, and reports in which node of it its value lies, by
projective geometry response at the full epsilon: one report says one thing. Levels have geometries of their own.
"""

from hubbub_client.integer_range import offset_in_range
from hubbub_client.mechanisms import projective_geometry_response as geometry
from hubbub_client.records import pack
from hubbub_client.sampling import bernoulli, read, uniform_below

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hubbub_client.plan import Metric
    from hubbub_client.sampling import ByteSource

_MOST_BITS = 16
# A prime above any number of points, near 2**32 over the golden ratio.
STRIDE = 2654435761


def nodes_bits(parameters: "dict[str, int]", level: int) -> int:
    """Level number ``level``, from 0 at the top, has 2**this nodes. The last has the buckets themselves."""
    return parameters["buckets_bits"] * (level + 1) >> parameters["levels_bits"]


def at_level(parameters: "dict[str, int]", level: int) -> "dict[str, int]":
    """The parameters of projective geometry response with which nodes of a level are reported."""
    return {
        "domain": 1 << nodes_bits(parameters, level),
        "order": parameters["order_%d" % level],
        "dimension": parameters["dimension_%d" % level],
        "threshold": parameters["threshold_%d" % level],
        "precision": parameters["precision"],
        "uniform_bits": parameters["uniform_bits"],
    }


def point_of(node: int, points: int) -> int:
    """The point that stands for a node. Different nodes have different ones, since the stride divides no ``points``.

    Neighbours are sent far apart: points with numbers in a row lie on one line or plane, and in a range their noise
    would add up to more, or less, than in other sums of as many.
    """
    return node * STRIDE % points


def domain_of(parameters: "dict[str, int]") -> int:
    """0: a plan lists no values. Raises ValueError for impossible integers."""
    buckets_bits, levels_bits = parameters["buckets_bits"], parameters["levels_bits"]
    if not 1 <= buckets_bits <= _MOST_BITS or 1 << buckets_bits > parameters["span"] + 1:
        raise ValueError("2**%d buckets are none, or more than the range has integers" % buckets_bits)
    if 1 << levels_bits > buckets_bits:
        raise ValueError("more levels than halvings")  # one of them would be the level above it again
    for level in range(1 << levels_bits):
        geometry.domain_of(at_level(parameters, level))
    return 0


def worst_ratio(parameters: "dict[str, int]") -> "tuple[int, int]":
    """That of the least private level: a report says which level it is of, and the draw depends on no value."""
    worst = geometry.worst_ratio(at_level(parameters, 0))
    for level in range(1, 1 << parameters["levels_bits"]):
        numerator, denominator = geometry.worst_ratio(at_level(parameters, level))
        if numerator * worst[1] > worst[0] * denominator:
            worst = numerator, denominator
    return worst


class Encoder:
    """Encodes an integer of the range into a level and one point of its geometry."""

    def __init__(self, metric: "Metric", secret: bytes) -> None:  # noqa: ARG002 - one signature for every mechanism
        self._metric = metric
        p = metric.parameters
        self.random_bytes = (p["levels_bits"] + p["precision"] + p["uniform_bits"] + 7) // 8

    def encode(self, data: bytes, source: "ByteSource") -> bytes:
        """The record of one report."""
        p = self._metric.parameters
        bucket = (offset_in_range(self._metric, data) << p["buckets_bits"]) // (p["span"] + 1)
        noise = int.from_bytes(read(source, self.random_bytes), "little")
        level = noise & ((1 << p["levels_bits"]) - 1)
        noise >>= p["levels_bits"]
        own = at_level(p, level)
        order, dimension, bits = own["order"], own["dimension"], own["uniform_bits"]
        keep = bernoulli(noise & ((1 << own["precision"]) - 1), own["threshold"], own["precision"])
        uniform = (noise >> own["precision"]) & ((1 << bits) - 1)
        # One draw serves both, since only one of them is sent.
        points = geometry.points_in(order, dimension)
        anywhere = uniform_below(uniform, points, bits)
        place = uniform_below(uniform, geometry.points_in(order, dimension - 1), bits)
        node = point_of(bucket >> (p["buckets_bits"] - nodes_bits(p, level)), points)
        owned = geometry.owned_point(geometry.coordinates(node, order, dimension), place, order)
        return pack(self._metric.fields, [level, anywhere ^ ((anywhere ^ owned) & -keep)])
