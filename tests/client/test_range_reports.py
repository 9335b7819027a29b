"""A Reporter over metrics of integers: what it takes, and what one value costs over many reports."""

from __future__ import annotations

from pathlib import Path

import pytest

from hubbub_client import Answer, MemoryStorage, Reporter

from tests.registries import registry_of


class Nowhere:
    """A transport that is never asked."""

    def send(self, body: bytes) -> Answer:
        raise AssertionError(f"{len(body)} bytes were sent")


@pytest.mark.parametrize("mechanism", ["one-bit-mean", "d-bit-flip"])
def test_a_value_outside_the_range_costs_nothing(tmp_path: Path, mechanism: str) -> None:
    """Integers past a bound, and what is no integer, are counted and spend nothing; an int or its text is taken."""
    plan = registry_of(tmp_path, m={"mechanism": mechanism, "low": -5, "high": 40, "reports_per_period": 9}).plan
    with Reporter(plan, MemoryStorage(), Nowhere()) as reporter:
        for value in (-6, 41, "seven", "07", True):
            assert not reporter.record("m", value)
        assert reporter.counts == {"not-in-values": 5}
        assert not reporter.record("m", 1.5)
        assert reporter.counts["type"] == 1
        assert reporter.spent() == 0
        assert all(reporter.record("m", value) for value in (-5, "40", b"0"))


@pytest.mark.parametrize("mechanism", ["one-bit-mean", "d-bit-flip"])
def test_one_value_costs_what_the_plan_charges(tmp_path: Path, mechanism: str) -> None:
    """300 reports of one value cost the permanent bound and no more, and each of the first ones what the plan lists."""
    plan = registry_of(tmp_path, m={"mechanism": mechanism, "low": 0, "high": 40, "reports_per_period": 1000}).plan
    charges = plan.metric("m").charges
    with Reporter(plan, MemoryStorage(), Nowhere()) as reporter:
        for charge in charges:
            assert reporter.record("m", 7)
            assert reporter.spent() == charge
        assert all(reporter.record("m", 7) for _ in range(300))
        assert reporter.spent() == charges[-1]
