"""Strings that nobody named: frequent ones are found, and false ones are listed as seldom as is said."""

from __future__ import annotations

from functools import cache
from importlib import resources

import numpy as np
import pytest
from scipy import stats

from hubbub_client.mechanisms.prefix_extending_method import part_of
from hubbub_decoder import State, partial
from hubbub_decoder.counting.hashing import Keys
from hubbub_decoder.discovery import Options, discover
from hubbub_decoder.discovery.parts import Part
from hubbub_decoder.discovery.peeling import standing
from hubbub_decoder.discovery.pooled import first_counted
from hubbub_registry import Metric
from hubbub_simulations.definitions import define
from hubbub_simulations.mechanisms import encode

NAME = "prefix-extending-method"
HEXADECIMAL = Options(alphabet="0123456789abcdef")


@cache
def first_names() -> tuple[list[str], np.ndarray]:
    """First names of the 1990 census of the United States with their shares, as the ``names`` package ships them."""
    share: dict[str, float] = {}
    for kind in ("male", "female"):
        for line in (resources.files("names") / f"dist.{kind}.first").read_text().splitlines():
            name, percent = line.split()[:2]
            share[name.title()] = share.get(name.title(), 0) + float(percent) / 200
    return list(share), np.array(list(share.values()))


def reports(metric: Metric, values: list[str], chance: np.ndarray, n: int, seed: int) -> tuple[State, np.ndarray]:
    """The state of ``n`` devices, each with a value drawn by ``chance``; and how many hold each."""
    rng = np.random.default_rng(seed)
    held = rng.choice(len(values), n, p=chance / chance.sum())
    records = encode(metric, [value.encode() for value in values], held, rng)
    return partial(metric, records), np.bincount(held, minlength=len(values))


def test_frequent_names_are_found_and_counted() -> None:
    """Of real first names every one that is frequent enough is listed, hardly one that nobody has; counts are right.

    Enough is five standard errors above the 4.3 that a beginning must reach in the reports of one part, so that one of
    the few names is missed with a probability below 1e-6; a count is off by six standard errors as seldom, and four
    false strings where one in twenty runs has one are listed as seldom.
    """
    names, share = first_names()
    metric = define(NAME, epsilon=4, longest=7, salt="0123456789abcdef")
    n, p = 150_000, metric.device.parameters
    state, holders = reports(metric, names, share, n, seed=3)
    q, keep = 1 / (1 << p["width_bits"]), p["threshold"] / (1 << p["precision"])
    parts = np.bincount([part_of(slot, p) for slot in range(1 << p["slots_bits"])]) / (1 << p["slots_bits"])
    error = np.sqrt(q * (1 - q) / (n * parts.min())) / (keep * (1 - q))
    enough = [name for name, held in zip(names, holders, strict=True) if held > n * error * 9.3 and len(name) <= 7]
    assert len(enough) >= 4
    found = discover(metric, state)
    assert set(enough) <= set(found.value)
    assert len(found) > len(enough)
    truth = dict(zip(names, holders.tolist(), strict=True))
    assert sum(value not in truth for value in found.value) < 4
    assert all(
        abs(count - truth.get(value, 0)) < 6 * error
        for value, count, error in zip(found.value, found.count, found.std_error, strict=True)
    )
    assert any("strings were found, and tested" in note for note in found.notes)


def nothing_frequent(seed: int) -> tuple[Metric, State]:
    """20,000 devices with 20,000 different strings."""
    metric = define(NAME, epsilon=4, longest=5, items=4096, families=4, salt=f"{seed:016x}")
    values = [f"{i * 2654435761 % 4294967296:08x}"[: 4 + i % 3] for i in range(20_000)]
    return metric, reports(metric, values, np.ones(20_000), 20_000, seed)[0]


def test_false_strings_are_listed_no_more_often_than_alpha() -> None:
    """Where no string is frequent, a run lists one with probability 5 % at most, whatever number it had to choose from.

    More than 7 of 15 runs at 5 % have a probability of 2e-7.
    """
    listed = []
    for seed in range(15):
        metric, state = nothing_frequent(seed)
        found = discover(metric, state, alpha=0.05, insignificant=True, options=HEXADECIMAL)
        assert len(found) > 5  # else there is nothing to choose wrongly from
        listed.append(bool(found.significant(0.05, "holm").any()))
    assert stats.binom.sf(sum(listed) - 1, 15, 0.05) > 1e-6


