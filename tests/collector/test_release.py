"""From quarantine into the sealed data, once a registry knows the metric: each upload exactly once, only what fits."""

from __future__ import annotations

import os
from collections import Counter
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hubbub_collector.layout import DataDirectory
from hubbub_collector.seal import SealReport, release, seal
from hubbub_collector.seal import sort as sorting
from hubbub_registry import Registry

from tests.collector.uploads import (
    ALL,
    DAY,
    NOW,
    TODAY,
    batch,
    counts,
    fill,
    load,
    park,
    quarantined,
    records,
    sealed,
    split,
    upload,
)  # fmt: skip


def without(registry: Registry, name: str) -> Registry:
    """The registry as it was before it had metric ``name``."""
    return replace(registry, metrics={key: metric for key, metric in registry.metrics.items() if key != name})


def test_what_was_quarantined_is_sealed_once_the_registry_knows_it(registry: Registry, data: DataDirectory) -> None:
    """A seal with the older registry leaves a batch where it is; one with the newer seals it and empties quarantine."""
    sketch, choice = registry.metric("sketch"), registry.metric("choice")
    content = records(sketch, 3)
    park(data, upload(batch(sketch, content[: len(content) // 3]), batch(sketch, content[len(content) // 3 :])))
    park(data, upload(batch(choice, b"\x01")), worker=1)
    older = seal(without(registry, "sketch"), data, ALL, NOW)
    assert (older.released, older.quarantined) == (1, 2)
    newer = seal(registry, data, ALL, NOW)
    assert (newer.released, newer.released_repeats, newer.quarantined, newer.unfit) == (1, 0, 0, {})
    assert counts(sealed(data, sketch)) == Counter(split(content, sketch))
    assert counts(sealed(data, choice)) == {b"\x01": 1}
    assert quarantined(data) == 0


@pytest.mark.parametrize("first", ["quarantined", "accepted"])
def test_an_upload_that_was_quarantined_and_accepted_counts_once(
    registry: Registry, data: DataDirectory, first: str
) -> None:
    """Whichever attempt of an upload came first, on whichever worker, and even if one was sealed before: once."""
    choice = registry.metric("choice")
    body = upload(batch(choice, b"\x01\x02"))
    other = upload(batch(choice, b"\x03"))
    attempts = ["quarantined", "accepted"]
    for attempt in attempts if first == "quarantined" else attempts[::-1]:
        if attempt == "quarantined":
            park(data, body)
        else:
            fill(data, [body], worker=1)
        seal(registry, data, ALL, NOW)
    park(data, body)
    park(data, body, worker=2)
    fill(data, [body, other])
    report = seal(registry, data, ALL, NOW)
    assert (report.released, report.released_repeats, report.repeats) == (2, 2, 1)
    assert counts(sealed(data, choice)) == {b"\x01": 1, b"\x02": 1, b"\x03": 1}


def test_what_does_not_fit_its_metric_stays_in_quarantine(registry: Registry, data: DataDirectory) -> None:
    """Records of a wrong length or out of range, and periods that cannot be, are counted by reason, kept, and nothing
    of them is sealed, also where the same upload has a batch that fits.
    """
    sketch, choice = registry.metric("sketch"), registry.metric("choice")
    park(data, upload(batch(choice, b"\x07"), batch(choice, b"\x01")))
    park(data, upload(batch(sketch, b"odd")))
    park(data, upload(batch(choice, b"\x01", TODAY + 3)))
    park(data, upload(batch(choice, b"\x01", (1 << 53) - 1)))
    for released in (1, 0):
        report = seal(registry, data, ALL, NOW)
        assert report.released == released
        assert report.unfit == {"record-range": 1, "record-length": 1, "period-too-early": 2}
        assert report.quarantined == 4
    assert counts(sealed(data, choice)) == {b"\x01": 1}
    assert counts(sealed(data, sketch)) == {}
    report = seal(registry, data, ALL, NOW + 3 * DAY)
    assert (report.released, report.unfit["period-too-early"]) == (1, 1)


def test_a_batch_from_long_ago_is_taken_while_no_id_was_forgotten(registry: Registry, data: DataDirectory) -> None:
    """A registry that comes months late still finds what was quarantined; only where ids of that period were already
    forgotten, so that a repeat could not be told, does a batch stay.
    """
    choice = registry.metric("choice")
    body = upload(batch(choice, b"\x01", TODAY - 100))
    park(data, body)
    assert seal(without(registry, "choice"), data, ALL, NOW).released == 0
    assert seal(registry, data, ALL, NOW).released == 1
    park(data, body)
    park(data, upload(batch(choice, b"\x01", TODAY)))
    report = seal(registry, data, ALL, NOW)
    assert (report.released, report.unfit) == (1, {"period-too-late": 1})
    assert counts(sealed(data, choice)) == {b"\x01": 2}


@settings(max_examples=12)
@given(
    st.lists(st.tuples(st.integers(0, 3), st.sampled_from(["park", "fill", "seal"]), st.integers(0, 1)), max_size=12)
)
def test_any_order_of_attempts_counts_each_upload_once(
    tmp_path_factory: pytest.TempPathFactory, story: list[tuple[int, str, int]]
) -> None:
    """However uploads are quarantined, accepted and sealed, in whatever order and on whichever worker: once each."""
    folder = tmp_path_factory.mktemp("story")
    registry, data = load(folder), DataDirectory(folder / "data")
    choice = registry.metric("choice")
    bodies = [upload(batch(choice, bytes([number]))) for number in range(4)]
    data.intake.mkdir(parents=True)
    for number, deed, worker in story:
        if deed == "park":
            park(data, bodies[number], worker)
        elif deed == "fill":
            fill(data, [bodies[number]], worker=worker)
        else:
            seal(registry, data, ALL, NOW)
    seal(registry, data, ALL, NOW)
    assert counts(sealed(data, choice)) == {bytes([n]): 1 for n, deed, _ in story if deed != "seal"}


def test_a_large_quarantine_is_taken_in_pieces(
    registry: Registry, data: DataDirectory, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is more than a transaction takes goes over in several, each deleted before the next, together once."""
    sketch = registry.metric("sketch")
    contents = [records(sketch, 4) for _ in range(30)]
    for content in contents:
        park(data, upload(*(batch(sketch, record) for record in split(content, sketch))))
    monkeypatch.setattr(release, "TRANSACTION_BYTES", 3 * len(contents[0]))
    steps: list[str] = []
    report = seal(registry, data, ALL, NOW, steps.append)
    assert steps.count("released") == steps.count("cleared") == 10
    assert (report.released, report.released_repeats) == (30, 0)
    assert counts(sealed(data, sketch)) == Counter(split(b"".join(contents), sketch))
    assert sorting.TRANSACTION_BYTES == 8 << 20


def test_an_empty_registry_takes_nothing(registry: Registry, data: DataDirectory) -> None:
    """With no metric at all nothing leaves the quarantine."""
    park(data, upload(batch(registry.metric("choice"), b"\x01"), id=os.urandom(16)))
    report: SealReport = seal(replace(registry, metrics={}), data, ALL, NOW)
    assert (report.released, report.quarantined) == (0, 1)
