from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from hubbub_client.backoff import BASE_MS, CAP_MS, bound_ms, wait_ms


@given(st.integers(0, 10**6))
def test_the_bound_doubles_up_to_the_cap(attempt: int) -> None:
    """The longest wait is the base times two to the attempt, and never above the cap."""
    assert bound_ms(attempt) == min(CAP_MS, BASE_MS * 2 ** min(attempt, 40))


@given(st.integers(0, 30), st.binary(min_size=8, max_size=8))
def test_every_wait_is_within_its_bound(attempt: int, noise: bytes) -> None:
    """A wait is a whole number of milliseconds from 0 to the bound, whatever the random bytes are."""
    assert 0 <= wait_ms(attempt, lambda count: noise[:count]) <= bound_ms(attempt)


def test_the_jitter_is_full() -> None:
    """The lowest random number gives no wait, the highest the whole bound, and the middle one half of it."""
    assert wait_ms(3, lambda _: bytes(8)) == 0
    assert wait_ms(3, lambda _: b"\xff" * 8) == bound_ms(3)
    assert wait_ms(3, lambda _: bytes(7) + b"\x80") == bound_ms(3) // 2
