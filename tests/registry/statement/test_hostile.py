"""What a registry says can look like markup, and changes nothing but its own words."""

from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from markdown_it.token import Token

from hubbub_registry.statement import document as model
from hubbub_registry.statement.build import statement
from hubbub_registry.statement.deployment import yaml_text
from hubbub_registry.statement.document import Code, Strong, plain
from hubbub_registry.statement.facts import Facts
from hubbub_registry.statement.html import html
from hubbub_registry.statement.markdown import markdown

from tests.registry.statement.registries import facts_of

HOSTILE = [
    "<script>alert(1)</script>",
    "</td></tr></table><h1>All is well</h1>",
    "\"><img src=x onerror=alert(1)>",
    "' onmouseover='alert(1)",
    "<!-- ",
    "]]></style><style>*{display:none}",
    "&lt;b&gt; &amp; &#60;",
    "[click](javascript:alert(1)) ![x](http://example.org/x.png)",
    "a | b | c\n| --- | --- |\n| 1 | 2 |",
    "\\| \\\\| \\`",
    "`` ` ``` code",
    "**bold** _it_ ~~gone~~ __x__",
    "# Heading\n\n## Another\n\nText\n===\nText\n---",
    "```\nfence\n~~~",
    "    indented as code",
    "- item\n1. item\n+ item\n> quote",
    "---",
    "1. item",
    "12) item",
    "+ item",
    "<https://example.org> [ref]: http://example.org",
    "line one\r\nline two\u2028line three\x85four",
    "a\x00b\x07c\x1b[31m",
    "safe \u202e txt.exe \u2066 x",
    "key: value\n- list\nother: [1, 2]\n...\n---\n",
    "!!python/object:os.system {a: b} *alias &anchor % @ `",
    "$x$ $$y$$",
    "   ",
    "🙂" * 300,
]  # fmt: skip
REASONABLE = "These are just some words of a person"


class Tags(HTMLParser):
    """Every tag with its attributes, comment and declaration of a page, in order; and its texts."""

    def __init__(self) -> None:
        super().__init__()
        self.structure: list[object] = []
        self.texts: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.structure.append((tag, attrs))

    def handle_endtag(self, tag: str) -> None:
        self.structure.append(f"/{tag}")

    def handle_comment(self, data: str) -> None:
        self.structure.append(("comment", data))

    def handle_data(self, data: str) -> None:
        self.texts.append(data)


def tags_of(page: str) -> Tags:
    """A page, parsed."""
    tags = Tags()
    tags.feed(page)
    tags.close()
    return tags


PARSER = MarkdownIt("commonmark").enable(["table", "strikethrough"])


def tokens_of(text: str) -> list[str]:
    """The kinds of everything in a Markdown text but words, in order."""

    def walk(tokens: list[Token]) -> Iterator[str]:
        for token in tokens:
            if token.type == "inline":
                yield from walk(token.children or [])
            elif token.type not in ("text", "text_special"):
                yield f"{token.type} {token.tag}"

    return list(walk(PARSER.parse(text)))


def shape_of(value: Any) -> Any:
    """A YAML value without the words: keys and types."""
    if isinstance(value, dict):
        return {key: shape_of(part) for key, part in value.items()}
    if isinstance(value, list):
        return [shape_of(part) for part in value]
    return type(value).__name__


def facts_saying(folder: Path, said: str) -> Facts:
    """The facts of a registry that says ``said`` in every place that takes words of a person's own."""
    long = f"{said} and so on, for long enough"
    silence = {"memoisation": long}
    metrics: dict[str, dict[str, Any]] = {
        "a": {"mechanism": "rappor", "description": long, "owner": long, "silence": silence},
        "b": {
            "mechanism": "randomized-response", "values": [long, "other"], "description": long,
            "lifetime_epsilon": "unbounded", "unbounded_justification": long,
        },
    }  # fmt: skip
    stated = dict.fromkeys(("controller", "contact", "purpose", "retention", "region"), long)
    return facts_of(folder, metrics, {**stated, "notes": " ".join(long.split())})


