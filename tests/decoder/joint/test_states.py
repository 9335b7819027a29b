from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from hubbub_client.records import pack
from hubbub_decoder import State, estimate, estimate_joint, merge, partial
from hubbub_decoder.errors import ArgumentError, CandidateError, EstimateError, RecordError, StateError
from hubbub_decoder.joint import distinct
from hubbub_decoder.joint.distinct import records_of
from hubbub_decoder.mechanisms import mechanism
from hubbub_decoder.screen import Screen

from tests.decoder.reports import as_records, random_records
from tests.joints import BOOLEAN, LETTERS, PARTS, joint, part, report
from tests.registries import metric_of


@pytest.mark.parametrize("first", ["randomized-response", "rappor, bloom", "hadamard-count-mean-sketch"])
def test_states_of_parts_merge_to_the_state_of_all(tmp_path: Path, first: str) -> None:
    """In any order and grouping, through bytes or not, states merge to the one of all records; and those come back."""
    metric = joint(tmp_path, part(first, share=0.75), part("unary-encoding"))
    records = random_records(metric, 500, 1)
    cut = [records[:100], records[100:100], records[100:350], records[350:]]
    a, b, c, d = (State.from_bytes(partial(metric, each).to_bytes()) for each in cut)
    whole = partial(metric, records)
    for total in (merge(merge(merge(a, b), c), d), merge(merge(d, b), merge(c, a))):
        assert total.n == whole.n == 500
        assert all(np.array_equal(total.arrays[name], whole.arrays[name]) for name in ("words", "counts"))
    rows, counts = records_of(metric, whole)
    again = np.repeat(rows, counts, axis=0)
    assert sorted(map(bytes, again)) == sorted(map(bytes, records))
    assert len({bytes(row) for row in rows}) == len(rows)


def test_records_of_several_words_are_told_apart(tmp_path: Path) -> None:
    """Records longer than a word that differ in one byte alone are different records, wherever the byte is."""
    metric = joint(tmp_path, part("count-mean-sketch", width=128), BOOLEAN)
    size = metric.device.record_bytes
    assert size > 16
    records = np.zeros((size, size), np.uint8)
    for i in range(size - 2):
        records[i, i] = 1
    assert len(partial(metric, np.repeat(records, 3, axis=0)).arrays["counts"]) == size - 1


def test_states_of_other_definitions_do_not_merge(tmp_path: Path) -> None:
    """States of two joint metrics, and a state and another's metric, are refused."""
    one, other = (joint(tmp_path, part("randomized-response"), BOOLEAN, epsilon=epsilon) for epsilon in (2, 4))
    states = [partial(metric, random_records(metric, 5, 1)) for metric in (one, other)]
    with pytest.raises(StateError, match="do not merge"):
        merge(*states)
    with pytest.raises(StateError, match="decode with the registry"):
        estimate_joint(one, states[1])


