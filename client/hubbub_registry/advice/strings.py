"""How rare a string that nobody named may be and still be found, by either mechanism that finds any."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from hubbub_client.mechanisms.prefix_extending_method import lengths, part_of
from hubbub_client.mechanisms.sequence_fragment_puzzle import fragment_part
from hubbub_client.records import bits_for
from hubbub_registry.advice.answers import FINDS, Answer, Candidate, answer, candidate
from hubbub_registry.advice.conditions import Conditions
from hubbub_registry.advice.error import rare_value_error
from hubbub_registry.mechanisms import mechanism
from hubbub_registry.metric import Metric

# A string of 14 letters is listed every other time where it stands so many standard errors out in the reports of one
# part of it, or of one position: measured by benchmarks/decoder/least_share.py.
STANDS_OUT = {"prefix-extending-method": 4.7, "sequence-fragment-puzzle": 4.0}
_FRAGMENT = 2


def strings_answer(metric: Metric, conditions: Conditions) -> Answer:
    """Both mechanisms at the metric's declared epsilon, for strings as long as it asks for."""
    longest = _longest(metric)
    found: list[Candidate] = []
    found += candidate(metric, "prefix-extending-method", {"longest": min(longest, 31)}, ("longest",))
    positions = 1 << bits_for(-(-longest // _FRAGMENT))
    found += candidate(metric, "sequence-fragment-puzzle", {"positions": positions}, ("positions",))
    options = (each.option(least_share(each.mechanism, each.parameters, conditions.reports)) for each in found)
    return answer(FINDS, options, conditions.record_limit)


def least_share(mechanism: str, parameters: Mapping[str, int], reports: int) -> float:
    """The share of devices at which a string of the longest length is listed about every other time."""
    return STANDS_OUT[mechanism] * part_error(mechanism, parameters, reports)


def part_error(mechanism: str, parameters: Mapping[str, int], reports: int) -> float:
    """The standard error of what the reports of one part say of a share: of the part that has fewest reports."""
    p = dict(parameters)
    if mechanism == "sequence-fragment-puzzle":
        of_one = reports >> p["positions_bits"]
        error = rare_value_error("local-hashing", fragment_part(p).parameters, max(1, of_one))
    else:
        slots = Counter(part_of(slot, p) for slot in range(1 << p["slots_bits"]))
        fewest = reports * min(slots.values()) // slots[len(lengths(p))]
        error = rare_value_error(mechanism, parameters, max(1, fewest))
    assert error is not None  # noqa: S101 - both have a formula
    return error


def _longest(metric: Metric) -> int:
    """In bytes."""
    if metric.mechanism == "sequence-fragment-puzzle":
        return int(metric.settings["positions"] * metric.settings["fragment_bytes"])
    default = mechanism("prefix-extending-method").KEYS["longest"].default
    return int(metric.settings.get("longest") or default or 1)
