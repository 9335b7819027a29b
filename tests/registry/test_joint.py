from __future__ import annotations

import datetime
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from hubbub_client.mechanisms.joint import PARTS as KINDS
from hubbub_registry import RegistryError, load_registry
from hubbub_registry.advice.choose import advise
from hubbub_registry.advice.conditions import Conditions
from hubbub_registry.composition.amplified import refusal
from hubbub_registry.composition.variation import variation
from hubbub_registry.lints import lint
from hubbub_registry.statement.mechanisms import words_of

from tests.joints import BOOLEAN, PARTS, joint, part
from tests.registries import registry_of, write_registry


def problems(folder: Path, **keys: Any) -> str:
    """Everything that is wrong with a joint metric of these keys."""
    metric = {"mechanism": "joint", "epsilon": 4, "first": part("local-hashing"), "second": BOOLEAN, **keys}
    with pytest.raises(RegistryError) as caught:
        load_registry(write_registry(folder / "registry.toml", {"m": metric}))
    return str(caught.value)


@pytest.mark.parametrize("first", PARTS)
@pytest.mark.parametrize("share", [0.3, 0.7])
def test_epsilon_is_the_exact_sum_of_both_parts(tmp_path: Path, first: str, share: float) -> None:
    """Each part costs at most its share and nearly all of it, and the whole exactly what both cost together."""
    metric = joint(tmp_path, part(first, share=share), BOOLEAN, epsilon=15)
    one, other = metric.parts
    assert metric.ratio == one.ratio * other.ratio
    assert one.epsilon == Fraction(str(share)) * 15
    assert one.epsilon + other.epsilon == 15
    for each in metric.parts:
        assert each.exact_epsilon <= each.epsilon
        assert each.mechanism == "rappor" or each.exact_epsilon >= each.epsilon * Fraction(999, 1000)
    assert metric.device.epsilon_nano >= metric.exact_epsilon * 10**9


def test_a_part_can_be_like_another_metric(tmp_path: Path) -> None:
    """A part that is like a metric has its mechanism, keys and values, and an epsilon and a salt of its own."""
    registry = registry_of(
        tmp_path,
        colour={"mechanism": "randomized-response", "epsilon": 1, "values": ["red", "blue", "green"]},
        word={"mechanism": "local-hashing", "epsilon": 2, "hashes": 64, "candidates": ["a", "b"]},
        both={
            "mechanism": "joint",
            "epsilon": 4,
            "first": {"like": "word"},
            "second": {"like": "colour", "share": 0.25},
        },
    )
    first, second = registry.metric("both").parts
    word, colour = registry.metric("word"), registry.metric("colour")
    assert (first.mechanism, first.candidates, first.settings) == (word.mechanism, word.candidates, word.settings)
    assert (second.mechanism, second.values, second.epsilon) == (colour.mechanism, colour.values, colour.epsilon)
    assert second.device.parameters == colour.device.parameters
    assert first.device.parameters["salt"] != word.device.parameters["salt"]


def test_the_second_part_begins_at_a_whole_byte(tmp_path: Path) -> None:
    """What is between the parts is a field that holds nothing but 0, so that a collector turns anything else away."""
    metric = joint(tmp_path, part("hadamard-count-mean-sketch"), BOOLEAN)
    names = [(name, domain) for name, _, domain in metric.device.fields]
    assert names == [("first_hash", 0), ("first_row", 0), ("first_bit", 0), ("padding", 1), ("second_index", 0)]
    assert sum(bits for _, bits, _ in metric.device.fields[:4]) == 8 * metric.parts[0].device.record_bytes
    assert metric.device.record_bytes == sum(each.device.record_bytes for each in metric.parts)


LONGITUDINAL = {"mechanism": "rappor", "bits": 32, "hashes": 2, "cohorts": 4, "f": 0.9, "p": 0.5, "q": 0.75}


