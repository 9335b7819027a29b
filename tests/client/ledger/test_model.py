"""The ledger against a model in rational numbers, over random lives of a device."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from functools import cache
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hubbub_client import Reporter
from hubbub_client.charges import charged_after
from hubbub_client.ledger import Entry, Ledger
from hubbub_client.mechanisms import rappor
from hubbub_client.plan import Metric
from hubbub_client.report_files import read_log
from hubbub_registry.exact import ln_upper
from hubbub_registry.mechanisms import exact_ratio

from tests.client.reporter.reporting import DAY, NOW, Collector, FailingStorage, Noise, PowerCut, plan_of, reporter_of

PER_PERIOD = 6
LIFETIMES = {"m": 5, "r": 7}
SKETCH = {"mechanism": "count-mean-sketch", "lifetime_epsilon": 5, "epsilon": 0.5, "reports_per_period": PER_PERIOD}
RAPPOR = {"mechanism": "rappor", "lifetime_epsilon": 7, "reports_per_period": PER_PERIOD}
PLANS = [
    {"m": SKETCH, "r": RAPPOR},
    {"m": {**SKETCH, "epsilon": 1}, "r": {**RAPPOR, "f": 0.75, "cohorts": 4}},
    {"r": {**RAPPOR, "reports": "one-time", "p": None, "q": None, "epsilon": 3, "hashes": 1}},
]
STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("record"), st.sampled_from("mr"), st.sampled_from("aab")),
        st.tuples(st.just("days"), st.integers(-2, 3)),
        st.tuples(st.just("crash"), st.integers(1, 14), st.sampled_from(["before", "half", "after"])),
        st.tuples(st.just("plan"), st.integers(0, len(PLANS) - 1)),
        st.tuples(st.just("flush")),
        st.tuples(st.just("enabled"), st.booleans()),
    ),
    max_size=60,
)


@cache
def cost(mechanism: str, parameters: tuple[tuple[str, int], ...], reports: int) -> Fraction:
    """Epsilon of ``reports`` reports of one value, whose permanent noise is one; a bound from above, within 1e-50."""
    integers = dict(parameters)
    pair = rappor.ratio_after(integers, reports) if mechanism == "rappor" else None
    return ln_upper(Fraction(*pair)) if pair else reports * ln_upper(exact_ratio(mechanism, integers))


class Life:
    """A device, and what somebody who sees its values and all that it made knows it cost."""

    def __init__(self) -> None:
        self.files: dict[str, bytes] = {}
        self.day = 0
        self.plan = plan_of(**PLANS[0])
        self.noise = Noise()
        self.metrics: dict[bytes, Metric] = {}
        self.seen: set[int] = set()
        self.made: Counter[tuple[bytes, bytes, str]] = Counter()  # of (secret, fingerprint, value)
        self.periods: Counter[tuple[str, int]] = Counter()
        self.reporter = self.start()

    def start(self, at: int = 0, how: str = "") -> Reporter:
        storage = FailingStorage(at, how, PowerCut, self.files)
        clock = lambda: NOW + self.day * DAY  # noqa: E731
        self.reporter = reporter_of(self.plan, storage, Collector(), source=self.noise, clock=clock)
        return self.reporter

    def step(self, kind: str, *what: Any) -> None:
        value = ""
        try:
            if kind == "record":
                value = what[1]
                self.reporter.record(*what)
            elif kind == "days":
                self.day += what[0]
            elif kind == "crash":
                self.start(*what)
            elif kind == "plan":
                self.plan = plan_of(**PLANS[what[0]])
                self.start()
            elif kind == "flush":
                self.reporter.flush()
            else:
                self.reporter.set_enabled(what[0])
        except PowerCut:
            self.start()
        self.look(value)
        self.check()

    def look(self, value: str) -> None:
        """Counts the reports that were not there before."""
        secret = self.files.get("secret", b"")
        for metric in self.plan.metrics.values():
            self.metrics[metric.fingerprint] = metric
        for _, report in read_log(self.start_reading()):
            if report.serial not in self.seen:
                self.seen.add(report.serial)
                self.made[secret, report.fingerprint, value] += 1
                self.periods[report.name, report.period] += 1

    def start_reading(self) -> FailingStorage:
        return FailingStorage(0, "", PowerCut, self.files)

    def check(self) -> None:
        ledger = Ledger.load(self.start_reading())
        entries = {} if ledger is None else ledger.entries
        true = dict.fromkeys(LIFETIMES, Fraction(0))
        for (_, fingerprint, _), reports in self.made.items():
            metric = self.metrics[fingerprint]
            true[metric.name] += cost(metric.mechanism, tuple(sorted(metric.parameters.items())), reports)
        for name in LIFETIMES:
            charged = Fraction(entries[name].spent if name in entries else 0, 10**9)
            assert true[name] <= charged, "unpaid"
            assert charged <= LIFETIMES[name], "over the lifetime"
        assert all(reports <= PER_PERIOD for reports in self.periods.values())
        assert set(self.reporter.counts) <= {
            "unknown-metric", "clock-went-back", "period-used-up", "lifetime-used-up", "opted-out", "torn",
        }  # fmt: skip


@given(STEPS)
@settings(max_examples=1000, deadline=None, suppress_health_check=list(HealthCheck))
def test_what_is_charged_is_never_less_than_what_it_cost(steps: list[tuple[Any, ...]]) -> None:
    """Through values, clocks, crashes, plans and opt-outs, charged >= true cost, and never above the lifetime."""
    life = Life()
    for step in steps:
        life.step(*step)


def live(days: int) -> None:
    """A fixed life without crashes: a report that a crash lost was paid for, and would hide what was not."""
    life = Life()
    for day in range(days):
        for step in (
            ("record", "r", "a"), ("record", "r", "b"), ("record", "m", "a"), ("plan", day % 2), ("record", "r", "a"),
            ("flush",), ("days", 1),
        ):  # fmt: skip
            life.step(*step)
    for step in (("enabled", False), ("enabled", True), ("days", 1)):
        life.step(*step)


def forget(ledger: Ledger) -> None:
    """What was spent, in place of the tags."""
    for name, entry in ledger.entries.items():
        entry.spent = 0
        ledger._set(name, entry)


MUTANTS: dict[str, Any] = {
    "a value of another definition is taken for known": lambda m: m.setattr(
        "hubbub_client.reporter.tag_of", lambda secret, metric, key: key.hex()
    ),
    "charged as if every value were one": lambda m: m.setattr(
        "hubbub_client.reporter.tag_of", lambda secret, metric, key: "0" * 16
    ),
    "an evicted value is free": lambda m: m.setattr(Entry, "reports_of", lambda self, tag: 64),
    "a report more than was made": lambda m: m.setattr(
        "hubbub_client.ledger.charged_after", lambda metric, reports: charged_after(metric, reports + 1)
    ),
    "the lifetime has no end": lambda m: [
        m.setattr(metric, "lifetime_nano", None) for keys in PLANS for metric in plan_of(**keys).metrics.values()
    ],
    "opting in forgets what was spent": lambda m: m.setattr(Ledger, "forget_tags", forget),
}


def test_the_fixed_life_passes() -> None:
    """The life that the mutants below do not survive is survived by the client as it is."""
    live(8)


@pytest.mark.parametrize("mutant", MUTANTS)
def test_a_ledger_that_charges_too_little_is_caught(mutant: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each way of charging too little fails the model."""
    MUTANTS[mutant](monkeypatch)
    with pytest.raises(AssertionError, match=r"unpaid|over the lifetime"):
        live(8)
