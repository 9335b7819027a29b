"""The sequence fragment puzzle, solved: real names are found and listed, and strings that nobody holds are not.

The names are those of the United States' census of 1990 with their frequencies, as the package ``names`` has them.
"""

from __future__ import annotations

import string
from functools import cache
from pathlib import Path
from typing import Any

import names
import numpy as np
import pytest
from scipy import stats

from hubbub_client.mechanisms.sequence_fragment_puzzle import fragment_at, puzzle_piece
from hubbub_decoder import Estimates, State, estimate, partial
from hubbub_decoder.discovery import Options, discover
from hubbub_decoder.errors import EstimateError
from hubbub_decoder.mechanisms import sequence_fragment_puzzle as puzzle
from hubbub_decoder.puzzle.evidence import Evidence
from hubbub_decoder.puzzle.solve import spelt
from hubbub_decoder.statistics.significance import Correction
from hubbub_registry import Metric
from hubbub_simulations.definitions import define
from hubbub_simulations.mechanisms import encode

from tests.decoder.reports import random_records

REPORTS = 200_000
KEYS = {"epsilon": 8, "hashes": 4096, "fragment_hashes": 256, "positions": 4}
LETTERS = Options(alphabet=string.ascii_lowercase)


@cache
def census() -> tuple[list[str], np.ndarray]:
    """First names, and what share of people has each."""
    share: dict[str, float] = {}
    for gender in ("male", "female"):
        for line in Path(names.FILES[f"first:{gender}"]).read_text().splitlines():
            name, percent = line.split()[:2]
            share[name.lower()] = share.get(name.lower(), 0.0) + float(percent)
    weights = np.array(list(share.values()))
    return list(share), weights / weights.sum()


@cache
def reports() -> tuple[Metric, State, dict[str, int]]:
    """The reports of devices that hold a first name each, and how many hold which."""
    metric = define("sequence-fragment-puzzle", **KEYS)
    rng = np.random.default_rng(20261130)
    held, share = census()
    index = rng.choice(len(held), REPORTS, p=share)
    records = encode(metric, [name.encode() for name in held], index, rng)
    holders = np.bincount(index, minlength=len(held))
    return metric, partial(metric, records), {name: int(n) for name, n in zip(held, holders, strict=True) if n}


@cache
def joined() -> Estimates:
    """All strings that were put together, tested in the reports of whole strings."""
    metric, state, _ = reports()
    return discover(metric, state, insignificant=True, options=LETTERS)


def listed_names(alpha: float, correction: Correction) -> set[str]:
    there = joined().significant(alpha, correction)
    return {name for name, listed in zip(joined().value, there, strict=True) if listed}


def held_by(share: float) -> set[str]:
    """The names that this share of devices hold at least, and that the positions hold."""
    _, _, holders = reports()
    return {name for name, n in holders.items() if n >= share * REPORTS and len(name) <= 8}


def test_frequent_names_are_listed() -> None:
    """Of 200,000 reports at epsilon 8 all names that 0.6 % hold are listed, and more than 20 in all."""
    listed = listed_names(0.05, "holm")
    assert len(held_by(0.006)) > 10
    assert held_by(0.006) <= listed
    assert len(listed) > 20


def test_no_false_name_is_listed() -> None:
    """At alpha 1e-6 no name is listed that nobody holds; at 0.05 four or more false ones are a chance below 1e-6."""
    _, _, holders = reports()
    assert stats.poisson.sf(3, 0.05) < 1e-6
    assert len(listed_names(0.05, "holm") - holders.keys()) <= 3
    assert listed_names(1e-6, "bonferroni") <= holders.keys()
    assert held_by(0.008) <= listed_names(1e-6, "bonferroni")


def test_intervals_cover_what_was_found() -> None:
    """Of all joined strings' 95 % intervals so many cover the true count that fewer are a chance below 1e-6."""
    found, (_, _, holders) = joined(), reports()
    low, high = found.confidence_interval()
    truth = np.array([holders.get(value, 0) for value in found.value])
    covered = int(((low <= truth) & (truth <= high)).sum())
    assert covered >= stats.binom.ppf(1e-6, len(found), 0.95)


def false_alarms(p_value: np.ndarray, found: Estimates) -> tuple[int, float]:
    """How many joined strings that nobody holds are significant at 0.05 each, and what is exceeded once in 1e6."""
    _, _, holders = reports()
    absent = np.array([value not in holders for value in found.value])
    return int((p_value[absent] <= 0.05).sum()), float(stats.binom.isf(1e-6, absent.sum(), 0.05))


def test_strings_that_nobody_holds_look_like_any_others() -> None:
    """A thousand false strings, found because fragments spoke for them, are significant no oftener than at random."""
    found = joined()
    false, most = false_alarms(found.p_value, found)
    assert len(found) > 500
    assert false <= most


