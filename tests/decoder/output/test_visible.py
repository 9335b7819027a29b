"""Values on a terminal: what is printed is what the value holds, and nothing in it is obeyed."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hubbub_decoder import State, estimate, estimate_joint, partial
from hubbub_decoder.joint.render import as_text as joint_text
from hubbub_decoder.output.render import as_text
from hubbub_decoder.output.visible import visible, visible_value

from tests.decoder.reports import random_records
from tests.joints import joint, part
from tests.registries import metric_of


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        (":smile: [b]x[/b] \\", ":smile: [b]x[/b] \\"),
        ("\x1b[31mred\x07", "\\x1b[31mred\\x07"),
        ("a\tb\r\n", "a\\tb\\r\\n"),
        ("\u202eabc\u200f\ufeff\u2028", "\\u202eabc\\u200f\\ufeff\\u2028"),
        ("\U000e0041", "\\U000e0041"),
        ("\ud83d", "\\ud83d"),
        ("日本語 é 👨\u200d👩\u200d👧 ❤️", "日本語 é 👨\u200d👩\u200d👧 ❤️"),
    ],
)
def test_what_is_shown(text: str, shown: str) -> None:
    """Control and format characters are escapes; markup, codes, other scripts and joined emoji stay as they are."""
    assert visible(text) == shown


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a", "a"),
        ("a b", "a b"),
        ("a ", "a\\x20"),
        (" a  b", "\\x20a  b"),
        ("\xa0a\u3000", "\\xa0a\\u3000"),
        ("a\u200d", "a\\u200d"),
        ("\ta\n", "\\ta\\n"),
        ("  ", "\\x20\\x20"),
        ("", ""),
        ("👩\u200d👧", "👩\u200d👧"),
    ],
)
def test_blanks_at_the_ends_are_seen(text: str, shown: str) -> None:
    """A blank of any kind that begins or ends a value is an escape; within one it stays as it is."""
    assert visible_value(text) == shown


@given(st.text(alphabet=st.sampled_from("a \t\xa0\u3000\u200d"), max_size=6))
def test_no_value_ends_in_what_is_not_seen(text: str) -> None:
    """What is shown neither begins nor ends with a blank, and is one line."""
    shown = visible_value(text)
    assert shown == shown.strip().strip("\u200c\u200d")
    assert len(shown.splitlines()) <= 1


def test_blanks_in_candidates_are_noted(tmp_path: Path) -> None:
    """Candidates that differ in a blank at an end are two rows that look different, and a note names them."""
    metric = metric_of(tmp_path, "hadamard-count-mean-sketch")
    state = partial(metric, random_records(metric, 50, 1))
    found = estimate(metric, state, ["a", "a ", " a", "b\u3000", "c\xa0", "d"])
    (note,) = found.notes
    assert note.startswith(
        "candidates that begin or end with a blank: a\\x20, \\x20a, b\\u3000 and 1 more; each is another value than "
    )
    rows = [line.split()[0] for line in as_text(found).splitlines() if line.rstrip().endswith(("yes", "no"))]
    assert sorted(rows) == sorted(["a", "a\\x20", "\\x20a", "b\\u3000", "c\\xa0", "d"])
    assert estimate(metric, state, ["a b", "a"]).notes == ()


def test_blanks_in_either_list_are_noted(tmp_path: Path) -> None:
    """The same holds of both sides of a joint table."""
    metric = joint(tmp_path, part("hadamard-count-mean-sketch"), part("hadamard-count-mean-sketch"))
    state = partial(metric, random_records(metric, 2000, 1))
    found = estimate_joint(metric, state, ["a", "a "], [" b", "a "])
    assert sum("a\\x20, \\x20b; each is another value" in note for note in found.notes) == 1
    rows = [line.split()[:2] for line in joint_text(found).splitlines() if "%" in line]
    assert [second for _, second in rows].count("\\x20b") == 3


@given(st.text())
def test_nothing_is_obeyed(text: str) -> None:
    """Whatever the value, no control character is left, and what is shown is one line."""
    shown = visible(text)
    assert len(shown.splitlines()) <= 1
    assert not any(ord(character) < 32 or 127 <= ord(character) < 160 for character in shown)


def test_a_table_prints_values_as_they_are(tmp_path: Path) -> None:
    """A code such as :smile: stays text, a tab and an escape are seen, and every row is as wide as the others."""
    values = [":smile:", "\x1b[31mred", "a\tb", "[b]x[/b]"]
    metric = metric_of(tmp_path, "count-mean-sketch")
    parameters = metric.device.parameters
    shape = (1 << parameters["hashes_bits"], 1 << parameters["width_bits"])
    state = State.of(metric, 64, sums=np.ones(shape, np.int64), reports=np.ones(shape[0], np.int64))
    text = as_text(estimate(metric, state, values))
    rows = [line for line in text.splitlines() if line.rstrip().endswith(("yes", "no"))]
    for shown in (":smile:", "\\x1b[31mred", "a\\tb", "[b]x[/b]"):
        assert sum(shown in row for row in rows) == 1
    assert len({len(row) for row in rows}) == 1
    assert "\x1b" not in text
