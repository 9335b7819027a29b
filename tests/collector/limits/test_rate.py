"""The rate of one source, and how sources are told apart without keeping an address."""

from __future__ import annotations

from pathlib import Path
from typing import cast
from unittest.mock import Mock

import pytest
from aiohttp import web
from aiohttp.test_utils import make_mocked_request
from hypothesis import given
from hypothesis import strategies as st
from multidict import CIMultiDict

from hubbub_collector.access.gate import Gate
from hubbub_collector.errors import Refusal
from hubbub_collector.limits.rate import Rate, RateLimit, parse_rate
from hubbub_collector.limits.source import ROTATE_SECONDS, Sources

from tests.collector.serving import FakeStore, serving
from tests.collector.uploads import batch, load, upload


class Clock:
    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


def spends(limit: RateLimit, source: str, times: int) -> int:
    """How many of ``times`` requests pass."""
    passed = 0
    refusals: list[Refusal] = []
    for _ in range(times):
        try:
            limit.spend(source)
            passed += 1
        except Refusal as refused:
            refusals.append(refused)
    assert all((refused.status, refused.code) == (429, "rate") for refused in refusals)
    assert all(refused.retry_after is not None and refused.retry_after >= 1 for refused in refusals)
    return passed


def test_a_source_may_send_its_count_at_once_and_then_at_its_rate() -> None:
    """A full bucket holds the count, refills evenly, never beyond the count, and others have their own."""
    clock = Clock()
    limit = RateLimit(Rate(5, 10), clock)
    assert spends(limit, "a", 20) == 5
    assert spends(limit, "b", 20) == 5
    clock.now += 2
    assert spends(limit, "a", 20) == 1
    clock.now += 1000
    assert spends(limit, "a", 20) == 5


@given(
    st.integers(1, 20), st.integers(1, 60),
    st.lists(st.tuples(st.floats(0, 5), st.integers(0, 30)), min_size=1, max_size=30),
)  # fmt: skip
def test_no_stretch_of_time_lets_more_through(count: int, seconds: int, steps: list[tuple[float, int]]) -> None:
    """However requests are spread, at most the count and what the time since the first refills pass; and one that waits
    as long as Retry-After says passes.
    """
    clock = Clock()
    limit = RateLimit(Rate(count, seconds), clock)
    began, passed = clock.now, 0
    for wait, times in steps:
        clock.now += wait
        passed += spends(limit, "a", times)
        assert passed <= count + (clock.now - began) * count / seconds + 1e-6
    try:
        limit.spend("a")
    except Refusal as refused:
        clock.now += refused.retry_after or 0
        limit.spend("a")


def test_the_table_is_bounded() -> None:
    """However many sources come, no more are remembered than the table holds; who is forgotten gets more, not less."""
    limit = RateLimit(Rate(1, 60), Clock(), table=100)
    for number in range(1000):
        assert spends(limit, str(number), 2) == 1
        assert len(limit) <= 100
    assert spends(limit, "999", 1) == 0
    assert spends(limit, "0", 1) == 1


@pytest.mark.parametrize("text", ["", "5", "0/s", "5/w", "-1/s", "1.5/s", "5/s ", "5 / s", "1000000000000/s"])
def test_what_is_no_rate_is_refused(text: str) -> None:
    """A rate is a whole number above 0, a slash and a unit, and nothing else."""
    with pytest.raises(ValueError, match="such as 50/s"):
        parse_rate(text)


def request(peer: str, *forwarded: str) -> web.BaseRequest:
    """A request from ``peer`` with these X-Forwarded-For lines."""
    headers = CIMultiDict([("X-Forwarded-For", line) for line in forwarded])
    found = make_mocked_request("POST", "/v1/reports", headers)
    transport = cast(Mock, found.transport)
    transport.get_extra_info.side_effect = lambda name, default=None: (peer, 1) if name == "peername" else default
    return found


def test_a_header_is_believed_from_trusted_proxies_only() -> None:
    """X-Forwarded-For from anybody else changes nothing; from a trusted proxy the last address that is no proxy counts,
    and what the client wrote to the left of it does not.
    """
    sources = Sources(["10.0.0.0/8", "fd00::/8"])
    alice = sources.of(request("192.0.2.1"))
    assert sources.of(request("192.0.2.2")) != alice
    assert sources.of(request("192.0.2.1", "192.0.2.2")) == alice
    assert sources.of(request("10.0.0.1", "192.0.2.1")) == alice
    assert sources.of(request("10.0.0.1", "198.51.100.7, 192.0.2.1")) == alice
    assert sources.of(request("10.0.0.1", "198.51.100.7", "192.0.2.1, 10.9.9.9")) == alice
    assert sources.of(request("fd00::1", "192.0.2.1")) == alice
    assert sources.of(request("::ffff:192.0.2.1")) == alice
    proxy = sources.of(request("10.0.0.1"))
    assert sources.of(request("10.0.0.1", "nonsense")) == proxy
    assert sources.of(request("10.0.0.1", "192.0.2.1, ")) == proxy
    assert Sources().of(request("10.0.0.1", "192.0.2.1")) != Sources().of(request("192.0.2.1"))


def test_an_ipv6_customer_is_one_source() -> None:
    """All addresses of one /64 are one source, and another /64 is another."""
    sources = Sources()
    assert sources.of(request("2001:db8::1")) == sources.of(request("2001:db8::ffff:1"))
    assert sources.of(request("2001:db8::1%eth0")) == sources.of(request("2001:db8::2"))
    assert sources.of(request("2001:db8::1")) != sources.of(request("2001:db8:0:1::1"))


def test_a_source_has_another_name_after_an_hour() -> None:
    """The key is thrown away after an hour, what was kept under its hashes is forgotten, and no name is an address."""
    clock = Clock()
    rotated: list[None] = []
    sources = Sources(clock=clock, rotated=lambda: rotated.append(None))
    before = sources.of(request("192.0.2.1"))
    assert len(before) == 8
    clock.now += ROTATE_SECONDS - 1
    assert (sources.of(request("192.0.2.1")), rotated) == (before, [])
    clock.now += 1
    assert sources.of(request("192.0.2.1")) != before
    assert rotated == [None]
    assert Sources().of(request("192.0.2.1")) != Sources().of(request("192.0.2.1"))


async def test_a_source_that_sends_too_much_gets_429(tmp_path: Path) -> None:
    """Past its rate a source gets 429 and Retry-After for reports and troubles alike, and nothing of it is stored."""
    registry = load(tmp_path)
    limit = RateLimit(Rate(2, 3600))
    store = FakeStore()
    body = upload(batch(registry.metric("choice"), b"\x01"))
    async with serving(registry, store, gate=Gate((Sources(), limit))) as served:
        assert [(await served.post(body))[0] for _ in range(2)] == [200, 200]
        status, said, headers = await served.post(body)
        assert (status, said["error"]) == (429, "rate")
        assert 1700 < int(headers["Retry-After"]) <= 1800
        async with served.session.post(f"{served.url}/v1/troubles", json={"clock": 1}) as answer:
            assert answer.status == 429
        async with served.session.get(f"{served.url}/healthz") as answer:
            assert answer.status == 200
    assert len(store.bodies) == 2
