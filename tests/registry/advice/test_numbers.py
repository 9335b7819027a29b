"""What is advised for a metric of a number: which mechanism answers which question, and how exactly."""

from __future__ import annotations

import numpy as np
import pytest

from hubbub_decoder import partial
from hubbub_decoder.mechanisms import mechanism
from hubbub_registry import Metric
from hubbub_registry.advice import Conditions, advise
from hubbub_registry.advice.answers import BELOW, BUCKET, MEAN
from hubbub_registry.advice.numbers import number_error
from hubbub_registry.advice.options import Option
from hubbub_simulations.definitions import define
from hubbub_simulations.mechanisms import encode
from hubbub_simulations.theory import scaled_mse
from hubbub_simulations.tree_theory import below_scaled_mse, bucket_scaled_mse

N = 40_000


def number(name: str, epsilon: float, buckets: int, **keys: float) -> Metric:
    """Over 0 .. 2 ``buckets`` - 1; the middle of a mean's range is an integer."""
    if name == "one-bit-mean":
        return define(name, epsilon=epsilon, low=0, high=2 * buckets, **keys)
    return define(name, epsilon=epsilon, low=0, high=2 * buckets - 1, buckets=buckets, **keys)


def error_of(metric: Metric, question: str) -> float:
    return number_error(metric.mechanism, metric.device.parameters, question, N)


@pytest.mark.parametrize("epsilon", [0.3, 1, 4])
@pytest.mark.parametrize("perturbation", [{}, {"perturbation": 0.1}])
def test_the_error_of_a_mean_is_that_of_the_simulations(epsilon: float, perturbation: dict[str, float]) -> None:
    """It is the formula's where all values lie in the middle, and no other population's is larger."""
    metric = number("one-bit-mean", epsilon, 32, **(perturbation if epsilon < 2 else {}))
    for values, largest in (([32], True), ([0], False), ([0, 64], False), ([31], False)):
        frequencies = np.full(len(values), 1 / len(values))
        found = 64 * (scaled_mse(metric, list(map(str, values)), frequencies, N)[0] / N) ** 0.5
        if largest:
            assert error_of(metric, MEAN) == pytest.approx(found, rel=1e-12)
        else:
            assert error_of(metric, MEAN) > found


@pytest.mark.parametrize("epsilon", [0.3, 1, 4])
@pytest.mark.parametrize("bits", [1, 5, 16])
def test_the_error_of_d_bit_flips_bucket_is_that_of_the_simulations(epsilon: float, bits: int) -> None:
    """It is the formula's where values are spread evenly over 16 buckets."""
    metric = number("d-bit-flip", epsilon, 16, bits=bits)
    formula = scaled_mse(metric, list(metric.candidates), np.full(16, 1 / 16), N)[0]
    assert error_of(metric, BUCKET) == pytest.approx((formula / N) ** 0.5, rel=1e-12)


def test_the_error_below_a_bucket_is_that_of_summed_counts() -> None:
    """Over 300 decoded runs the mean square of summed shares below all 8 buckets is the formula's, within 40 %.

    Squares of normal errors have twice their own square as variance, so that is 4.9 standard errors (1e-6) if all 7
    were one, and more since they are not. The formula for one bucket, instead of a sum, is off by more than half.
    """
    metric, rng = number("d-bit-flip", 2, 8, bits=2), np.random.default_rng(4)
    index, module = np.resize(np.arange(8), 400), mechanism("d-bit-flip")
    items = [b"%d" % (2 * bucket) for bucket in range(8)]
    squares = []
    for _ in range(300):
        state = partial(metric, encode(metric, items, index, rng))
        found = module.estimate(metric, state, metric.candidates)
        shares = found.frequency[[found.value.index(label) for label in metric.candidates]]
        squares.append(np.mean((np.cumsum(shares)[:-1] - np.arange(1, 8) / 8) ** 2) * 7 / 8)
    formula = number_error("d-bit-flip", metric.device.parameters, BELOW, 400) ** 2
    assert np.mean(squares) == pytest.approx(formula, rel=0.4)
    assert number_error("d-bit-flip", metric.device.parameters, BUCKET, 400) ** 2 < formula / 2


