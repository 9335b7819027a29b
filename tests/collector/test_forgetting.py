"""When upload ids are forgotten: never so early that a repeat counts, whatever the clocks and ``--late`` did."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from hubbub_collector.layout import DataDirectory
from hubbub_collector.seal import SealOptions, seal
from hubbub_collector.seal.sorted_store import SortedStore
from hubbub_collector.sqlite_store import SqliteStore
from hubbub_collector.upload import Validator
from hubbub_collector.window import OutsideWindow, Window
from hubbub_registry import Metric, Registry

from tests.collector.uploads import ALL, DAY, NOW, TODAY, batch, counts, fill, load, sealed, upload

MONTH = 40 * DAY


def offer(registry: Registry, data: DataDirectory, body: bytes, now: float, late: int = 28 * DAY) -> bool:
    """Sends an upload to a collector whose clock says ``now``; whether it is acknowledged."""
    store = SqliteStore(data.worker_store(0), late)
    try:
        validator = Validator(registry.metrics.values(), Window(late=late))
        validator.closed = store.closed()
        validator.check(body, now)
        store.commit([body])
    except OutsideWindow:
        return False
    finally:
        store.close()
    return True


def test_a_clock_that_is_ahead_for_one_run_forgets_nothing(
    registry: Registry, data: DataDirectory, choice: Metric
) -> None:
    """The next run, with the right clock, knows every id, and accepts again what the wrong one had closed."""
    body = upload(batch(choice, b"\x01"))
    assert offer(registry, data, body, NOW)
    seal(registry, data, ALL, NOW)
    seal(registry, data, ALL, NOW + MONTH)
    assert not offer(registry, data, body, NOW)
    seal(registry, data, ALL, NOW)
    assert offer(registry, data, body, NOW)
    report = seal(registry, data, ALL, NOW)
    assert (report.batches, report.repeats, report.overdue) == (1, 1, 0)
    assert counts(sealed(data, choice)) == {b"\x01": 1}


def test_what_is_forgotten_is_refused_ever_after(registry: Registry, data: DataDirectory, choice: Metric) -> None:
    """Ahead for two runs, ids are forgotten: a collector refuses those periods, whatever its clock and its --late, in
    an old store and in a new one; and what got past it all the same is kept aside, shown, and counted never.
    """
    body = upload(batch(choice, b"\x01"))
    assert offer(registry, data, body, NOW)
    seal(registry, data, ALL, NOW)
    for _ in range(2):
        seal(registry, data, ALL, NOW + MONTH)
    seal(registry, data, ALL, NOW)
    for late in (28 * DAY, 400 * DAY):
        assert not offer(registry, data, body, NOW, late)
        assert not offer(registry, data, upload(batch(choice, b"\x02")), NOW + DAY, late)
    fill(data, [body], worker=3)
    for _ in range(2):
        report = seal(registry, data, ALL, NOW)
        assert (report.overdue, report.groups, report.damaged) == (1, [], False)
    assert counts(sealed(data, choice)) == {b"\x01": 1}


def test_late_that_is_raised_opens_no_period_whose_ids_are_gone(
    registry: Registry, data: DataDirectory, choice: Metric
) -> None:
    """With 28 days ids are forgotten; a collector that then takes 90 refuses those periods, and takes those whose ids
    are there for 90 days from then on.
    """
    old, young = (upload(batch(choice, b"\x01", TODAY - age)) for age in (40, 10))
    for body, age in ((old, 40), (young, 10)):
        assert offer(registry, data, body, NOW - age * DAY)
        seal(registry, data, ALL, NOW - age * DAY)
    for _ in range(2):
        seal(registry, data, ALL, NOW)
    assert not offer(registry, data, old, NOW, 90 * DAY)
    for later in (20, 60, 60):
        seal(registry, data, ALL, NOW + later * DAY)
    assert offer(registry, data, young, NOW + 60 * DAY, 90 * DAY)
    report = seal(registry, data, ALL, NOW + 60 * DAY)
    assert (report.repeats, report.overdue) == (1, 0)


def test_what_waits_is_not_overdue(registry: Registry, data: DataDirectory, choice: Metric) -> None:
    """A repeat of an upload that is held back is a repeat, also when its period is long closed."""
    body = upload(batch(choice, b"\x01"))
    fill(data, [body])
    held = SealOptions(minimum=5, everything=True)
    for _ in range(3):
        seal(registry, data, held, NOW + MONTH)
    fill(data, [body])
    report = seal(registry, data, held, NOW + MONTH)
    assert (report.repeats, report.overdue) == (1, 0)
    store = SortedStore(data.sorted_store)
    assert [(one.uploads, one.record_bytes) for one in store.waiting()] == [(1, 1)]
    store.close()


DEEDS = st.one_of(
    st.tuples(st.just("offer"), st.integers(0, 7), st.sampled_from([1, 28, 90])),
    st.tuples(st.just("seal"), st.just(0), st.just(0)),
)


@settings(max_examples=15, deadline=None)
@given(st.lists(st.tuples(DEEDS, st.integers(-100, 100)), max_size=25))
@example([(("seal", 0, 0), 0), (("seal", 0, 0), 0), (("offer", 0, 90), 0)])  # sealed before there was a collector
def test_however_clocks_jump_each_acknowledged_upload_counts_once(
    tmp_path_factory: pytest.TempPathFactory, story: list[tuple[tuple[str, int, int], int]]
) -> None:
    """Uploads offered and sent again at any clock of the collector, with any --late, between runs at any clock of the
    sealer: each that was acknowledged is counted exactly once, and none is kept aside.
    """
    folder = tmp_path_factory.mktemp("story")
    registry, data = load(folder), DataDirectory(folder / "data")
    choice = registry.metric("choice")
    bodies = [upload(batch(choice, bytes([number % 5]), TODAY + 12 * (number - 4))) for number in range(8)]
    data.intake.mkdir(parents=True)
    acknowledged: set[int] = set()
    for (deed, number, late), days in story:
        if deed == "seal":
            seal(registry, data, ALL, NOW + days * DAY)
        elif offer(registry, data, bodies[number], NOW + days * DAY, late * DAY):
            acknowledged.add(number)
    report = seal(registry, data, ALL, NOW)
    assert report.overdue == 0
    assert counts(sealed(data, choice)) == Counter(bytes([number % 5]) for number in acknowledged)