def test_testing_in_the_reports_that_found_would_be_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    """Counted in the very reports in which they were found, strings that hardly anybody has are listed in every run."""
    module = "hubbub_decoder.mechanisms.prefix_extending_method"
    monkeypatch.setattr(f"{module}.first_counted", lambda size, p: first_counted(size, p) - 1)
    for seed in range(3):
        metric, state = nothing_frequent(seed)
        assert len(discover(metric, state, alpha=0.05, options=HEXADECIMAL)) > 0


def test_a_string_and_one_that_goes_on_are_two() -> None:
    """A word and a longer one that begins with it are both found, each with its own count; so are other scripts."""
    values = ["car", "carpet", "Zoë", "東京", "\N{GRINNING FACE}", "Ж"]
    metric = define(NAME, epsilon=4, longest=7, items=4096, families=4)
    state, holders = reports(metric, values, np.array([3, 2, 2, 2, 2, 1.0]), 30_000, seed=5)
    found = discover(metric, state)
    assert set(found.value) == set(values)
    for value, count, error in zip(found.value, found.count, found.std_error, strict=True):
        assert abs(count - holders[values.index(value)]) < 6 * error


def test_what_is_longer_than_the_longest_is_said() -> None:
    """A frequent string that no level shows the end of is not listed; a note says that such beginnings are frequent."""
    metric = define(NAME, epsilon=4, longest=5, items=4096, families=4)
    state, _ = reports(metric, ["exactly", "abcde"], np.ones(2), 20_000, seed=6)
    found = discover(metric, state)
    assert found.value == ("abcde",)  # as long as the longest, and tested as a whole
    assert any("beginnings of 5 bytes are frequent, and no level goes on" in note for note in found.notes)


def test_what_passes_by_chance_is_not_called_longer() -> None:
    """Where nothing is frequent no note says that something is, though some beginnings pass at every level.

    A beginning of noise is called frequent in one level of 20, of the alphabet's: hardly ever in all six.
    """
    metric = define(NAME, epsilon=4, longest=5, items=4096, families=4)
    rare = [f"{number:03x}" for number in range(1000)]
    said = 0
    for seed in range(6):
        state, _ = reports(metric, rare, np.ones(len(rare)), 20_000, seed=seed)
        said += any("no level goes on" in note for note in discover(metric, state, options=HEXADECIMAL).notes)
    assert said < 5  # 5 of 6 at 1/20 each: below 2e-6, of 6 below 2e-8


def test_short_strings_leave_no_phantoms_of_longer_ones() -> None:
    """A beginning that shares an item with a frequent string that has ended is not followed, nor called frequent.

    In each of four families thousands of beginnings have the item of one of the four strings. One of noise alone is
    called frequent in a list of 20, so in five lists of five once in 3e6.
    """
    metric = define(NAME, epsilon=6, longest=7, items=4096, families=4)
    short = ["ab", "cde", "fgh", "ij"]
    said = 0
    for seed in range(5):
        state, _ = reports(metric, short, np.ones(4), 40_000, seed=seed)
        found = discover(metric, state)
        assert set(found.value) >= set(short)
        said += any("no level goes on" in note for note in found.notes)
    assert said < 5


def test_little_work_finds_the_most_frequent_and_says_so() -> None:
    """With one beginning kept at a time only one string is followed, and a note says that more may be there."""
    metric = define(NAME, epsilon=4, longest=5, items=4096, families=4)
    state, _ = reports(metric, ["abcd", "wxyz", "12345"], np.array([5, 3, 2.0]), 20_000, seed=7)
    shares: list[float] = []
    found = discover(metric, state, options=Options(kept=1, progress=shares.append))
    assert found.value == ("abcd",)
    assert any("a larger --keep may find more" in note for note in found.notes)
    assert shares == sorted(shares)
    assert shares[-1] == 1


def test_a_string_that_shares_an_item_with_a_frequent_one_is_passed_over() -> None:
    """Of two candidates of one item in every family only the first stands; of one in half of them, both do."""
    metric = define(NAME, epsilon=4, longest=5, items=4096, families=2)
    state, _ = reports(metric, ["frequent"], np.ones(1), 20_000, seed=8)
    part = Part.of(metric, state, metric.device.parameters["levels"])
    item = int(part.support[0].argmax())
    part.support[:] = part.support.mean(axis=1, keepdims=True).astype(np.int64)
    part.support[:, item] += 10_000
    part.support[1, item + 1] += 10_000

    class Placed(Part):
        def items_of(self, keys: Keys) -> np.ndarray:
            return np.array([[item, item, item], [item, item, item + 1]])

    placed = Placed(**vars(part))
    three = Keys(np.zeros(3, np.uint64), np.zeros(3, np.uint64))
    assert standing(placed, three, np.full(3, 4.0)).tolist() == [0, 2]
