"""eps(t) of t RAPPOR reports of one value: equal to what enumerating every output gives."""

from collections.abc import Iterator
from fractions import Fraction
from itertools import product
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hubbub_registry.exact import ln_upper
from hubbub_registry.longitudinal import MOST_EXACT_REPORTS, one_value_epsilon
from hubbub_registry.longitudinal import one_value_ratio as ratio_of
from hubbub_registry.mechanisms import exact_ratio

from tests.registries import metric_of

Parameters = dict[str, int]


def parameters(prr: tuple[int, int], irr: tuple[int, int, int], hashes: int = 0) -> Parameters:
    """RAPPOR's integers, as a plan has them."""
    names = ("prr_threshold", "prr_precision", "irr_q", "irr_p", "irr_precision", "hashes")
    return dict(zip(names, (*prr, *irr, hashes), strict=True))


@st.composite
def any_parameters(draw: st.DrawFn) -> Parameters:
    """Any permanent flip below 1/2, and any p below q."""
    prr_precision, irr_precision = draw(st.integers(2, 6)), draw(st.integers(2, 6))
    flip = draw(st.integers(1, (1 << (prr_precision - 1)) - 1))
    p = draw(st.integers(1, (1 << irr_precision) - 2))
    q = draw(st.integers(p + 1, (1 << irr_precision) - 1))
    return parameters((flip, prr_precision), (q, p, irr_precision))


def one_value_ratio(p: Parameters, reports: int) -> Fraction:
    """RAPPOR's, as the client computes it."""
    return ratio_of("rappor", p, reports)


def outputs_of_a_bit(p: Parameters, held: int, reports: int) -> dict[tuple[int, ...], Fraction]:
    """Output -> exact probability of ``reports`` reported bits whose filter bit is ``held``, over the permanent one."""
    flip = Fraction(p["prr_threshold"], 1 << p["prr_precision"])
    shown = [Fraction(p["irr_p"], 1 << p["irr_precision"]), Fraction(p["irr_q"], 1 << p["irr_precision"])]
    found = {}
    for output in product((0, 1), repeat=reports):
        found[output] = Fraction(0)
        for permanent in (0, 1):
            chance = flip if permanent != held else 1 - flip
            for bit in output:
                chance *= shown[permanent] if bit else 1 - shown[permanent]
            found[output] += chance
    return found


def ratios(p: Parameters, reports: int) -> Iterator[tuple[Fraction, tuple[int, ...], int]]:
    """(ratio, output, filter bit it speaks for) of every output of one bit."""
    zero, one = outputs_of_a_bit(p, 0, reports), outputs_of_a_bit(p, 1, reports)
    for output in zero:
        yield one[output] / zero[output], output, 1
        yield zero[output] / one[output], output, 0


@given(any_parameters(), st.integers(1, 6))
@settings(max_examples=100, deadline=None)
def test_enumerated_per_bit(p: Parameters, reports: int) -> None:
    """The worst outputs of a bit are all ones and all zeros, and their product is the ratio that is claimed."""
    worst = {held: max(found for found in ratios(p, reports) if found[2] == held) for held in (0, 1)}
    assert worst[1][1] == (1,) * reports
    assert worst[0][1] == (0,) * reports
    assert one_value_ratio(p, reports) == worst[0][0] * worst[1][0]


@pytest.mark.parametrize("reports", [1, 2, 3])
def test_enumerated_whole(reports: int) -> None:
    """For two values of one-hot RAPPOR, the worst of all outputs of all bits has the ratio that is claimed."""
    p = parameters((3, 4), (12, 5, 4))
    zero, one = outputs_of_a_bit(p, 0, reports), outputs_of_a_bit(p, 1, reports)
    whole = max(one[a] * zero[b] / (zero[a] * one[b]) for a in zero for b in zero)
    assert one_value_ratio(p, reports) == whole


@given(any_parameters(), st.integers(1, 4))
def test_hashes(p: Parameters, hashes: int) -> None:
    """Each hash adds the same again."""
    assert one_value_ratio({**p, "hashes": hashes}, 3) == one_value_ratio(p, 3) ** hashes


@given(any_parameters())
@settings(max_examples=60, deadline=None)
def test_from_one_report_to_all(p: Parameters) -> None:
    """eps(1) is eps_1; eps(t) rises, each report adding less than the one before, and never reaches eps_inf."""
    one = one_value_ratio(p, 1)
    assert one == exact_ratio("rappor", p)
    permanent = exact_ratio("rappor", {**p, "irr_precision": 0})
    before, gain = Fraction(1), one
    for reports in range(1, 12):
        now = one_value_ratio(p, reports)
        assert before < now < permanent
        assert now / before <= gain
        before, gain = now, now / before


def test_limit() -> None:
    """After many reports what one value leaks is eps_inf, to 1e-9."""
    p = parameters((1, 2), (3, 2, 2))
    permanent, many = exact_ratio("rappor", {**p, "irr_precision": 0}), one_value_ratio(p, 400)
    assert many < permanent
    assert ln_upper(permanent) - ln_upper(many) < Fraction(1, 10**9)


def test_past_the_exact_ones(tmp_path: Path) -> None:
    """Past the reports that are computed exactly the figure is eps_inf, which is never below the exact one."""
    metric = metric_of(tmp_path, "rappor")
    assert metric.permanent_ratio is not None
    assert one_value_epsilon(metric, MOST_EXACT_REPORTS) <= one_value_epsilon(metric, MOST_EXACT_REPORTS + 1)
    assert one_value_epsilon(metric, 10**9) == ln_upper(metric.permanent_ratio)


def test_only_for_permanent_noise(tmp_path: Path) -> None:
    """A metric without permanent noise has no such figure."""
    with pytest.raises(ValueError, match="metric m has no permanent noise"):
        one_value_epsilon(metric_of(tmp_path, "count-mean-sketch"), 2)
