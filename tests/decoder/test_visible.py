"""Values on a terminal: what is printed is what the value holds, and nothing in it is obeyed."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hubbub_decoder import State, estimate
from hubbub_decoder.render import as_text
from hubbub_decoder.visible import visible

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
