from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from hubbub_decoder.counting.records import Records
from hubbub_decoder.joint.likelihood import side_of
from hubbub_decoder.joint.outputs import every

from tests.decoder.joint.chances import chances, chances_of_any
from tests.decoder.reports import as_records
from tests.joints import BOOLEAN, LETTERS, PARTS, joint, part


@pytest.mark.parametrize("name", PARTS)
def test_likelihoods_are_the_exact_chances_of_records(tmp_path: Path, name: str) -> None:
    """Across candidates, and the class of all others, a record's likelihoods stand as its exact chances do."""
    own = joint(tmp_path, part(name, share=0.75), BOOLEAN).parts[0]
    every = [chances(own, value) for value in LETTERS]
    if not own.closed:
        every.append(chances_of_any(own))
    records = sorted(set().union(*every))
    exact = np.array([[float(each.get(record, 0)) for each in every] for record in records])
    found = side_of(own, as_records(records), LETTERS).at(slice(None))
    ratio = exact / found
    assert ratio == pytest.approx(np.broadcast_to(ratio[:, :1], ratio.shape), rel=1e-12)


@pytest.mark.parametrize("name", PARTS)
def test_every_output_is_gone_through_with_its_chance(tmp_path: Path, name: str) -> None:
    """The records that are gone through are all that a part can send, with their exact chances."""
    own = joint(tmp_path, part(name, share=0.75), BOOLEAN).parts[0]
    found = every(own, LETTERS)
    exact = {record: float(chance) for record, chance in chances(own, "c").items()}
    assert sorted(found.chances[:, 2]) == pytest.approx(sorted(exact.values()), rel=1e-12)
    sums = (found.side.at(slice(None)) * found.weights[:, np.newaxis]).sum(axis=0)
    assert sums == pytest.approx(np.full(len(sums), sums[0]), rel=1e-12)


@pytest.mark.parametrize("name", ["local-hashing", "rappor, bloom", "count-mean-sketch"])
def test_likelihoods_of_many_records_are_those_of_each(
    tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Records that are taken a few at a time have the likelihoods that they have alone, and none have none."""
    own = joint(tmp_path, part(name, share=0.75), BOOLEAN).parts[0]
    records: Records = as_records(list(chances(own, "a")))
    whole = side_of(own, records, LETTERS).at(slice(None))
    monkeypatch.setattr("hubbub_decoder.joint.likelihood._CELLS_AT_ONCE", 40)
    assert np.array_equal(side_of(own, records, LETTERS).at(slice(None)), whole)
    assert side_of(own, records[:0], LETTERS).at(slice(None)).shape == (0, 6)
