"""``hubbub check --advise``: the least error that fits, over a grid, against the simulations' own formulas."""

from __future__ import annotations

import json
import math
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from hubbub_registry import Metric
from hubbub_registry.advice import Advice, AdviceError, Conditions, advise, read_bytes, read_reports
from hubbub_registry.advice.choose import AS_EXACT, choose
from hubbub_registry.advice.error import rare_value_error
from hubbub_registry.advice.options import Option
from hubbub_registry.commands import main
from hubbub_simulations.definitions import define
from hubbub_simulations.theory import scaled_mse

from tests.registries import metric_of, write_registry

SKEWED = np.array([*[0.1] * 10, 0.0])  # squared frequencies of 0.1 in sum, and a value that nobody holds
TEXTS = [f"v{i}" for i in range(11)]
LISTED = (
    "randomized-response", "hadamard-response", "projective-geometry-response", "unary-encoding", "subset-selection",
)  # fmt: skip
SKETCHES = ("hadamard-count-mean-sketch", "count-mean-sketch")
OPEN = [("local-hashing", {"hashes": 65536})] + [
    (name, {"hashes": 65536, "width": width}) for name in SKETCHES for width in (64, 128, 256, 512, 1024)
]
LIMITS: list[dict[str, Any]] = [{}, {"most_bytes": 2}, {"board": True}, {"board": True, "most_bytes": 11}]


def values(domain: int) -> list[str]:
    return [f"v{i}" for i in range(domain)]


def error_of(metric: Metric, reports: int) -> float:
    """By the simulations' formula, at a value that nobody holds."""
    p = metric.device.parameters
    if metric.mechanism == "hadamard-response":  # there the formula depends on who shares the block: all evenly, here
        return math.sqrt((1 << p["precision"]) ** 2 / p["threshold"] ** 2 / (1 << p["blocks_bits"]) / reports)
    if not metric.closed:
        return float(math.sqrt(scaled_mse(metric, TEXTS, SKEWED, reports)[-1] / reports))
    others = np.append(np.full(len(metric.values) - 1, 1 / (len(metric.values) - 1)), 0)
    return float(math.sqrt(scaled_mse(metric, metric.values, others, reports)[-1] / reports))


@cache
def everything(domain: int, epsilon: str) -> list[Metric]:
    """A metric of each mechanism that can count these values."""
    if not domain:
        return [define(name, epsilon=float(epsilon), **keys) for name, keys in OPEN]
    return [define(name, epsilon=float(epsilon), values=values(domain)) for name in LISTED]


@pytest.mark.parametrize("domain", [0, 2, 5, 12, 40, 200, 1000])
@pytest.mark.parametrize("epsilon", ["0.2", "1", "2", "4"])
def test_the_advised_one_has_the_least_error_that_fits(domain: int, epsilon: str) -> None:
    """For every domain, epsilon, number of reports and limit no mechanism that fits is better by more than 2 %.

    And of those within 2 % of the best none has a smaller record.
    """
    metric = everything(domain, epsilon)[0]
    for reports in (1000, 10**5, 10**8):
        for limits in LIMITS:
            conditions = Conditions(reports, **limits)
            limit = conditions.record_limit or 1 << 30
            advice = advise(metric, conditions)
            hashed = conditions.board and domain > 256
            rivals = [
                (error_of(each, reports), each.device.record_bytes)
                for each in everything(0 if hashed else domain, epsilon)
                if each.device.record_bytes <= limit
            ]
            if not rivals:
                assert advice.advised is None
                continue
            assert advice.advised is not None
            assert advice.advised.record_bytes <= limit
            least = min(error for error, _ in rivals)
            assert advice.advised.error <= AS_EXACT * least * (1 + 1e-9)
            as_exact = [size for error, size in rivals if error <= AS_EXACT * least * (1 - 1e-9)]
            assert advice.advised.record_bytes <= min(as_exact)


@pytest.mark.parametrize("epsilon", ["0.2", "1", "4"])
@pytest.mark.parametrize("reports", [100, 10**9])
def test_the_expected_errors_are_those_of_the_simulations(epsilon: str, reports: int) -> None:
    """The registry's formulas agree with the simulations', with the collision floor of the hash families."""
    for metric in [*everything(0, epsilon), *everything(40, epsilon)]:
        found = rare_value_error(metric.mechanism, metric.device.parameters, reports)
        assert found == pytest.approx(error_of(metric, reports), rel=1e-9)
    keys = {"encoding": "one-hot", "reports": "one-time", "f": 0.5, "values": values(20)}
    basic = define("rappor", epsilon=4, **keys)
    assert rare_value_error("rappor", basic.device.parameters, reports) == pytest.approx(error_of(basic, reports))


def told(advice: Advice) -> str:
    assert advice.advised is not None
    return advice.advised.mechanism


