"""Two values of one device, reported together: each randomised by a mechanism of its own, both in one record.

Source: Fanti, Pihur, Erlingsson, "Building a RAPPOR with the Unknown", PoPETs 2016, section 4. The noise of the two
parts is independent, so a record's probability is a product, and the epsilons of the parts add up exactly.

A plan's integers are those of both parts, under names that begin with a side. ``values`` lists the first part's values,
if it has a list, and then the second's. A record is the first part's, in whole bytes, and the second's after it.
"""

from hubbub_client.pairs import halves
from hubbub_client.plan import Metric, mechanism
from hubbub_client.records import width
from hubbub_client.sampling import read

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hubbub_client.sampling import ByteSource

SIDES = ("first_", "second_")
# What a part can be. A plan has its number in this list, so names are only ever added at the end.
PARTS = (
    "randomized-response",
    "unary-encoding",
    "hadamard-response",
    "projective-geometry-response",
    "local-hashing",
    "subset-selection",
    "count-mean-sketch",
    "hadamard-count-mean-sketch",
    "rappor",
)


def part_of(parameters: "dict[str, int]", side: str) -> "tuple[str, dict[str, int]]":
    """The mechanism and the integers of one side. Raises ValueError where it is none of ``PARTS``."""
    own = {}
    for name in parameters:
        if name.startswith(side):
            own[name[len(side) :]] = parameters[name]
    number = own.pop("mechanism")
    if number >= len(PARTS):
        raise ValueError("a part of mechanism number %d" % number)
    if own.get("irr_precision"):
        # Charged by the value, while a report is charged by the pair: the ledger would not know what was shown.
        raise ValueError("a part with permanent noise")
    return PARTS[number], own


def domain_of(parameters: "dict[str, int]") -> int:
    """How many values both parts list together. Raises ValueError for impossible integers."""
    if [name for name in parameters if not name.startswith(SIDES)]:
        raise ValueError("an integer of neither part")
    total = 0
    for side in SIDES:
        name, own = part_of(parameters, side)
        total += mechanism(name).domain_of(own)
    return total


def worst_ratio(parameters: "dict[str, int]") -> "tuple[int, int]":
    """The product of the parts' ratios: independent noise, so the worst outputs of both go together."""
    numerator, denominator = 1, 1
    for side in SIDES:
        name, own = part_of(parameters, side)
        ratio = mechanism(name).worst_ratio(own)
        numerator *= ratio[0]
        denominator *= ratio[1]
    return numerator, denominator


class Part(Metric):
    """One side of a joint metric, as the encoder of its mechanism takes a metric.

    Its fingerprint, which cohorts are derived from, is the whole metric's and one byte more, so that the two sides
    share no cohort.
    """

    def __init__(self, metric: "Metric", side: int) -> None:
        name = SIDES[side]
        self.name = "%s.%s" % (metric.name, name[:-1])
        self.mechanism, self.parameters = part_of(metric.parameters, name)
        self.fields = [(f[0][len(name) :], f[1], f[2]) for f in metric.fields if f[0].startswith(name)]
        self.period = metric.period
        self.reports_per_period = metric.reports_per_period
        self.expires = metric.expires
        self.charges = []
        self.dimension = None
        self.fingerprint = metric.fingerprint + bytes([side])
        own = mechanism(self.mechanism).domain_of(self.parameters)
        self.values = metric.values[len(metric.values) - own :] if side else metric.values[:own]
        self.record_bytes = width(self.fields)
        self._indices = {}
        for i in range(own):
            self._indices[self.values[i]] = i


class Encoder:
    """Encodes a pair into the records of both parts, one after the other."""

    def __init__(self, metric: "Metric", secret: bytes) -> None:
        self._parts = []
        self.random_bytes = 0
        for side in range(2):
            part = Part(metric, side)
            encoder = mechanism(part.mechanism).Encoder(part, secret)
            self._parts.append((part, encoder))
            self.random_bytes += encoder.random_bytes

    def permanent_key(self, data: bytes) -> bytes:
        """Nothing is permanent here; refuses a value that is not in a part's list, before anything is spent on it."""
        for (part, _), half in zip(self._parts, halves(data)):  # noqa: B905 - boards have no strict
            if part.values:
                part.index_of(half)
        return b""

    def encode(self, data: bytes, source: "ByteSource") -> bytes:
        """The record of one report of a pair, as ``pair_bytes`` gives it."""
        noise = read(source, self.random_bytes)
        record = b""
        start = 0
        for (_, encoder), half in zip(self._parts, halves(data)):  # noqa: B905
            own = noise[start : start + encoder.random_bytes]
            start += encoder.random_bytes
            record += encoder.encode(half, lambda _, own=own: own)
        return record
