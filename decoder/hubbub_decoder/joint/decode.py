"""From the distinct records of a joint metric to its table."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

import numpy as np

from hubbub_decoder.arguments import check_metric, check_state
from hubbub_decoder.cache import StateCache
from hubbub_decoder.counting.records import Records, as_integers
from hubbub_decoder.counting.state import State
from hubbub_decoder.decode import check_data, choose_candidates
from hubbub_decoder.errors import CandidateError, EstimateError
from hubbub_decoder.joint.bloom import FloatArray
from hubbub_decoder.joint.collisions import excess, spread
from hubbub_decoder.joint.distinct import records_of
from hubbub_decoder.joint.estimates import JointEstimates
from hubbub_decoder.joint.fit import Fit, check_size, fit
from hubbub_decoder.joint.independence import independence
from hubbub_decoder.joint.likelihood import side_of
from hubbub_decoder.joint.pairs import IntArray, Pairs, merged
from hubbub_decoder.joint.question import OTHER, Question
from hubbub_decoder.output.visible import blanks_noted
from hubbub_decoder.reading import read
from hubbub_decoder.screen.fields import numbers
from hubbub_decoder.sealed.dataset import Dataset
from hubbub_registry import Metric

# Bytes of a record that is one integer to numpy, which sorts these ten times as fast.
_SHORT = 7
# Fewer reports a cell than these are few for a normal law.
FEW_A_CELL = 10
Lists = tuple[tuple[str, ...], tuple[str, ...]]


def decode_joint(
    metric: Metric, data: Dataset, first: Iterable[str] | None = None, second: Iterable[str] | None = None, *,
    cache: StateCache | None = None,
) -> JointEstimates:  # fmt: skip
    """Verifies, aggregates and estimates all of ``data``; parts whose states are in ``cache`` are not read again.

    Raises DatasetError, and what ``estimate_joint`` raises.
    """
    check_data("decode_joint", metric, data)
    chosen = choose_lists(metric, first, second)  # before hours of reading
    reading = read(data, cache=cache)
    result = estimate_joint(metric, reading.state, *chosen)
    return replace(result, notes=(*result.notes, *data.notes, *reading.notes))


def estimate_joint(
    metric: Metric, state: State, first: Iterable[str] | None = None, second: Iterable[str] | None = None
) -> JointEstimates:
    """The joint table of ``metric``'s two parts, over the candidates of either side and all other values together.

    ``first`` and ``second`` are candidates, by default those the registry names; of a part with a list of values all of
    them count, and none are to be named. Raises StateError for a state of another definition, EstimateError for one of
    no reports or too many different ones, and for a metric that is not joint, CandidateError, and ArgumentError.
    """
    check_metric("estimate_joint", metric)
    check_state("estimate_joint", state)
    metric = metric.undivided
    state.check(metric)
    sides = choose_lists(metric, first, second)
    what = f"metric {metric.name}"
    if state.n == 0:
        raise EstimateError(f"{what}: there are no reports in this state; nothing can be estimated")
    question = Question(what, metric.parts, sides)
    check_size(question)  # before likelihoods, which are as many as candidates
    pairs, rows = _pairs(metric, state, sides)
    alike = merged(pairs)
    found = fit(question, alike)
    own = np.diag(found.covariance)
    more = _collisions(metric, pairs, rows, alike, found)
    wider = np.sqrt(1 + np.divide(more, own, out=np.zeros_like(own), where=own > 0))
    covariance = found.covariance * np.outer(wider, wider)
    return JointEstimates(
        metric=metric.name,
        mechanism=metric.mechanism,
        ratio=metric.ratio,
        n=state.n,
        first=question.labels[0],
        second=question.labels[1],
        share=found.free,
        likely_share=found.likeliest,
        covariance=covariance,
        slope=_slope(question, found, state.n),
        independence=independence(alike, found.likeliest),
        notes=(*_notes(more, own, state.n), *blanks_noted(dict.fromkeys((*sides[0], *sides[1])))),
    )


def choose_lists(metric: Metric, first: Iterable[str] | None, second: Iterable[str] | None) -> Lists:
    """The candidates of either side. Raises CandidateError, and EstimateError for a metric that is not joint."""
    if not metric.parts:
        raise EstimateError(f"metric {metric.name}: {metric.mechanism} reports one value, not two; use estimate")
    chosen = []
    for part, named in zip(metric.parts, (first, second), strict=True):
        if part.closed and named is not None and tuple(named) != part.values:
            raise CandidateError(
                f"metric {part.name}: it reports nothing but its {len(part.values)} values, and all of them count; "
                "name no candidates for it"
            )
        values = choose_candidates(part, None if part.closed else named)
        if not part.closed and OTHER in values:
            raise CandidateError(f"metric {part.name}: {OTHER!r} stands for all values that are not candidates")
        chosen.append(values)
    return chosen[0], chosen[1]


def _pairs(metric: Metric, state: State, sides: Lists) -> tuple[Pairs, tuple[Records, Records]]:
    """The distinct reports with their likelihoods, and the distinct records of either side."""
    records, count = records_of(metric, state)
    end = metric.parts[0].device.record_bytes
    first, i = _once(records[:, :end])
    second, j = _once(records[:, end:])
    return (
        Pairs(
            side_of(metric.parts[0], first, sides[0]), side_of(metric.parts[1], second, sides[1]), i, j,
            count.astype(np.float64),
        ),
        (first, second),
    )  # fmt: skip


def _once(records: Records) -> tuple[Records, IntArray]:
    """Each record once, and which of them each is."""
    whole = np.ascontiguousarray(records)
    as_one = as_integers(whole) if whole.shape[1] <= _SHORT else whole.view(np.dtype((np.void, whole.shape[1])))[:, 0]
    _, kept, which = np.unique(as_one, return_index=True, return_inverse=True)
    return whole[kept], which.astype(np.int64)


def _collisions(metric: Metric, pairs: Pairs, rows: Sequence[Records], alike: Pairs, found: Fit) -> FloatArray:
    """The variance of each share that unlisted values which collide add; flat."""
    more = np.zeros(found.free.shape)
    if all(part.closed for part in metric.parts):
        return more.ravel()
    alone = spread(alike, found)
    for side, (part, records, which) in enumerate(zip(metric.parts, rows, (pairs.i, pairs.j), strict=True)):
        if not part.closed:
            more += excess(pairs, numbers(part, records, 0)[which], found, alone, side)
    return more.ravel()


def _slope(question: Question, found: Fit, n: int) -> FloatArray:
    """How much the estimated variance of a count rises with the count; 0 where there are very many reports.

    A report that moves a count by i moves its estimated variance by i**2, so their errors go together as the third
    moment of i to the second. What drawing devices adds to the variance of a share p, p (1 - p), is taken off and rises
    by 1 - 2 p.
    """
    second = n * np.diag(found.covariance).reshape(found.free.shape)
    slope = found.step.third_moment(question) / second - (1 - 2 * found.likeliest)
    return np.asarray(np.nan_to_num(slope, nan=0.0))


def _notes(more: FloatArray, own: FloatArray, n: int) -> Iterator[str]:
    if (more > own).any():
        yield (
            "most of some errors comes from values that are not listed and collide with candidates; more reports do "
            "not lessen it: list the frequent ones among them, or give the part more hashes"
        )
    if n < FEW_A_CELL * own.size:
        yield (
            f"fewer than {FEW_A_CELL} reports a cell: intervals and p-values are those of a normal distribution, "
            "which is a rough one for so few"
        )
