"""Devices tell what went wrong with them, and nothing else."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hubbub_collector.errors import Refusal
from hubbub_collector.troubles import BODY, MAX_COUNT, MOST, REASONS, read_troubles
from hubbub_firmware import trouble

from tests.collector.serving import FakeStore, serving
from tests.collector.uploads import load


def test_a_board_and_a_collector_have_one_list() -> None:
    """What a board may report is what a collector takes, reasons and counts alike."""
    assert REASONS == trouble.REASONS
    assert MAX_COUNT == trouble.MOST


async def test_troubles_are_counted_and_not_stored(tmp_path: Path) -> None:
    """Each reason is added up in the metrics; nothing of it reaches the store."""
    store = FakeStore()
    async with serving(load(tmp_path), store) as served:
        for counts in ({"entropy": 2, "clock": 1}, {"clock": 5}):
            async with served.session.post(f"{served.url}/v1/troubles", json=counts) as answer:
                assert (answer.status, await answer.json()) == (200, {"status": "counted"})
        values = served.metrics()
        assert values['hubbub_device_troubles_total{reason="entropy"}'] == 2
        assert values['hubbub_device_troubles_total{reason="clock"}'] == 6
        async with served.session.post(f"{served.url}/v1/troubles", data=b"{}") as answer:
            assert answer.status == 415
        async with served.session.post(f"{served.url}/v1/troubles", json={"clock": "x" * BODY}) as answer:
            assert answer.status == 413
    assert store.bodies == []


async def test_troubles_have_a_rate_of_their_own(tmp_path: Path) -> None:
    """A flood of troubles is answered 429 with Retry-After, whatever --rate says, and reports are not touched."""
    async with serving(load(tmp_path), FakeStore()) as served:
        answers = []
        for _ in range(2000):
            async with served.session.post(f"{served.url}/v1/troubles", json={"clock": 1}) as answer:
                answers.append(answer.status)
                if answer.status == 429:
                    assert int(answer.headers["Retry-After"]) >= 1
                    break
        assert answers[-1] == 429
        assert set(answers[:-1]) == {200}
        assert len(answers) > 200
        async with served.session.post(f"{served.url}/v1/reports", data=b"") as answer:
            assert answer.status == 415


@pytest.mark.parametrize(
    ("body", "code"),
    [
        (b"", "not-json"),
        (b"{", "not-json"),
        (b'{"clock": 1} x', "not-json"),
        (b'{"clock": 1, "clock": 2}', "not-json"),
        (b"[" * 1000, "not-json"),
        (b"\xff", "not-json"),
        (b"[]", "troubles-shape"),
        (b"{}", "troubles-shape"),
        (b"7", "troubles-shape"),
        (b'{"favourite_emoji": 1}', "troubles-reason"),
        (b'{"clock": 0}', "troubles-count"),
        (b'{"clock": -1}', "troubles-count"),
        (b'{"clock": 1.0}', "troubles-count"),
        (b'{"clock": true}', "troubles-count"),
        (b'{"clock": "1"}', "troubles-count"),
        (b'{"clock": 4294967296}', "troubles-count"),
        (b'{"clock": NaN}', "troubles-count"),
    ],
)
def test_what_is_no_list_of_troubles_is_refused(body: bytes, code: str) -> None:
    """Anything but an object of known reasons, each once, with whole counts above 0, is 400 and counts nothing."""
    with pytest.raises(Refusal) as refused:
        read_troubles(body)
    assert (refused.value.status, refused.value.code) == (400, code)


@given(st.dictionaries(st.sampled_from(REASONS), st.integers(1, (1 << 32) - 1), min_size=1))
def test_one_device_adds_no_more_than_the_most(counts: dict[str, int]) -> None:
    """A count is taken as it is up to the most that one request adds, and as that above."""
    assert read_troubles(json.dumps(counts).encode()) == {reason: min(n, MOST) for reason, n in counts.items()}


@given(st.binary(max_size=200))
def test_no_body_is_a_defect(body: bytes) -> None:
    """Whatever the body is, it is counts or a refusal."""
    try:
        found = read_troubles(body)
    except Refusal:
        return
    assert set(found) <= set(REASONS)
