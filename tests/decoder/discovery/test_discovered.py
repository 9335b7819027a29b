"""What the list says of being a list: thresholds that are those of the reports, and figures that hold given them."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from hubbub_decoder import EstimateError, State, partial
from hubbub_decoder.discovery import Discovered, Options, discover
from hubbub_decoder.statistics.significance import CORRECTIONS, Correction
from hubbub_registry import Metric
from hubbub_simulations.definitions import define
from hubbub_simulations.mechanisms import encode

LETTERS = Options(32, alphabet="abcdefgh")
VALUES = ["a", "bed", "bagged", "cabbage", "had", "deaf", "egg", "faded"]
KEYS = {
    "prefix-extending-method": {"longest": 7, "items": 4096, "families": 4},
    "sequence-fragment-puzzle": {"hashes": 256, "fragment_hashes": 64, "positions": 4},
}
MECHANISMS = pytest.mark.parametrize("mechanism", list(KEYS))


@cache
def reports(mechanism: str) -> tuple[Metric, State]:
    """20,000 devices, of which the first value has the most and the last the fewest."""
    metric = define(mechanism, epsilon=6, salt="0123456789abcdef", **KEYS[mechanism])
    rng = np.random.default_rng(11)
    share = 0.7 ** np.arange(len(VALUES))
    held = rng.choice(len(VALUES), 20_000, p=share / share.sum())
    return metric, partial(metric, encode(metric, [value.encode() for value in VALUES], held, rng))


@cache
def found(mechanism: str, correction: Correction = "holm", insignificant: bool = False) -> Discovered:
    metric, state = reports(mechanism)
    return discover(metric, state, correction=correction, insignificant=insignificant, options=LETTERS)


def supporting(of: Discovered) -> np.ndarray:
    """How many reports support each string; a view."""
    assert of.support is not None
    return of.support.reshape(len(of), -1)[:, 0]


def support_at(count: float, place: int, everything: Discovered) -> float:
    """How many reports give the string in this ``place`` that count: counts are lines that meet where none does."""
    metric, state = reports(everything.mechanism)
    if everything.mechanism == "prefix-extending-method":
        p = metric.device.parameters
        at_none = -state.n / (p["threshold"] / (1 << p["precision"])) / ((1 << p["width_bits"]) - 1)
    else:
        at_none = everything.count[0] - everything.step * supporting(everything)[0]
    return float((count - at_none) / (everything.count[place] - at_none) * supporting(everything)[place])


@pytest.mark.parametrize(
    ("mechanism", "correction"),
    [*(("prefix-extending-method", each) for each in CORRECTIONS), ("sequence-fragment-puzzle", "holm")],
)
def test_above_its_threshold_a_string_is_listed(mechanism: str, correction: Correction) -> None:
    """With the fewest reports that give a count above it a string is significant among all; with one fewer, not."""
    everything, listed = found(mechanism, correction, insignificant=True), found(mechanism, correction)
    assert listed.listed_from is not None
    assert len(listed) >= 4
    for value, least in zip(listed.value, listed.listed_from, strict=True):
        place = everything.value.index(value)
        at_threshold = support_at(float(least), place, everything)
        assert at_threshold % 1 == pytest.approx(0.5, abs=1e-4)
        for more, there in ((0.5, True), (-0.5, False)):
            changed = replace(everything, support=np.array(everything.support))
            supporting(changed)[place] = round(at_threshold + more)
            assert changed.significant(0.05, correction)[place] == there


@MECHANISMS
def test_the_listed_are_those_of_all_that_are_significant(mechanism: str) -> None:
    """They have the same counts, errors and p-values as in the whole list, where no figure is conditional."""
    everything, listed = found(mechanism, insignificant=True), found(mechanism)
    there = everything.significant(0.05, "holm")
    assert listed.value == tuple(value for value, one in zip(everything.value, there, strict=True) if one)
    for name in ("count", "std_error", "p_value", "frequency"):
        assert np.array_equal(getattr(listed, name), getattr(everything, name)[there])
    plain = np.array(everything.confidence_interval())[:, there]
    assert np.array_equal(np.array(listed.confidence_interval(conditional=False)), plain)
    assert np.array_equal(np.array([listed.low, listed.high]), np.array(listed.confidence_interval(conditional=True)))
    assert not np.array_equal(listed.low, plain[0])
    assert "conditional_count" not in everything.columns()


@MECHANISMS
def test_the_interval_holds_both_counts(mechanism: str) -> None:
    """Count and estimate lie inside; the upper end is no higher than a plain one; a higher level is wider."""
    listed = found(mechanism)
    low, high = listed.confidence_interval()
    plain = listed.confidence_interval(conditional=False)
    slack = 1e-2 * listed.std_error
    assert (low <= listed.conditional_count).all()
    assert (listed.conditional_count <= high).all()
    assert (low <= listed.count).all()
    assert (listed.count <= high).all()
    assert (high <= plain.high + slack).all()
    wider, together = listed.at_level(0.99), listed.confidence_interval(simultaneous=True)
    assert isinstance(wider, Discovered)
    assert (wider.low <= low).all()
    assert (wider.high >= high).all()
    assert (together.low <= low).all()
    assert (together.high >= high).all()


def test_the_column_stands_before_its_interval() -> None:
    """Every output shows the conditional count between the standard error and the interval."""
    listed = found("prefix-extending-method")
    columns = listed.columns(consistent=True)
    names = list(columns)
    assert names[names.index("conditional_count") - 1 : names.index("high") + 1] == [
        "std_error", "conditional_count", "low", "high",
    ]  # fmt: skip
    assert np.array_equal(np.asarray(columns["conditional_count"]), listed.conditional_count)
    assert any("conditional_count, low and high allow for that" in note for note in listed.notes)


def test_nothing_is_conditional_where_all_are_listed() -> None:
    """Asking for conditional figures of a list that no test made is an error that says so."""
    everything = found("prefix-extending-method", insignificant=True)
    for ask in (lambda: everything.confidence_interval(conditional=True), lambda: everything.conditional_count):
        with pytest.raises(EstimateError, match="not significant, so no count is conditional"):
            ask()