def test_a_state_that_grows_past_its_bound_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A state of too many distinct reports is an error that says what to do, whether it is made or merged."""
    metric = joint(tmp_path, part("local-hashing", hashes=1 << 16), BOOLEAN)
    records = random_records(metric, 2000, 1)
    half = [partial(metric, records[:1000]), partial(metric, records[1000:])]
    monkeypatch.setattr(distinct, "MOST_BYTES", 16 * 1500)
    with pytest.raises(EstimateError, match=r"distinct reports.*decode fewer periods"):
        partial(metric, records)
    with pytest.raises(EstimateError, match=r"distinct reports.*decode fewer periods"):
        merge(*half)


@pytest.mark.parametrize(
    "first", [name for name in PARTS if name in ("randomized-response", "projective-geometry-response")]
)
def test_records_that_no_device_sends_are_refused(tmp_path: Path, first: str) -> None:
    """A field past its domain, in either part or between them, is an error with its name."""
    metric = joint(tmp_path, part(first), part("randomized-response"))
    fields = metric.device.fields
    for bad, (name, bits, domain) in enumerate(fields):
        values = [domain or 0 if at == bad else 0 for at in range(len(fields))]
        assert domain
        assert domain < 1 << bits
        with pytest.raises(RecordError, match=f"record's {name} is not below {domain}"):
            partial(metric, as_records([pack(fields, values)]))
    with pytest.raises(RecordError, match="padding is not below 1"):
        partial(metric, as_records([bytes([0, 128])]))
    with pytest.raises(RecordError, match="shape"):
        partial(metric, as_records([bytes(3)]))


def test_what_cannot_be_asked_is_refused(tmp_path: Path) -> None:
    """No reports, another kind of metric, candidates where there are none to name, and slips are errors that say so."""
    metric = joint(tmp_path, part("local-hashing"), BOOLEAN)
    state = partial(metric, random_records(metric, 200, 1))
    empty = partial(metric, random_records(metric, 0, 1))
    with pytest.raises(EstimateError, match="no reports"):
        estimate_joint(metric, empty, LETTERS[:2])
    with pytest.raises(CandidateError, match=r"m\.first: no candidates"):
        estimate_joint(metric, state)
    with pytest.raises(CandidateError, match=r"m\.second: it reports nothing but its 2 values"):
        estimate_joint(metric, state, LETTERS[:2], ["true"])
    with pytest.raises(CandidateError, match="stands for all values"):
        estimate_joint(metric, state, ["a", "(other)"])
    with pytest.raises(CandidateError, match="repeats"):
        estimate_joint(metric, state, ["a", "a"])
    with pytest.raises(EstimateError, match=r"a table of 100,001 x 2 is more than .* list fewer candidates"):
        estimate_joint(metric, state, [f"value {i}" for i in range(100_000)])
    with pytest.raises(EstimateError, match="use estimate_joint"):
        estimate(metric, state, LETTERS)
    with pytest.raises(EstimateError, match="use estimate_joint"):
        mechanism("joint").estimate(metric, state, LETTERS)
    with pytest.raises(ArgumentError, match="estimate_joint: metric"):
        estimate_joint("m", state)  # type: ignore[arg-type]
    with pytest.raises(ArgumentError, match="estimate_joint"):
        estimate_joint(metric, "state")  # type: ignore[arg-type]
    single = metric_of(tmp_path, "randomized-response")
    with pytest.raises(EstimateError, match="reports one value, not two"):
        estimate_joint(single, partial(single, random_records(single, 5, 1)))


@pytest.mark.parametrize("n", [1, 2, 7, 5000])
@pytest.mark.parametrize("open_side", [False, True])
def test_few_reports_and_equal_ones_have_errors(tmp_path: Path, n: int, open_side: bool) -> None:
    """One report, and many that are all equal, are as uncertain as the noise of reports of the pair they speak for."""
    first = part("local-hashing", hashes=1) if open_side else part("randomized-response")
    metric = joint(tmp_path, first, BOOLEAN, epsilon=2)
    counts = np.zeros((5, 2), np.int64)
    counts[1, 0] = 1
    records = report(metric, LETTERS, ["true", "false"], counts, 1)
    found = estimate_joint(metric, partial(metric, np.repeat(records, n, 0)), LETTERS[:1] if open_side else None)
    at = np.unravel_index(np.argmax(found.count), found.count.shape)
    assert found.count.sum() == pytest.approx(n)
    assert found.likeliest[at] == pytest.approx(n)
    # Equal reports have no spread of their own; what is left is the noise of n reports of the pair.
    alone = estimate_joint(metric, partial(metric, records), LETTERS[:1] if open_side else None)
    assert found.std_error == pytest.approx(alone.std_error * n**0.5)
    assert (found.std_error > 0.5 * n**0.5).all()
    assert all(np.isfinite(figures).all() for figures in (found.low, found.high, found.p_value, found.independence))
    assert ("normal" in " ".join(found.notes)) == (n < 100)
    assert "nan" not in found.to_arrow().schema.metadata[b"hubbub"].decode().lower()


def test_a_screen_looks_at_both_parts(tmp_path: Path) -> None:
    """Honest reports of pairs pass, and made-up ones show by the part whose records no device sends so often."""
    metric = joint(tmp_path, part("local-hashing", hashes=64), part("unary-encoding"))
    counts = np.full((5, 5), 100)
    honest = report(metric, LETTERS, LETTERS, counts, 3)
    for change, what in (((0, 0), "m.first: hash index"), ((1, 31), "m.second: number of ones")):
        screen, suspicious = Screen(metric), Screen(metric)
        screen.add(honest)
        assert not screen.verdict().suspicious
        made_up = honest.copy()
        made_up[:400, change[0]] = change[1]
        suspicious.add(made_up)
        assert suspicious.verdict().suspicious
        assert suspicious.verdict().what == what
