"""The page can be read by everybody, printed, and opened with no network and no trust."""

import itertools
import re
from html.parser import HTMLParser
from pathlib import Path

import pytest

from hubbub_registry.statement.build import statement
from hubbub_registry.statement.html import html

from tests.registry.statement.registries import facts_of

VOID = {"meta"}


class Page(HTMLParser):
    """Checks nesting as it goes; keeps the tags."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


@pytest.fixture
def text(tmp_path: Path) -> str:
    """The page of a registry with every mechanism."""
    return html(statement(facts_of(tmp_path)))


@pytest.fixture
def page(text: str) -> Page:
    """The same, parsed."""
    return Page(text)


def test_well_formed(text: str, page: Page) -> None:
    """Every tag that is opened is closed, in order, and the page says that it is HTML, in English and UTF-8."""
    assert not page.open
    assert text.startswith("<!DOCTYPE html>\n")
    assert page.tags[0] == ("html", {"lang": "en"})
    assert ("meta", {"charset": "utf-8"}) in page.tags
    assert text.index("<meta charset") < 1024


def test_needs_nothing(text: str, page: Page) -> None:
    """No script, no resource and no address outside of the page; and a policy that would refuse them."""
    assert {tag for tag, _ in page.tags} <= {
        "html", "head", "meta", "title", "style", "body", "header", "main", "nav", "section",
        "h1", "h2", "h3", "p", "ul", "li", "a", "code", "strong",
        "table", "caption", "thead", "tbody", "tr", "th", "td",
    }  # fmt: skip
    names = {name for _, attributes in page.tags for name in attributes}
    assert names <= {
        "lang", "charset", "http-equiv", "content", "name", "id", "class", "scope", "href",
        "aria-label", "aria-labelledby",
    }  # fmt: skip
    style = re.findall(r"<style>(.*?)</style>", text, re.DOTALL)
    assert len(style) == 1
    assert "url(" not in style[0]
    assert "@import" not in style[0]
    assert "://" not in text
    policy = next(each["content"] for _, each in page.tags if each.get("http-equiv") == "Content-Security-Policy")
    assert policy is not None
    assert policy.startswith("default-src 'none'; ")


def test_headings(page: Page) -> None:
    """There is one h1, and no level of heading is left out."""
    levels = [int(tag[1]) for tag, _ in page.tags if re.fullmatch("h[1-6]", tag)]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(after <= before + 1 for before, after in itertools.pairwise(levels))


def test_tables(text: str) -> None:
    """Every table has a caption that says something, named columns, a named row each, and as many cells in each row."""
    tables = re.findall(r"<table.*?</table>", text, re.DOTALL)
    assert len(tables) > 10
    for table in tables:
        assert re.search(r"<caption>.+?</caption>", table)
        columns = re.findall(r'<th scope="col">(.*?)</th>', table)
        assert all(columns)
        body = table[table.index("<tbody>") :]
        for row in re.findall(r"<tr>.*?</tr>", body):
            assert re.match(r'<tr><th scope="row">.+?</th>', row)
            assert row.count("<td>") == len(columns) - 1


def test_links(page: Page) -> None:
    """Every address is one of a section of the page, every section is in the contents, and no id stands twice."""
    ids = [each["id"] for _, each in page.tags if "id" in each]
    links = [each["href"] for tag, each in page.tags if tag == "a"]
    assert len(ids) == len(set(ids))
    assert links == [f"#{each['id']}" for tag, each in page.tags if tag == "section"]
    assert all(each["aria-labelledby"] in ids for tag, each in page.tags if tag == "section")