def test_what_found_them_would_not_do_to_test_them() -> None:
    """The same check fails for a test in the reports of fragments: it finds nearly all false strings significant."""
    metric, state, _ = reports()
    found = joined()
    scores = np.zeros((len(found), 4))
    pieces = [puzzle_piece(value.encode(), metric.device.parameters) for value in found.value]
    fragments = sorted({cut for value in found.value for cut in cuts(value)})
    evidence = Evidence(metric, state, fragments)
    for position in range(4):
        here = evidence.at(position)
        at = [fragments.index(cuts(value)[position]) for value in found.value]
        scores[:, position] = here[pieces, at]
    false, most = false_alarms(np.asarray(stats.norm.sf(scores.sum(axis=1) / 2)), found)
    assert false > 10 * most


def cuts(value: str) -> list[bytes]:
    return [fragment_at(value.encode(), position, 2) for position in range(4)]


def found_in(strings: list[str], alphabet: str, **keys: Any) -> tuple[Metric, State, Estimates]:
    metric = define("sequence-fragment-puzzle", **{**KEYS, "epsilon": 12, "fragment_hashes": 64, **keys})
    rng = np.random.default_rng(5)
    index = np.repeat(np.arange(len(strings)), 4000)
    state = partial(metric, encode(metric, [each.encode() for each in strings], index, rng))
    return metric, state, discover(metric, state, options=Options(32, alphabet=alphabet))


def test_each_report_has_its_own_say() -> None:
    """Finding reads the reports of fragments alone, and counting those of whole strings alone."""
    metric, state, _ = found_in(["ab", "bac"], "abc")
    options = Options(32, alphabet="abc")
    counts, fragments = state.arrays["counts"], state.arrays["fragments"]
    no_whole = State.of(metric, state.n, counts=np.zeros_like(counts), fragments=fragments)
    other_fragments = State.of(metric, state.n, counts=counts, fragments=np.roll(fragments, 1))
    found = puzzle.discover(metric, state, options)
    assert {"ab", "bac"} <= set(found.values)
    assert puzzle.discover(metric, no_whole, options) == found
    listed = estimate(metric, state, found.values)
    assert np.array_equal(estimate(metric, other_fragments, found.values).count, listed.count)
    assert np.array_equal(estimate(metric, other_fragments, found.values).p_value, listed.p_value)


@pytest.mark.parametrize("fragment_bytes", [1, 2, 3])
def test_any_script_is_found(fragment_bytes: int) -> None:
    """Characters of one to four bytes, cut by fragments anywhere, the empty text and one that just fits are found."""
    strings = ["", "ab", "naïve", "aé", "€b", "😀", "é" * (2 * fragment_bytes)]
    fitting = [each for each in strings if len(each.encode()) <= 4 * fragment_bytes]
    _, _, listed = found_in(fitting, "abeinvïé€😀", fragment_bytes=fragment_bytes, piece_bits=4)
    assert set(fitting) <= set(listed.value)


def test_a_longer_string_is_counted_and_its_beginning_is_not_listed() -> None:
    """A text that the positions do not hold is not found, and what they hold of it does not pass for it."""
    metric, state, listed = found_in(["dreadnought", "ship"], "adeghinoprstu")
    assert "ship" in listed.value
    assert not {"dreadnou", "dreadnought"} & set(listed.value)
    assert "texts of at most 8 bytes over the 13 characters 'adeghinoprstu'" in listed.notes[-1]
    assert estimate(metric, state, ["dreadnought"]).count[0] == pytest.approx(4000, abs=400)


def test_one_report_finds_nothing_that_it_could_list() -> None:
    """One report, and equal ones, give joined strings and figures for each of them, and no warning."""
    metric = define("sequence-fragment-puzzle", **{**KEYS, "fragment_hashes": 16})
    for records in (random_records(metric, 1, 1), np.repeat(random_records(metric, 1, 1), 50, axis=0)):
        found = discover(metric, partial(metric, records), insignificant=True, options=Options(8, alphabet="abc"))
        assert np.isfinite(found.count).all()
        assert not found.significant(1e-6, "none").any() or len(records) > 1


@pytest.mark.parametrize(
    ("positions", "piece_bits", "tried", "most"),
    [(8, 16, "46,071,808", "8,388,608"), (1, 14, "11,517,952", "8,388,608"), (64, 11, "1,439,744", "1,048,576")],
)
def test_an_alphabet_that_makes_too_many_fragments_is_refused(
    positions: int, piece_bits: int, tried: str, most: str
) -> None:
    """The error says how many fragments there would be, how many there may be, and what to do."""
    metric = define("sequence-fragment-puzzle", epsilon=8, positions=positions, piece_bits=piece_bits, hashes=2)
    said = f"26 characters make {tried} fragments .* more than {most}; name fewer characters"
    with pytest.raises(EstimateError, match=said):
        discover(metric, partial(metric, random_records(metric, 1, 1)), options=LETTERS)


def test_what_is_joined_wrongly_is_not_spelt() -> None:
    """Bytes with another piece than their own, no UTF-8, or text that no device sends give no string."""
    p = define("sequence-fragment-puzzle", epsilon=8, piece_bits=1).device.parameters
    for data, text in ((b"abc", "abc"), (b"\xc3", None), (b"\xa9b", None), ("e\u0301".encode(), None)):
        assert {spelt(data, piece, p) for piece in (0, 1)} == {text, None}
