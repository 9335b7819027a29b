"""RAPPOR: published epsilons reproduced, rounding towards privacy, nothing that costs more than declared."""

from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from hubbub_registry import RegistryError
from hubbub_registry.calibration import CalibrationError
from hubbub_registry.exact import ln_upper
from hubbub_registry.mechanisms import Settings, exact_ratio, mechanism

from tests.registries import metric_of

KEYS: dict[str, Any] = {
    "encoding": "bloom", "reports": "longitudinal", "bits": 128, "hashes": 2, "cohorts": 8,
    "f": Fraction(1, 2), "p": Fraction(1, 2), "q": Fraction(3, 4),
}  # fmt: skip
INSIDE = st.fractions(min_value=Fraction(1, 10**6), max_value=1 - Fraction(1, 10**6), max_denominator=10**6)


def ideal_ratio(f: Fraction, p: Fraction, q: Fraction, hashes: int) -> Fraction:
    """e^eps_1 of the paper's theorem 2, with the parameters as written."""
    one, zero = f * (p + q) / 2 + (1 - f) * q, f * (p + q) / 2 + (1 - f) * p
    return (one * (1 - zero) / (zero * (1 - one))) ** hashes


@pytest.mark.parametrize(
    ("f", "bits", "cohorts", "one", "permanent"),
    [(0.5, 128, 8, "1.0743", "4.394"), (0.75, 128, 32, ".5343", "2.043")],
)
def test_published_parameters(tmp_path: Path, f: float, bits: int, cohorts: int, one: str, permanent: str) -> None:
    """The paper's Windows and Chrome settings give the eps_1 and eps_inf that it prints, to the last digit printed."""
    metric = metric_of(tmp_path, "rappor", epsilon=1.1, f=f, p=0.5, q=0.75, bits=bits, cohorts=cohorts)
    assert metric.permanent_ratio is not None
    assert abs(metric.exact_epsilon - Fraction(one)) <= Fraction(5, 10**5)
    assert abs(ln_upper(metric.permanent_ratio) - Fraction(permanent)) <= Fraction(1, 1000)


def test_number_of_hashes_counts(tmp_path: Path) -> None:
    """Parameters that meet the declared epsilon with one hash are refused with two, naming their real cost."""
    assert metric_of(tmp_path, "rappor", epsilon=0.6, hashes=1).exact_epsilon <= Fraction("0.6")
    with pytest.raises(
        RegistryError, match=r"metrics\.m\.epsilon: .*a report costs epsilon 1\.07429, more than the 0\.6"
    ):
        metric_of(tmp_path, "rappor", epsilon=0.6, hashes=2)


def test_dyadic_parameters_cost_few_bits(tmp_path: Path) -> None:
    """Probabilities that are dyadic are kept exactly, with no more random bits than they need."""
    parameters = metric_of(tmp_path, "rappor", epsilon=1.1).device.parameters
    assert [parameters[key] for key in ("prr_threshold", "prr_precision", "irr_q", "irr_p", "irr_precision")] == [
        1, 2, 3, 2, 2,
    ]  # fmt: skip


@given(INSIDE, INSIDE, INSIDE, st.integers(1, 4))
@settings(max_examples=100, deadline=None)
def test_rounding(f: Fraction, p: Fraction, q: Fraction, hashes: int) -> None:
    """Rounded f, p and q never cost more than those written, and keep 99.9 % of what those cost."""
    p, q = min(p, q), max(p, q)
    assume(q - p > Fraction(1, 10**4))
    ideal = ideal_ratio(f, p, q, hashes)
    assume(ln_upper(ideal) <= 15)
    keys = {**KEYS, "f": f, "p": p, "q": q, "hashes": hashes}
    calibrated = mechanism("rappor").calibrate(Settings(Fraction(16), keys, 7, 0))
    ratio = exact_ratio("rappor", calibrated.parameters)
    assert 1 < ratio <= ideal
    assert ln_upper(ratio) >= ln_upper(ideal) * Fraction(999, 1000)
    assert calibrated.permanent_ratio is not None
    assert calibrated.permanent_ratio <= ((1 - f / 2) / (f / 2)) ** (2 * hashes)


@given(INSIDE)
@settings(max_examples=50, deadline=None)
def test_one_time_rounding(f: Fraction) -> None:
    """One-time RAPPOR never costs more than the f written, and keeps 99.9 % of what that costs."""
    ideal = (2 - f) / f
    keys = {**KEYS, "reports": "one-time", "encoding": "one-hot", "bits": None, "hashes": None, "cohorts": 1}
    assume(ln_upper(ideal**2) <= 15)
    calibrated = mechanism("rappor").calibrate(Settings(Fraction(16), {**keys, "f": f, "p": None, "q": None}, 7, 5))
    ratio = exact_ratio("rappor", calibrated.parameters)
    assert 1 < ratio <= ideal**2
    assert ln_upper(ratio) >= ln_upper(ideal**2) * Fraction(999, 1000)
    assert calibrated.permanent_ratio is None


@pytest.mark.parametrize(
    ("keys", "problems"),
    [
        ({"bits": None, "hashes": None}, ["bits", "hashes"]),
        ({"encoding": "one-hot"}, ["bits", "hashes", "cohorts"]),
        ({"p": None, "q": None}, ["p", "q"]),
        ({"reports": "one-time"}, ["p", "q"]),
        ({"p": Fraction(3, 4), "q": Fraction(1, 2)}, ["p"]),
        ({"p": Fraction(1, 2), "q": Fraction(1, 2)}, ["p"]),
        ({"f": 1 - Fraction(1, 10**12)}, ["f"]),
        ({"f": Fraction(1, 10**12)}, ["f"]),
        ({"p": Fraction(1, 2), "q": Fraction(1, 2) + Fraction(1, 10**12)}, ["p"]),
        ({"q": 1 - Fraction(1, 10**12), "p": 1 - Fraction(2, 10**12)}, ["p"]),
        ({"f": Fraction(1, 100)}, ["epsilon"]),
    ],
)
def test_refused(keys: dict[str, Any], problems: list[str]) -> None:
    """Keys that do not fit together are refused, all of them at once, each by its name."""
    with pytest.raises(CalibrationError) as error:
        mechanism("rappor").calibrate(Settings(Fraction(1), {**KEYS, **keys}, 7, 0))
    assert [problem.key for problem in error.value.problems] == problems


def test_too_many_one_hot_values() -> None:
    """One-hot RAPPOR refuses a list of values that would make records too long."""
    keys = {**KEYS, "encoding": "one-hot", "bits": None, "hashes": None, "cohorts": 1}
    with pytest.raises(CalibrationError, match="one-hot RAPPOR takes 4096 values, here 4097"):
        mechanism("rappor").calibrate(Settings(Fraction(3), keys, 7, 4097))


def test_decimals_are_exact(tmp_path: Path) -> None:
    """A decimal in the file is that decimal, not the float beside it."""
    metric = metric_of(tmp_path, "rappor", epsilon=1.1, f=0.45, p=0.39, q=0.61)
    assert metric.epsilon == Fraction(11, 10)
    assert metric.settings["f"] == Fraction(45, 100)
