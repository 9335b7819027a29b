"""Lists of values: one a line, UTF-8, each once."""

from pathlib import Path

import pytest

from hubbub_registry.lists import ListError, read_list, tidy


def test_read_list(tmp_path: Path) -> None:
    """A file may have a mark at its start, carriage returns and blank lines; other spaces belong to the value."""
    path = tmp_path / "list.txt"
    path.write_bytes(b"\xef\xbb\xbfone\r\n\n  \ntwo words \n\tthree")
    assert read_list(path) == ("one", "two words ", "\tthree")


def test_lines_end_as_on_any_system(tmp_path: Path) -> None:
    """Lines that end in a line feed, a carriage return, or both are as many values, and faults are where they are."""
    path = tmp_path / "list.txt"
    for end in (b"\n", b"\r\n", b"\r"):
        path.write_bytes(end.join([b"a", b"", b"b ", b"c"]))
        assert read_list(path) == ("a", "b ", "c")
        path.write_bytes(end.join([b"a", b"", b"\xff"]))
        with pytest.raises(ListError, match="not UTF-8 at line 3"):
            read_list(path)


def test_normal_form() -> None:
    """Values are in the normal form in which devices hash them."""
    assert tidy(["e\u0301"]) == ("é",)


def test_places_of_faults(tmp_path: Path) -> None:
    """Faults of a file are named by their lines, blank ones counted, and no more than three are named."""
    path = tmp_path / "list.txt"
    path.write_text("a\n\na\na\na\na\n")
    with pytest.raises(ListError, match=r"line 3, 'a', repeats line 1, line 4, .* line 5, .*, and 1 more"):
        read_list(path)


def test_long_value(tmp_path: Path) -> None:
    """A value of 256 bytes is the longest."""
    assert tidy(["a" * 256]) == ("a" * 256,)
    with pytest.raises(ListError, match="value number 1 takes more than 256 bytes"):
        tidy(["a" * 255 + "é"])
