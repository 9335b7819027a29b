"""A document as Markdown: CommonMark with GitHub's tables, so that it reads well as text, too."""

from __future__ import annotations

import re
from collections.abc import Iterable

from hubbub_registry.statement import document as model
from hubbub_registry.statement.document import Code, Strong, parts, plain

# CommonMark 0.31, section 2.4: a backslash before any of these makes it a character like another. The rest of the
# ASCII punctuation has a meaning at the beginning of a line only, or within one of these.
_ANYWHERE = re.compile(r"[\\`*_\[\]<>|~$&]")
_AT_THE_START = re.compile(r"^(?:([#+-])|(\d{1,9})([.)])(?= |$))")


def markdown(document: model.Document) -> str:
    """The whole document, ending in a line feed."""
    lines = [f"# {_text(document.title)}", "", *_lines(document.lead)]
    for section in document.sections:
        lines += [f"## {_text(section.title)}", "", *_lines(section.blocks)]
    return "\n".join(lines).rstrip("\n") + "\n"


def fragment(blocks: Iterable[model.Block]) -> str:
    """Some blocks by themselves, without a line feed at the end."""
    return "\n".join(_lines(blocks)).rstrip("\n")


def _lines(blocks: Iterable[model.Block]) -> list[str]:
    """The lines of some blocks, each block followed by an empty one."""
    lines: list[str] = []
    for block in blocks:
        match block:
            case model.Paragraph(text):
                lines.append(_text(text))
            case model.Subheading(text):
                lines.append(f"### {_text(text)}")
            case model.Bullets(items):
                lines += [f"- {_text(item)}" for item in items]
            case model.Table():
                lines += _table(block)
        lines.append("")
    return lines


def _table(table: model.Table) -> list[str]:
    first, *rest = table.header
    rule = ["---", *("---:" if table.numbers else "---" for _ in rest)]
    rows = [[_cell(first), *map(_cell, rest)], rule, *([_cell(cell) for cell in row] for row in table.rows)]
    return [f"**{_text(table.caption)}**", "", *(f"| {' | '.join(row)} |" for row in rows)]


def _cell(text: model.Text) -> str:
    # GitHub's tables look for | before anything else, within code spans too, where nothing was escaped yet. It takes an
    # odd number of backslashes before it to be a character like another.
    return re.sub(r"(?<!\\)((?:\\\\)*)\|", r"\1\|", _text(text))


def _text(text: model.Text) -> str:
    """A text on one line that is no markup, whatever it holds."""
    line = "".join(_inline(part) for part in parts(text)).strip()
    return _AT_THE_START.sub(lambda found: f"\\{found[1]}" if found[1] else f"{found[2]}\\{found[3]}", line)


def _inline(part: str) -> str:
    if isinstance(part, Code):
        return _code(plain(part))
    escaped = _ANYWHERE.sub(r"\\\g<0>", plain(part))
    words = escaped.strip()
    # Stars open and close beside a word only.
    return escaped.replace(words, f"**{words}**") if isinstance(part, Strong) and words else escaped


def _code(text: str) -> str:
    """A code span. Nothing is escaped in one, so it is fenced with more backticks than it holds in a row."""
    if not text.strip():
        return ""
    fence = "`" * (1 + max((len(run) for run in re.findall("`+", text)), default=0))
    edge = " " if text[0] in "` " or text[-1] in "` " else ""
    return f"{fence}{edge}{text}{edge}{fence}"
