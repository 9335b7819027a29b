"""From a state, or a sealed data set, to a list of strings with counts: found in some reports, tested in others."""

from __future__ import annotations

from dataclasses import replace

from hubbub_decoder.arguments import check_metric, check_state
from hubbub_decoder.cache import StateCache
from hubbub_decoder.counting.state import State
from hubbub_decoder.decode import check_data, with_notes
from hubbub_decoder.discovery.discovered import Discovered
from hubbub_decoder.discovery.found import Options
from hubbub_decoder.discovery.mechanisms import check_discovers, found_by
from hubbub_decoder.discovery.selection import listed_from
from hubbub_decoder.errors import EstimateError
from hubbub_decoder.mechanisms import mechanism
from hubbub_decoder.reading import read
from hubbub_decoder.sealed.dataset import Dataset
from hubbub_decoder.statistics.significance import Correction
from hubbub_registry import Metric

CONDITIONAL = (
    "a list of what is significant favours counts that came out high: conditional_count, low and high allow for that, "
    "count does not"
)


def discover(
    metric: Metric, state: State, *, alpha: float = 0.05, correction: Correction = "holm", insignificant: bool = False,
    options: Options | None = None,
) -> Discovered:  # fmt: skip
    """The strings that the reports of ``state`` point to and that are really there at level ``alpha``, with counts.

    They are found in one part of the reports and counted in another, by the mechanism's own ``estimate``, so their
    p-values are not those of a selection; ``correction`` is for the number that was found. Being listed for a high
    count is a selection, too, and ``conditional_count`` and the intervals are conditional on it. With
    ``insignificant`` the other strings are listed too, and nothing is conditional.

    Raises EstimateError for a mechanism that cannot, for a state of no reports, and for an alpha or a correction that
    is none; StateError for a state of another definition; ArgumentError for arguments of another type.
    """
    check_metric("discover", metric)
    check_state("discover", state)
    check_discovers(metric)
    state.check(metric)
    if state.n == 0:
        raise EstimateError(f"metric {metric.name}: there are no reports in this state; nothing can be found")
    found = found_by(metric, state, options or Options())
    tested = mechanism(metric.mechanism).estimate(metric, state, found.values)
    there = tested.significant(alpha, correction)
    said = (
        f"{found_text(len(found.values))}, and tested in reports that had no say in finding them; "
        f"{there_text(int(there.sum()))} at alpha = {alpha:g} ({correction})"
    )
    if insignificant:
        return replace(Discovered.all_of(tested), notes=(*tested.notes, said, *found.notes))
    listed = Discovered.of_rows(tested, there, listed_from(tested, there, alpha, correction))
    return replace(listed, notes=(*tested.notes, said, *((CONDITIONAL,) if there.any() else ()), *found.notes))


def found_text(number: int) -> str:
    """How many strings were found, for people."""
    return "1 string was found" if number == 1 else f"{number} strings were found"


def there_text(number: int) -> str:
    """How many of them are there."""
    return "1 is there" if number == 1 else f"{number} are there"


def discover_in(
    metric: Metric, data: Dataset, *, alpha: float = 0.05, correction: Correction = "holm",
    insignificant: bool = False, options: Options | None = None, cache: StateCache | None = None,
) -> Discovered:  # fmt: skip
    """Verifies and aggregates all of ``data``, and lists what ``discover`` finds in it.

    Raises DatasetError, and what ``discover`` raises.
    """
    check_data("discover_in", metric, data)
    check_discovers(metric)  # before hours of reading
    reading = read(data, cache=cache)
    listed = discover(
        metric, reading.state, alpha=alpha, correction=correction, insignificant=insignificant, options=options
    )
    return with_notes(listed, data, reading)