@pytest.fixture(scope="module")
def harmless(tmp_path_factory: pytest.TempPathFactory) -> Facts:
    """The same registry with ordinary words."""
    return facts_saying(tmp_path_factory.mktemp("harmless"), REASONABLE)


@pytest.mark.parametrize("said", [words for words in HOSTILE if len(words) < 200])
def test_html(tmp_path: Path, harmless: Facts, said: str) -> None:
    """The page has the tags and attributes it has with ordinary words, and shows the words."""
    page = tags_of(html(statement(facts_saying(tmp_path, said))))
    assert page.structure == tags_of(html(statement(harmless))).structure
    assert any(plain(said).strip() in text for text in page.texts)


@pytest.mark.parametrize("said", [words for words in HOSTILE if len(words) < 200])
def test_markdown(tmp_path: Path, harmless: Facts, said: str) -> None:
    """A Markdown parser finds the headings, tables, cells and emphases that it finds with ordinary words."""
    text = markdown(statement(facts_saying(tmp_path, said)))
    assert tokens_of(text) == tokens_of(markdown(statement(harmless)))


@pytest.mark.parametrize("said", [words for words in HOSTILE if len(words) < 200])
def test_yaml(tmp_path: Path, harmless: Facts, said: str) -> None:
    """A YAML parser finds the keys and types that it finds with ordinary words."""
    shape = shape_of(yaml.safe_load(yaml_text(facts_saying(tmp_path, said))))
    assert shape == shape_of(yaml.safe_load(yaml_text(harmless)))


def document_saying(said: str) -> model.Document:
    """A document with ``said`` at each kind of place."""
    texts: tuple[model.Text, ...] = (said, Code(said), ("x ", Code(said), " y"), ("x ", said), (Strong("x "), said))
    rows = tuple((text, "cell", text) for text in texts)
    blocks: tuple[model.Block, ...] = (
        *(model.Paragraph(text) for text in texts),
        *(model.Subheading(text) for text in texts),
        model.Bullets(texts),
        model.Table(f"x {said}", ("a", "b", f"x {said}"), rows),
    )
    return model.Document(f"x {said}", blocks, (model.Section(f"x {said}", "anchor", blocks),))


words = st.one_of(
    st.text(st.characters(codec="utf-8"), min_size=1),
    st.text("\\`*_[]<>|~$&#+-=.:!()1 \n\"'x", min_size=1),
    st.sampled_from(HOSTILE),
).map(lambda text: f"w{text}w" if not plain(text).strip() else text)


@given(words)
@settings(max_examples=400, suppress_health_check=[HealthCheck.too_slow])
def test_any_words_in_html(said: str) -> None:
    """Whatever stands at any place of a document, its page has the tags that one ordinary word gives."""
    page = html(document_saying(said))
    assert tags_of(page).structure == tags_of(html(document_saying("word"))).structure


@given(words)
@settings(max_examples=400, suppress_health_check=[HealthCheck.too_slow])
def test_any_words_in_markdown(said: str) -> None:
    """Whatever stands at any place of a document, its Markdown has the structure that one ordinary word gives."""
    assert tokens_of(markdown(document_saying(said))) == tokens_of(markdown(document_saying("word")))


@given(words)
def test_words_survive(said: str) -> None:
    """A parser of Markdown, and one of HTML, reads the very words that were written."""
    document = model.Document("x", (model.Paragraph(said),), ())
    inline = [token for token in PARSER.parse(markdown(document)) if token.type == "inline"][1]
    assert "".join(token.content for token in inline.children or ()) == plain(said).strip()
    assert plain(said).strip() in tags_of(html(document)).texts


@given(words)
def test_plain(text: str) -> None:
    """A text is brought to one line that holds no control character and does not turn what follows."""
    line = plain(text)
    assert len(line.splitlines()) <= 1
    assert not any(ord(sign) < 32 or 127 <= ord(sign) < 160 for sign in line)
    assert not any(0x202A <= ord(sign) <= 0x202E or 0x2066 <= ord(sign) <= 0x2069 for sign in line)
    assert plain(line) == line
