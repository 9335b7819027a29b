"""The sequence fragment puzzle's registry keys: how epsilon is split, and what is refused."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from hubbub_client.mechanisms.local_hashing import worst_ratio
from hubbub_client.mechanisms.sequence_fragment_puzzle import fragment_part, whole_part
from hubbub_registry import RegistryError
from hubbub_registry.advice import Conditions, advise
from hubbub_registry.advice.error import rare_value_error
from hubbub_registry.exact import exp_lower, ln_upper
from hubbub_registry.mechanisms import SPELLING

from tests.registries import metric_of


def parts_of(folder: Path, **keys: Any) -> tuple[Fraction, Fraction, Fraction]:
    """e^epsilon of the whole string's report, of the fragment's, and of the record."""
    metric = metric_of(folder, "sequence-fragment-puzzle", **keys)
    p = metric.device.parameters
    whole, fragment = (Fraction(*worst_ratio(part(p).parameters)) for part in (whole_part, fragment_part))
    return whole, fragment, metric.ratio


@pytest.mark.parametrize(("split", "share"), [(None, "0.4"), (0.1, "0.1"), (0.5, "0.5"), (0.9, "0.9")])
@pytest.mark.parametrize("epsilon", [1, 4, 16])
def test_the_parts_have_their_shares(tmp_path: Path, split: float | None, share: str, epsilon: int) -> None:
    """The whole string has 99.9 % of its share of epsilon at least, the fragment the rest of what is declared."""
    whole, fragment, both = parts_of(tmp_path, split=split, epsilon=epsilon)
    own = Fraction(share) * epsilon
    assert both == whole * fragment <= exp_lower(Fraction(epsilon))
    assert own * Fraction(999, 1000) <= ln_upper(whole)
    assert whole <= exp_lower(own)
    assert ln_upper(both) >= epsilon * Fraction(999, 1000)


@pytest.mark.parametrize("split", [0.0999, 0.9001, 0.5e-9])
def test_a_part_with_next_to_nothing_is_refused(tmp_path: Path, split: float) -> None:
    """A share with which nothing is found, or nothing can be tested, is refused, with the shares there are."""
    with pytest.raises(RegistryError, match=r"m\.split: .* next to nothing; write a share from 0\.1 to 0\.9"):
        parts_of(tmp_path, split=split)


def test_the_two_reports_hash_apart(tmp_path: Path) -> None:
    """They have salts of their own, which another salt changes both, and at most 256 buckets."""
    one, other = (
        metric_of(tmp_path, "sequence-fragment-puzzle", salt=salt, epsilon=16).device.parameters
        for salt in ("0123456789abcdef", "0123456789abcdee")
    )
    salts = {p[key] for p in (one, other) for key in ("salt", "fragment_salt")}
    assert len(salts) == 4
    assert (one["width_bits"], one["fragment_width_bits"]) == (8, 8)


@pytest.mark.parametrize("mechanism", sorted(SPELLING))
def test_no_other_mechanism_is_advised(tmp_path: Path, mechanism: str) -> None:
    """What finds unknown values is left alone by --advise, which compares errors of known ones."""
    advice = advise(metric_of(tmp_path, mechanism), Conditions())
    assert advice.advised is None
    assert "values that nobody named" in advice.because


def test_the_error_is_that_of_whole_strings(tmp_path: Path) -> None:
    """What --advise says of a rare value is what local hashing at the whole string's share has."""
    metric = metric_of(tmp_path, "sequence-fragment-puzzle")
    whole = rare_value_error("local-hashing", whole_part(metric.device.parameters).parameters, 1000)
    assert advise(metric, Conditions(1000)).now == whole
    assert metric.settings["split"] == Fraction(2, 5)
