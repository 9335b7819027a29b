"""What is advised where nobody named the values: which mechanism finds rarer strings, and how rare they may be."""

from __future__ import annotations

import copy
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from hubbub_client.mechanisms.sequence_fragment_puzzle import fragment_part
from hubbub_decoder import partial
from hubbub_decoder.discovery import discover
from hubbub_registry import Metric
from hubbub_registry.advice import Conditions, advise
from hubbub_registry.advice.answers import FINDS
from hubbub_registry.advice.options import Option
from hubbub_registry.advice.strings import STANDS_OUT, least_share, part_error
from hubbub_registry.commands import main
from hubbub_simulations.definitions import define
from hubbub_simulations.mechanisms import encode
from hubbub_simulations.theory import scaled_mse

from tests.registries import write_registry

PREFIXES, PUZZLE = "prefix-extending-method", "sequence-fragment-puzzle"
SKEWED = np.array([*[0.1] * 10, 0.0])  # squared frequencies of 0.1 in sum, and a string that nobody holds
LONG = [f"{i:040d}" for i in range(11)]


@pytest.mark.parametrize("epsilon", [1, 4])
@pytest.mark.parametrize("longest", [3, 15])
def test_the_error_of_a_part_is_that_of_the_simulations(epsilon: float, longest: int) -> None:
    """Of a level's reports it is the formula's of a string that only as many reports of the whole count.

    With a power of two of parts all are equally large; of others the smallest is taken.
    """
    metric = define(PREFIXES, epsilon=epsilon, longest=longest)
    formula = scaled_mse(metric, LONG, SKEWED, 10**5)[-1]
    assert part_error(PREFIXES, metric.device.parameters, 10**5) == pytest.approx((formula / 10**5) ** 0.5, rel=1e-9)
    uneven = define(PREFIXES, epsilon=epsilon, longest=11)  # six parts of 64 slots: 11 of some, 10 of others
    formula = scaled_mse(uneven, LONG, SKEWED, 10**5)[-1]
    assert part_error(PREFIXES, uneven.device.parameters, 10**5) ** 2 > formula / 10**5 * 0.99


@pytest.mark.parametrize("epsilon", [2, 4])
def test_the_error_of_a_position_is_that_of_local_hashing(epsilon: float) -> None:
    """It is the simulations' formula of local hashing with the fragments' integers, for one position's reports."""
    metric = define(PUZZLE, epsilon=epsilon)
    device = copy.copy(metric.device)
    device.parameters = fragment_part(device.parameters).parameters
    formula = scaled_mse(replace(metric, device=device), LONG, SKEWED, 12_500)[-1]
    assert part_error(PUZZLE, metric.device.parameters, 10**5) == pytest.approx((formula / 12_500) ** 0.5, rel=1e-9)


@pytest.mark.parametrize(
    ("name", "keys"), [(PREFIXES, {"longest": 3}), (PUZZLE, {"positions": 2, "fragment_hashes": 32})]
)
def test_strings_are_found_around_the_least_share(name: str, keys: dict[str, Any]) -> None:
    """Of ten strings with twice the share all are listed, and of ten with half of it hardly any.

    The former stand so far out that one is missed with less than 1e-6; of the latter each is listed with less than one
    chance in ten, so nine of them with less than 1e-8.
    """
    metric = define(name, epsilon=4, salt="0123456789abcdef", **keys)
    share, n = least_share(name, metric.device.parameters, 60_000), 60_000
    for times, least, most in ((2.0, 10, 10), (0.5, 0, 8)):
        rng = np.random.default_rng(5)
        found = [f"{letter}q{letter}".encode() for letter in "abcdefghij"]
        index = np.repeat(np.arange(10), round(times * share * n))
        others = [f"x{i}".encode() for i in range(10)]
        rest = encode(metric, others, rng.integers(0, 10, n - len(index)), rng)
        state = partial(metric, np.concatenate([encode(metric, found, index, rng), rest]))
        listed = {value.encode() for value in discover(metric, state).value}
        assert least <= len(listed & set(found)) <= most


def told(metric: Metric, conditions: Conditions) -> tuple[Option, ...]:
    (answer,) = advise(metric, conditions).answers
    assert answer.question == FINDS
    return answer.options