def test_the_rules_of_thumb_come_out() -> None:
    """k-RR for few values, projective geometry for many, hashing for any text, and wide rows for very many reports."""
    few, many = (define("unary-encoding", epsilon=1, values=values(domain)) for domain in (6, 1000))
    assert told(advise(few, Conditions())) == "randomized-response"
    assert told(advise(many, Conditions())) == "projective-geometry-response"
    text = define("count-mean-sketch", epsilon=1, hashes=1024, width=1024)
    assert told(advise(text, Conditions())) == "local-hashing"
    assert told(advise(text, Conditions(10**9))) == "count-mean-sketch"
    assert told(advise(text, Conditions(10**9, board=True))) == "hadamard-count-mean-sketch"


def test_a_long_list_is_text_to_a_board() -> None:
    """A board has no memory for a thousand values, so there the advice is to report any text, and says so."""
    metric = define("unary-encoding", epsilon=1, values=values(1000))
    advice = advise(metric, Conditions(board=True))
    assert told(advice) == "local-hashing"
    assert "a board holds some 256 values, not 1000" in advice.because


def test_permanent_noise_is_not_advised_away(tmp_path: Path) -> None:
    """RAPPOR's permanent noise has no substitute here, and the reason is given."""
    advice = advise(metric_of(tmp_path, "rappor"), Conditions())
    assert advice.advised is None
    assert advice.now is None
    assert "permanent" in advice.because


def test_nothing_fits() -> None:
    """Where no record is small enough the advice says how small the smallest is."""
    text = define("count-mean-sketch", epsilon=4, hashes=1024, width=1024)
    advice = advise(text, Conditions(most_bytes=2))
    assert advice.advised is None
    assert advice.because == "no mechanism fits: the smallest record takes 3 bytes"
    assert advice.too_large
    assert not advice.fitting


def test_choosing() -> None:
    """The least error wins; two per cent of it are passed over for a smaller record, and three are not."""
    assert choose([]) is None
    best, smaller, worse = (
        Option(name, {}, size, error, 0.0) for name, size, error in (("a", 9, 1.0), ("b", 3, 1.019), ("c", 1, 1.03))
    )
    assert choose([best, smaller, worse]) is smaller
    assert choose([best, worse]) is best


@pytest.fixture
def registry(tmp_path: Path) -> Path:
    metrics = {"few": {"mechanism": "unary-encoding"}, "text": {"mechanism": "count-mean-sketch"}}
    return write_registry(tmp_path / "registry.toml", {**metrics, "kept": {"mechanism": "rappor"}})


def test_json(registry: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """``--json`` has the conditions, and for every metric the advice, its reason and all that was compared."""
    assert main(["check", str(registry), "--json", "--advise", "--reports", "5000", "--bytes", "11"]) == 0
    document = json.loads(capsys.readouterr().out)["advice"]
    assert (document["reports"], document["board"], document["most_bytes"]) == (5000, False, 11)
    assert list(document["metrics"]) == ["few", "text", "kept"]
    text = document["metrics"]["text"]
    assert text["advised"]["mechanism"] == "local-hashing"
    assert text["advised"]["keys"] == {"hashes": 65536}
    assert text["advised"] in text["fitting"]
    assert {each["mechanism"] for each in text["too_large"]} == {"count-mean-sketch"}
    assert text["now"]["mechanism"] == "count-mean-sketch"
    assert text["now"]["standard_error"] > text["advised"]["standard_error"] > 0
    assert document["metrics"]["kept"]["advised"] is None


def test_text(registry: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """For people: what is now, what is advised, its error and the reason; and nothing of it without ``--advise``."""
    main(["check", str(registry), "--advise", "--board"])
    shown = capsys.readouterr().out
    assert "advice for 100000 reports decoded together, on a board, records of at most 31 bytes" in shown
    assert "advised     local-hashing, hashes 65536: 3 bytes, error " in shown
    assert "because     its noise is permanent" in shown
    assert "of mechanisms within 2 % of the least error the one with the smallest record is advised" in shown
    main(["check", str(registry)])
    assert "advice" not in capsys.readouterr().out


@pytest.mark.parametrize("text", ["0", "-1", "1e5", "", "1.5", "٣", "9" * 30])
def test_wrong_numbers(text: str) -> None:
    """What is no positive integer, or too large a one, is refused with the option's name and what to write."""
    for read, option in ((read_reports, "--reports"), (read_bytes, "--bytes")):
        with pytest.raises(AdviceError, match=f"{option}: .*such as"):
            read(text)


@pytest.mark.parametrize("options", [["--reports", "10"], ["--board"], ["--bytes", "3"]])
def test_conditions_without_advise(registry: Path, capsys: pytest.CaptureFixture[str], options: list[str]) -> None:
    """Conditions of an advice that nobody asked for are refused, and not passed over."""
    assert main(["check", str(registry), *options]) != 0
    assert "are for --advise" in capsys.readouterr().err


def test_exactness_is_the_declared_one() -> None:
    """The advice is for the epsilon that is declared: twice of it gives less error."""
    errors = []
    for epsilon in (1, 2):
        advice = advise(define("unary-encoding", epsilon=epsilon, values=values(300)), Conditions())
        assert advice.metric.epsilon == Fraction(epsilon)
        assert advice.advised is not None
        errors.append(advice.advised.error)
    assert errors[1] < errors[0] / 1.5
