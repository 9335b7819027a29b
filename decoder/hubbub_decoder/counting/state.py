"""A partial state: everything that estimating needs of a set of records, in integers that add up."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import msgpack
import numpy as np
import numpy.typing as npt

from hubbub_client.mechanisms.names import COMPOSITES, NAMES
from hubbub_decoder.errors import StateError
from hubbub_registry import Metric

IntArray = npt.NDArray[np.integer[Any]]
SCHEMA = 1
_FINGERPRINT_BYTES = 8
_INTEGERS = "iu"  # numpy's kinds of them


@dataclass(frozen=True, eq=False)
class State:
    """Integer counts over ``n`` records of the definition that ``fingerprint`` names.

    States of disjoint sets of records merge, in any order and grouping, to the state of their union, exactly. An
    array is as narrow an integer type as holds its largest count, so a sketch of 65536 x 1024 cells is 64 MiB until a
    row has seen 255 reports. Raises StateError for arrays of anything else.
    """

    mechanism: str
    fingerprint: bytes
    n: int
    arrays: Mapping[str, IntArray]

    def __post_init__(self) -> None:
        for name, array in self.arrays.items():
            kind = getattr(array, "dtype", None)
            if kind is None or kind.kind not in _INTEGERS:
                what = type(array).__name__ if kind is None else kind
                raise StateError(f"a state of {self.mechanism}: {name} holds {what}, not integers; aggregate again")

    @staticmethod
    def of(metric: Metric, n: int, **arrays: IntArray) -> State:
        """The state of ``n`` records of ``metric``."""
        return State(metric.mechanism, metric.fingerprint, n, arrays)

    def check(self, metric: Metric) -> None:
        """Raises StateError where this is no state of ``metric``'s very definition, or holds what no reports add to."""
        from hubbub_decoder.counting.state_contents import check_contents  # it asks the mechanisms, which make states

        self.check_definition(metric)
        check_contents(metric, self)

    def check_definition(self, metric: Metric) -> None:
        """Raises StateError where this says that it is a state of another definition than ``metric``'s."""
        if self.fingerprint != metric.fingerprint or self.mechanism != metric.mechanism:
            raise StateError(
                f"metric {metric.name}: this state is of {self.mechanism} {self.fingerprint.hex()}, the registry "
                f"defines {metric.mechanism} {metric.fingerprint.hex()}; decode with the registry that the devices ran"
            )

    def to_bytes(self) -> bytes:
        """The state as msgpack: little-endian arrays with their types and shapes. Holds nothing but counts."""
        arrays = {
            name: [array.dtype.newbyteorder("<").str, list(array.shape), _little(array).tobytes()]
            for name, array in self.arrays.items()
        }
        packed: bytes = msgpack.packb([SCHEMA, self.mechanism, self.fingerprint, self.n, arrays])
        return packed

    @staticmethod
    def from_bytes(data: bytes) -> State:
        """The inverse of ``to_bytes``. Raises StateError. What the arrays hold is checked by what estimates of them."""
        try:
            schema, mechanism, fingerprint, n, packed = msgpack.unpackb(data, max_bin_len=len(data))
            if schema != SCHEMA or isinstance(schema, bool):
                raise StateError(f"a state of schema {schema!r}; this hubbub reads {SCHEMA}, so aggregate again")
            _check_head(mechanism, fingerprint, n)
            arrays = {name: _array(name, *parts) for name, parts in packed.items()}
            return State(mechanism, fingerprint, n, arrays)
        except (ValueError, TypeError, AttributeError, OverflowError, msgpack.UnpackException) as error:
            raise StateError(f"these bytes are no partial state ({type(error).__name__}); aggregate again") from None


def merge(a: State, b: State) -> State:
    """The state of the records of ``a`` and of ``b`` together, in new arrays: neither argument changes or is shared.

    Of mechanisms whose states are sums, as nearly all are (``merging.merge`` knows). Raises StateError where the two
    are of different definitions: their counts mean different things.
    """
    check_alike(a, b)
    if {name: array.shape for name, array in a.arrays.items()} != {
        name: array.shape for name, array in b.arrays.items()
    }:
        raise StateError(f"two states of {a.mechanism} {a.fingerprint.hex()} differ in shape; aggregate both again")
    return State(
        a.mechanism, a.fingerprint, a.n + b.n, {name: _add(array, b.arrays[name]) for name, array in a.arrays.items()}
    )


def check_mechanism(name: object) -> None:
    """Raises StateError unless ``name`` is that of a mechanism."""
    if name not in (*NAMES, *COMPOSITES):
        raise StateError(f"a state of mechanism {name!r}, which this hubbub has not; update it, or aggregate again")


def check_alike(a: State, b: State) -> None:
    """Raises StateError unless both are of one definition."""
    if a.fingerprint != b.fingerprint or a.mechanism != b.mechanism:
        raise StateError(
            f"a state of {a.mechanism} {a.fingerprint.hex()} and one of {b.mechanism} {b.fingerprint.hex()} do not "
            "merge; decode each with its own registry"
        )


def _add(a: IntArray, b: IntArray) -> IntArray:
    """The sum, in the narrowest type (of the wider argument's width at least) that cannot overflow."""
    if not a.size:
        return a.copy()
    high, low = int(a.max()) + int(b.max()), int(a.min()) + int(b.min())
    if a.dtype.kind == "u" and b.dtype.kind == "u":
        bound = np.min_scalar_type(high)
    else:
        bound = np.min_scalar_type(min(low, -high - 1, -1))  # a negative number asks for a signed type
    total: IntArray = np.add(a, b, dtype=np.result_type(a, b, bound))
    return total


def _little(array: IntArray) -> IntArray:
    return np.ascontiguousarray(array.astype(array.dtype.newbyteorder("<"), copy=False))


def _check_head(mechanism: object, fingerprint: object, n: object) -> None:
    if not isinstance(fingerprint, bytes) or len(fingerprint) != _FINGERPRINT_BYTES:
        raise ValueError("a fingerprint is 8 bytes")
    if not isinstance(n, int) or isinstance(n, bool) or n < 0:
        raise StateError(f"a state of n = {n!r} reports, which is no number of them; aggregate again")
    check_mechanism(mechanism)


def _array(name: object, dtype: str, shape: list[int], data: bytes) -> IntArray:
    kind = np.dtype(dtype)
    if kind.kind not in _INTEGERS or not isinstance(name, str) or min(shape, default=0) < 0:
        raise ValueError("a state holds integers only, each array by its name")
    array: IntArray = np.frombuffer(data, kind).reshape(shape).astype(kind.newbyteorder("="))
    return array