@pytest.mark.parametrize(
    ("keys", "where", "message"),
    [
        ({"first": LONGITUDINAL}, "metrics.m.first.reports", "charged by the pair"),
        ({"first": {"mechanism": "one-bit-mean"}}, "metrics.m.first.mechanism", "is not a choice"),
        ({"first": {"mechanism": "joint"}}, "metrics.m.first.mechanism", "is not a choice"),
        ({"first": None}, "metrics.m.first", "is missing"),
        ({"first": "local-hashing"}, "metrics.m.first", "is not a table"),
        ({"first": {"like": "nothing"}}, "metrics.m.first.like", "no metric of this registry"),
        ({"first": {"like": "m", "mechanism": "local-hashing"}}, "metrics.m.first.mechanism", "and in the metric"),
        ({"second": {**BOOLEAN, "share": 0.5}, "first": part("local-hashing", share=0.6)},
         "metrics.m.second.share", "more than all of epsilon"),
        ({"second": {**BOOLEAN, "share": 1}}, "metrics.m.second.share", "strictly between 0 and 1"),
        ({"second": {**BOOLEAN, "epsilon": 1}}, "metrics.m.second.epsilon", "is not a key"),
        ({"second": {**BOOLEAN, "values": ["one"]}}, "metrics.m.second.values", "one value says nothing"),
        ({"first": part("rappor, bloom")}, "metrics.m.first.share", "more than the 2 declared"),
        ({"salt": "0123456789abcdef"}, "metrics.m.salt", "a salt each"),
        ({"values": ["a", "b"]}, "metrics.m.values", "is not a key"),
        ({"lifetime_epsilon": 2}, "metrics.m.lifetime_epsilon", "does not pay for one report"),
    ],
)  # fmt: skip
def test_what_cannot_be_is_said_where_it_is_written(
    tmp_path: Path, keys: dict[str, Any], where: str, message: str
) -> None:
    """Every mistake in a part is found with its place, and permanent noise is refused with what to do instead."""
    said = problems(tmp_path, **keys)
    assert any(f"{where}: " in line and message in line for line in said.split("\n")), said


def test_parts_are_checked_like_metrics_and_silenced_with_the_whole(tmp_path: Path) -> None:
    """Lints find a part's sketch, list and cohorts, each once, and a reason given for the metric silences them."""
    reason = {"collision-floor": "the list of words is short"}
    first = {"mechanism": "count-mean-sketch", "hashes": 2, "width": 4}
    second = {"mechanism": "randomized-response", "values": [f"v{i}" for i in range(60)]}
    metric = joint(tmp_path, first, second, epsilon=3, silence=reason)
    found = {finding.where: finding for finding in lint([metric], datetime.date(2098, 1, 1))}
    assert found["metrics.m.first.hashes"].silenced == reason["collision-floor"]
    assert found["metrics.m.first.candidates"].lint == "no-candidates"
    assert found["metrics.m.second.mechanism"].lint == "better-mechanism"
    assert "metrics.m.candidates" not in found


def test_a_statement_says_what_both_parts_do(tmp_path: Path) -> None:
    """The words of a joint metric hold the words of either mechanism, and that the noise of both is counted."""
    words = words_of(joint(tmp_path, part("local-hashing"), BOOLEAN))
    assert "Local hashing" in words.title
    assert "hash function" in words.report
    assert "its true value" in words.noise
    assert "both parts are counted" in words.noise


def test_total_variation_is_that_of_a_coupling_of_both_parts(tmp_path: Path) -> None:
    """A shuffler's figures use at most 1 - (1 - b)(1 - b'), and no more than epsilon allows."""
    metric = joint(tmp_path, part("hadamard-count-mean-sketch"), BOOLEAN, epsilon=2)
    one, other = (variation(each) for each in metric.parts)
    largest = (metric.ratio - 1) / (metric.ratio + 1)
    assert variation(metric) == min(largest, 1 - (1 - one) * (1 - other))
    assert max(one, other) < variation(metric)


def test_cohorts_of_a_part_keep_a_shuffler_from_being_counted_on(tmp_path: Path) -> None:
    """A part with cohorts is refused amplification; one without is not."""
    assert refusal(joint(tmp_path, part("rappor, bloom", share=0.75), BOOLEAN)) is not None
    assert refusal(joint(tmp_path, part("local-hashing"), BOOLEAN)) is None


def test_no_mechanism_is_advised_for_two_values(tmp_path: Path) -> None:
    """Advice says why it gives none, and does not fail."""
    advice = advise(joint(tmp_path, part("local-hashing"), BOOLEAN), Conditions())
    assert advice.advised is None
    assert "two values" in advice.because


def test_every_kind_of_part_is_tested() -> None:
    """The parts that tests are made with are all that there are."""
    assert {name.partition(",")[0] for name in PARTS} == set(KINDS)