@pytest.mark.parametrize("epsilon", [0.3, 1, 2, 4])
@pytest.mark.parametrize("buckets", [2, 8, 16, 64])
def test_the_errors_of_a_tree_are_those_of_the_simulations(epsilon: float, buckets: int) -> None:
    """They are what all outputs gone through give: exactly where levels are k-RR's, and within 2 % in any geometry.

    The registry takes a mean over which nodes lie on one line, of all points; not all are nodes.
    """
    metric = number("hierarchical-histogram", epsilon, buckets)
    p, even = metric.device.parameters, np.full(buckets, 1 / buckets)
    below = below_scaled_mse(metric, even).sum() / buckets  # nothing is below the first
    dimensions = {p[f"dimension_{level}"] for level in range(1 << p["levels_bits"])}
    tolerance = 1e-9 if dimensions == {2} else 0.02
    assert error_of(metric, BUCKET) ** 2 * N == pytest.approx(bucket_scaled_mse(metric, even).mean(), rel=tolerance)
    assert error_of(metric, BELOW) ** 2 * N == pytest.approx(below, rel=tolerance)


def told(metric: Metric, conditions: Conditions) -> dict[str, tuple[Option, ...]]:
    return {each.question: each.options for each in advise(metric, conditions).answers}


@pytest.mark.parametrize("name", ["one-bit-mean", "d-bit-flip", "hierarchical-histogram"])
def test_every_question_has_its_mechanisms_whatever_the_metric_is_now(name: str) -> None:
    """A mean is one-bit-mean's; a bucket's share and that below it both histograms', the more exact one first."""
    metric = number(name, 1, 64, **({"bits": 8} if name == "d-bit-flip" else {}))
    advice = advise(metric, Conditions(N))
    assert advice.advised is None
    assert "depends on what is asked" in advice.because
    answers = told(metric, Conditions(N))
    assert [option.mechanism for option in answers[MEAN]] == ["one-bit-mean"]
    for question, first in ((BUCKET, "d-bit-flip"), (BELOW, "hierarchical-histogram")):
        options = answers[question]
        assert {option.mechanism for option in options} == {"d-bit-flip", "hierarchical-histogram"}
        assert options[0].mechanism == first
        assert options[0].error < options[1].error
    asked = {"one-bit-mean": MEAN, "d-bit-flip": BUCKET, "hierarchical-histogram": BELOW}[name]
    assert advice.now == pytest.approx(error_of(metric, asked))


def test_the_options_are_metrics_of_that_error_and_size() -> None:
    """A registry with the keys that are shown has the record and the error that are shown."""
    metric = number("hierarchical-histogram", 2, 32)
    for question, options in told(metric, Conditions(N)).items():
        for option in options:
            made = define(option.mechanism, epsilon=2, low=0, high=63, **option.keys)
            assert made.device.record_bytes == option.record_bytes
            assert error_of(made, question) == pytest.approx(option.error)


@pytest.mark.parametrize(("integers", "shown"), [(100, 32), (32, 32), (31, 16)])
def test_a_tree_has_at_least_as_many_buckets(integers: int, shown: int) -> None:
    """Of 24 buckets the tree beside them has 32, or 16 where the range has no 32 integers."""
    metric = define("d-bit-flip", epsilon=1, low=0, high=integers - 1, buckets=24, bits=4)
    for question in (BUCKET, BELOW):
        buckets = {option.mechanism: option.keys["buckets"] for option in told(metric, Conditions(N))[question]}
        assert buckets == {"d-bit-flip": 24, "hierarchical-histogram": shown}


def test_a_small_record_has_room_for_few_bits_or_for_none() -> None:
    """Under a limit d-bit flip takes as many bits as fit, and where no histogram fits there is none."""
    metric = number("hierarchical-histogram", 1, 256)
    in_eleven = {option.mechanism: option for option in told(metric, Conditions(N, most_bytes=11))[BUCKET]}
    assert in_eleven["d-bit-flip"].keys == {"buckets": 256, "bits": 9}
    assert in_eleven["d-bit-flip"].record_bytes == 11
    in_one = told(metric, Conditions(N, most_bytes=1))
    assert in_one[MEAN][0].record_bytes == 1
    assert in_one[BELOW] == ()
