"""Sequence fragment puzzle (Apple, "Learning with privacy at scale", 2017): strings that nobody listed beforehand.

A report is two reports of local hashing: one of the whole string, and one of a fragment of it at a uniform position,
taken together with the puzzle piece, a small hash of the whole string, by which a decoder finds the fragments that
belong together. The position is the low bits of the second one's hash number, so every position has hash functions of
its own. Apple sends two count mean sketches, which at an epsilon of 4 each have more than twice the variance.
"""

from hubbub_client.hashing import item_key
from hubbub_client.mechanisms import local_hashing
from hubbub_client.records import width
from hubbub_client.sampling import check_threshold, read

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hubbub_client.plan import Metric
    from hubbub_client.sampling import ByteSource

# Stands behind the end of a string; no UTF-8 text has this byte, so a string's end is seen in its fragments.
PAD = b"\xff"
MOST_FRAGMENT_BYTES = 16
PIECE_BYTES = 4


class Part:
    """What local hashing reads of a metric, for one of the two reports that make up a record."""

    def __init__(self, parameters: "dict[str, int]") -> None:
        self.parameters = parameters
        self.fields = [("hash", parameters["hashes_bits"], 0), ("bucket", parameters["width_bits"], 0)]
        self.record_bytes = width(self.fields)
        self.bits = parameters["hashes_bits"] + parameters["width_bits"]


def whole_part(parameters: "dict[str, int]") -> Part:
    """The report of the whole string: the plan's integers are named as local hashing's are."""
    return Part({key: parameters[key] for key in ("hashes_bits", "width_bits", "threshold", "precision", "salt")})


def fragment_part(parameters: "dict[str, int]") -> Part:
    """The report of a fragment; its hash number is that of the position's hash function above the position."""
    return Part(
        {
            "hashes_bits": parameters["positions_bits"] + parameters["fragment_hashes_bits"],
            "width_bits": parameters["fragment_width_bits"],
            "threshold": parameters["fragment_threshold"],
            "precision": parameters["fragment_precision"],
            "salt": parameters["fragment_salt"],
        }
    )


def puzzle_piece(data: bytes, parameters: "dict[str, int]") -> int:
    """The small hash of a whole string that goes with each of its fragments."""
    return item_key(data, parameters["fragment_salt"])[0] & ((1 << parameters["piece_bits"]) - 1)


def fragment_item(fragment: bytes, piece: int) -> bytes:
    """What is hashed of a fragment: the piece, and it."""
    return piece.to_bytes(PIECE_BYTES, "little") + fragment


def fragment_at(data: bytes, position: int, size: int) -> bytes:
    """``size`` bytes of a string at ``position`` times as many, padded; the rest of a longer string is in none."""
    return (data[position * size :] + PAD * size)[:size]


def domain_of(parameters: "dict[str, int]") -> int:
    """How many values a plan must list; 0 where any is taken. Raises ValueError for impossible integers."""
    check_threshold(parameters["threshold"], parameters["precision"])
    check_threshold(parameters["fragment_threshold"], parameters["fragment_precision"])
    if not 1 <= parameters["fragment_bytes"] <= MOST_FRAGMENT_BYTES:
        raise ValueError("fragments of %d bytes" % parameters["fragment_bytes"])
    if parameters["piece_bits"] > 8 * PIECE_BYTES:
        raise ValueError("a piece of %d bits" % parameters["piece_bits"])
    return 0


def worst_ratio(parameters: "dict[str, int]") -> "tuple[int, int]":
    """The product of both reports' ratios: given hash numbers and position, their noise is independent."""
    whole = local_hashing.worst_ratio(whole_part(parameters).parameters)
    fragment = local_hashing.worst_ratio(fragment_part(parameters).parameters)
    return whole[0] * fragment[0], whole[1] * fragment[1]


class Encoder:
    """Encodes any value into a noisy bucket of it, and a noisy bucket of one of its fragments and its piece."""

    def __init__(self, metric: "Metric", secret: bytes) -> None:
        p = metric.parameters
        whole, fragment = whole_part(p), fragment_part(p)
        self._parameters = p
        self._whole = local_hashing.Encoder(whole, secret)  # type: ignore[arg-type] # a part is all it reads
        self._fragment = local_hashing.Encoder(fragment, secret)  # type: ignore[arg-type]
        self._fragment_at = whole.bits
        self._record_bytes = width(metric.fields)  # without the byte of a public dimension
        # Where local hashing finds its hash number, of which the position is the low bits.
        self._position_at = p["fragment_precision"] + p["fragment_width_bits"]
        self.random_bytes = self._whole.random_bytes + self._fragment.random_bytes

    def encode(self, data: bytes, source: "ByteSource") -> bytes:
        """The record of one report."""
        p = self._parameters
        noise = read(source, self.random_bytes)
        for_whole, for_fragment = noise[: self._whole.random_bytes], noise[self._whole.random_bytes :]
        drawn = int.from_bytes(for_fragment, "little") >> self._position_at
        fragment = fragment_at(data, drawn & ((1 << p["positions_bits"]) - 1), p["fragment_bytes"])
        item = fragment_item(fragment, puzzle_piece(data, p))
        record = int.from_bytes(self._whole.encode(data, lambda _: for_whole), "little")
        record |= int.from_bytes(self._fragment.encode(item, lambda _: for_fragment), "little") << self._fragment_at
        return record.to_bytes(self._record_bytes, "little")
