"""Projective geometry response (Feldman, Nelson, Nguyen, Talwar, ICML 2022, section 3): one point of a finite geometry.

The points are the vectors of ``dimension`` coordinates modulo a prime ``order`` whose highest coordinate that is not 0
is 1, numbered by the integer that their coordinates write in base ``order``. Value x stands for point x, and owns the
points orthogonal to it. Any two values own equally many, and equally many together: so each report supports the same
share of the other values. With probability a = threshold / 2**precision a uniform owned point is sent, else a uniform
one of all.
"""

from hubbub_client.records import pack
from hubbub_client.sampling import bernoulli, check_threshold, read, uniform_below

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hubbub_client.plan import Metric
    from hubbub_client.sampling import ByteSource

# A prime above it would serve an epsilon above 6.9, where little is private.
MOST_ORDER = 1024
_MOST_POINTS = 1 << 20


def points_in(order: int, dimension: int) -> int:
    """The points of a geometry: (q**t - 1) / (q - 1)."""
    points: int = (order**dimension - 1) // (order - 1)
    return points


def domain_of(parameters: "dict[str, int]") -> int:
    """How many values a plan must list; 0 where any is taken. Raises ValueError for impossible integers."""
    check_threshold(parameters["threshold"], parameters["precision"])
    order, dimension = parameters["order"], parameters["dimension"]
    if not 2 <= order <= MOST_ORDER or [i for i in range(2, 32) if i < order and order % i == 0]:
        raise ValueError("an order of %d is no prime" % order)  # without inverses owned sets differ in size
    if not 2 <= dimension <= 20 or not 2 <= parameters["domain"] <= points_in(order, dimension) <= _MOST_POINTS:
        raise ValueError("%d values are none, or more than there are points" % parameters["domain"])
    if not points_in(order, dimension) <= 1 << parameters["uniform_bits"]:
        raise ValueError("too few random bits for a point")
    return parameters["domain"]


def worst_ratio(parameters: "dict[str, int]") -> "tuple[int, int]":
    """1 + a o / ((1 - a) u): o the probability of the likeliest owned draw, u of the rarest one of all.

    A uniform draw of ``uniform_bits`` bits favours some points by less than one part in 2**60, and not the same ones in
    both draws, so this lies above the largest ratio of any one point by at most that.
    """
    order, dimension = parameters["order"], parameters["dimension"]
    total = 1 << parameters["uniform_bits"]
    threshold = parameters["threshold"]
    likeliest = -(-total // points_in(order, dimension - 1))
    rest = ((1 << parameters["precision"]) - threshold) * (total // points_in(order, dimension))
    return rest + threshold * likeliest, rest


def coordinates(index: int, order: int, dimension: int) -> "list[int]":
    """The coordinates of point number ``index``, lowest first.

    The points with their 1 in coordinate m come one after the other from number (q**m - 1) / (q - 1), and write the
    integers from q**m. Each step adds what the next m changes, or 0 times that: a comparison is 1 or 0.
    """
    number = index + 1
    power = 1
    first = 0
    for _ in range(1, dimension):
        first += power
        number += (index >= first) * (power * (order - 2))
        power *= order
    digits = []
    for _ in range(dimension):
        digits.append(number % order)
        number //= order
    return digits


def index_of(digits: "list[int]", order: int) -> int:
    """The number of the point with these coordinates, the highest of which that is not 0 is 1."""
    number = 0
    for digit in reversed(digits):
        number = number * order + digit
    index = number - 1
    power = 1
    for _ in range(1, len(digits)):
        index -= (number >= power * order) * (power * (order - 2))
        power *= order
    return index


def owned_point(value: "list[int]", index: int, order: int) -> int:
    """The number of the owned point number ``index`` of the point with coordinates ``value``.

    Orthogonal vectors are free in all coordinates but the one where ``value`` has its highest, a 1: that one makes the
    product 0. So leaving it out maps owned points one to one to the points of one dimension less. Where it becomes the
    highest that is not 0, all are divided by it. Nothing here branches on a coordinate.
    """
    dimension = len(value)
    free = coordinates(index, order, dimension - 1) + [0]
    above = 0  # 1 in the place of value's highest coordinate and below, from the top down
    highest = 0
    product = 0
    later = 0
    point = []
    for i in range(dimension - 1, -1, -1):
        is_highest = (1 - above) * (value[i] != 0)
        above |= is_highest
        # Above that place the free coordinates are one lower than the point's own; in it there is none yet.
        coordinate = (1 - above) * free[i - 1] + (above - is_highest) * free[i]
        later |= (1 - above) * (coordinate != 0)
        product += coordinate * value[i]
        point.append(coordinate)
        highest = highest * (1 - is_highest) + i * is_highest
    last = -product % order
    scale = (1 - later) * (last != 0) * inverse(last, order)
    scale += scale == 0
    point.reverse()
    return index_of([(point[i] + last * (i == highest)) * scale % order for i in range(dimension)], order)


def inverse(number: int, order: int) -> int:
    """``number`` to the power of ``order - 2``: its inverse, by Fermat, or 0. The steps depend on ``order`` alone."""
    result = 1
    exponent = order - 2
    while exponent:
        result = result * (number if exponent & 1 else 1) % order
        number = number * number % order
        exponent >>= 1
    return result


class Encoder:
    """Encodes one value of a closed domain into one point."""

    def __init__(self, metric: "Metric", secret: bytes) -> None:  # noqa: ARG002 - one signature for every mechanism
        p = metric.parameters
        self._metric = metric
        self._order = p["order"]
        self._dimension = p["dimension"]
        self._points = points_in(p["order"], p["dimension"])
        self._owned = points_in(p["order"], p["dimension"] - 1)
        self._uniform_bits = p["uniform_bits"]
        self._threshold = p["threshold"]
        self._precision = p["precision"]
        self.random_bytes = (p["uniform_bits"] + p["precision"] + 7) // 8

    def encode(self, data: bytes, source: "ByteSource") -> bytes:
        """The record of one report."""
        value = coordinates(self._metric.index_of(data), self._order, self._dimension)
        noise = int.from_bytes(read(source, self.random_bytes), "little")
        keep = bernoulli(noise & ((1 << self._precision) - 1), self._threshold, self._precision)
        uniform = (noise >> self._precision) & ((1 << self._uniform_bits) - 1)
        # One draw serves both, since only one of them is sent.
        anywhere = uniform_below(uniform, self._points, self._uniform_bits)
        owned = owned_point(value, uniform_below(uniform, self._owned, self._uniform_bits), self._order)
        return pack(self._metric.fields, [anywhere ^ ((anywhere ^ owned) & -keep)])
