"""Aggregates the sequence fragment puzzle (Apple, "Learning with privacy at scale", 2017), and counts named strings.

Both reports in a record are local hashing's, and so are both sketches. Strings that nobody named are found in the
sketch of fragments (``hubbub_decoder.puzzle``), and counted in the sketch of whole strings.
"""

from __future__ import annotations

from collections.abc import Sequence

from hubbub_client.mechanisms.sequence_fragment_puzzle import Part, fragment_part, whole_part
from hubbub_decoder.counting.records import Records, bits_at, check_domain, check_shape, chunks
from hubbub_decoder.counting.state import IntArray, State, merge
from hubbub_decoder.discovery.found import Found, Options
from hubbub_decoder.estimates import Estimates
from hubbub_decoder.mechanisms import local_hashing
from hubbub_decoder.mechanisms.local_hashing import count_cells
from hubbub_decoder.puzzle import solve
from hubbub_registry import Metric

__all__ = ["discover", "estimate", "merge", "partial"]


def partial(metric: Metric, records: Records) -> State:
    """``counts`` (hashes, width) of whole strings; ``fragments`` (fragment hashes, positions, width) of fragments.

    Four bytes a cell: for 65536 hash functions of whole strings, and 1024 at each of 8 positions, into 16 buckets
    4.5 MiB.
    """
    check_shape(metric, records)
    p = metric.device.parameters
    whole, fragment = whole_part(p), fragment_part(p)
    used = whole.bits + fragment.bits
    for chunk in chunks(records):
        check_domain(metric, bits_at(chunk, used, -used % 8), 1, "padding")
    shape = (1 << p["fragment_hashes_bits"], 1 << p["positions_bits"], 1 << p["fragment_width_bits"])
    return State.of(
        metric,
        len(records),
        counts=_counts(metric, records, whole, 0),
        # The position is the low bits of the hash number.
        fragments=_counts(metric, records, fragment, whole.bits).reshape(shape),
    )


def _counts(metric: Metric, records: Records, part: Part, start: int) -> IntArray:
    """Local hashing's counts of the reports that lie in the records from bit ``start`` on."""
    hashes, width = 1 << part.parameters["hashes_bits"], 1 << part.parameters["width_bits"]
    cells = (bits_at(chunk, start, part.bits) for chunk in chunks(records))
    return count_cells(metric, cells, hashes, width, len(records))


def estimate(metric: Metric, state: State, candidates: Sequence[str]) -> Estimates:
    """From the reports of whole strings alone, whose integers the plan names as local hashing does."""
    return local_hashing.estimate(metric, state, candidates)


def discover(metric: Metric, state: State, options: Options) -> Found:
    """From the reports of fragments alone, of which ``estimate`` reads none.

    The two reports of one device have independent noise and hash functions of their own: given what devices hold,
    strings that are found for what the one says are like any others to the other.
    """
    return solve(metric, state, options)