@pytest.mark.parametrize(
    "metric", [define(PREFIXES, epsilon=4), define(PUZZLE, epsilon=4), define("local-hashing", epsilon=4)]
)
def test_both_mechanisms_are_compared_whatever_the_metric_is_now(metric: Metric) -> None:
    """Of the same length and epsilon, the one that finds rarer strings first, with the figures of such a metric."""
    options = told(metric, Conditions(10**6))
    assert {option.mechanism for option in options} == {PREFIXES, PUZZLE}
    assert options[0].error < options[1].error
    for option in options:
        made = define(option.mechanism, epsilon=4, **option.keys)
        assert made.device.record_bytes == option.record_bytes
        assert option.error == pytest.approx(least_share(option.mechanism, made.device.parameters, 10**6))
        errors = STANDS_OUT[option.mechanism] * part_error(option.mechanism, made.device.parameters, 10**6)
        assert option.error == pytest.approx(errors)


def test_a_metrics_own_length_is_kept() -> None:
    """Shorter strings are asked of both, and found at smaller shares; a record that does not fit is left out."""
    short = told(define(PREFIXES, epsilon=4, longest=7), Conditions(10**6))
    assert [dict(option.keys) for option in short] == [{"longest": 7}, {"positions": 4}]
    for longer, shorter in zip(told(define(PREFIXES, epsilon=4), Conditions(10**6)), short, strict=True):
        assert shorter.error < longer.error
    puzzle = told(define(PUZZLE, epsilon=4, positions=4), Conditions(10**6))
    assert {option.mechanism: dict(option.keys) for option in puzzle} == {
        PREFIXES: {"longest": 8}, PUZZLE: {"positions": 4},
    }  # fmt: skip
    assert [option.mechanism for option in told(define(PREFIXES, epsilon=4), Conditions(10**6, most_bytes=3))] == [
        PREFIXES
    ]


def test_a_list_needs_no_search() -> None:
    """Where candidates are named, nothing is said of finding strings."""
    assert advise(define("local-hashing", epsilon=4, candidates=["a", "b"]), Conditions()).answers == ()


def test_the_parts_of_a_pair_are_advised_each_by_itself() -> None:
    """For each part what would be advised for a metric of its values and its epsilon, in half of the record."""
    values = [f"v{i}" for i in range(300)]
    listed = {"mechanism": "unary-encoding", "values": values, "share": 0.75}
    pair = define("joint", epsilon=4, first=listed, second={"mechanism": "randomized-response", "values": ["a", "b"]})
    answers = {each.question: each.options for each in advise(pair, Conditions()).answers}
    alone = advise(define("unary-encoding", epsilon=3, values=values), Conditions())
    assert answers["first"] == (alone.advised,)
    assert [option.mechanism for option in answers["second"]] == ["randomized-response"]
    small = {each.question: each.options for each in advise(pair, Conditions(most_bytes=2)).answers}
    assert small["first"] == ()
    assert small["second"] == answers["second"]


def test_what_is_printed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """As text a line for each option, the question in front of the first; in JSON the options of each question by name.

    What is no standard error is not called one, and where no record is small enough that is said.
    """
    words = {"mechanism": PREFIXES, "epsilon": 4, "longest": 15}
    number = {"mechanism": "one-bit-mean", "epsilon": 2, "low": 0, "high": 1023}
    path = write_registry(tmp_path / "registry.toml", {"words": words, "latency": number})
    main(["check", str(path), "--advise"])
    shown = capsys.readouterr().out
    assert f"  finds       {PREFIXES}, longest 15: 3 bytes, least share 0." in shown
    assert f"              {PUZZLE}, positions 8: " in shown
    assert "  bucket      d-bit-flip, buckets 64, bits 64: 56 bytes, error 0.00304" in shown
    assert "  below       hierarchical-histogram, buckets 64: 2 bytes, error 0.00563" in shown
    main(["check", str(path), "--advise", "--json", "--bytes", "1"])
    metrics = json.loads(capsys.readouterr().out)["advice"]["metrics"]
    assert metrics["words"]["answers"] == {FINDS: []}
    mean = metrics["latency"]["answers"]["mean"]
    assert [set(option) for option in mean] == [{"mechanism", "keys", "record_bytes", "standard_error"}]
    main(["check", str(path), "--advise", "--json"])
    found = json.loads(capsys.readouterr().out)["advice"]["metrics"]["words"]["answers"][FINDS]
    assert [set(option) for option in found] == [{"mechanism", "keys", "record_bytes", "least_share"}] * 2
    main(["check", str(path), "--advise", "--bytes", "1"])
    assert "  finds       nothing fits" in capsys.readouterr().out
