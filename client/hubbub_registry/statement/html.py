"""A document as one HTML page that needs nothing else: no script, no picture, no font, no address."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape
from importlib.resources import files

from hubbub_registry.statement import document as model
from hubbub_registry.statement.document import Code, Strong, parts, plain

# A browser then loads and runs nothing, even if an escape below were wrong.
_POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"


def html(document: model.Document) -> str:
    """The whole page, ending in a line feed. Every table has a caption, and names for rows and columns."""
    title = _text(document.title)
    style = (files("hubbub_registry.statement") / "page.css").read_text("utf-8")
    contents = "".join(f'<li><a href="#{each.anchor}">{_text(each.title)}</a></li>' for each in document.sections)
    return "\n".join(
        [
            "<!DOCTYPE html>",
            '<html lang="en">',
            "<head>",
            '<meta charset="utf-8">',
            f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            '<meta name="referrer" content="no-referrer">',
            f"<title>{title}</title>",
            f"<style>\n{style}</style>",
            "</head>",
            "<body>",
            "<header>",
            f"<h1>{title}</h1>",
            *_blocks(document.lead),
            "</header>",
            f'<nav aria-label="Contents"><h2>Contents</h2><ul>{contents}</ul></nav>',
            "<main>",
            *(line for section in document.sections for line in _section(section)),
            "</main>",
            "</body>",
            "</html>",
            "",
        ]
    )


def _section(section: model.Section) -> list[str]:
    return [
        f'<section id="{section.anchor}" aria-labelledby="{section.anchor}-title">',
        f'<h2 id="{section.anchor}-title">{_text(section.title)}</h2>',
        *_blocks(section.blocks),
        "</section>",
    ]


def _blocks(blocks: Iterable[model.Block]) -> list[str]:
    return [_block(block) for block in blocks]


def _block(block: model.Block) -> str:
    match block:
        case model.Paragraph(text):
            return f"<p>{_text(text)}</p>"
        case model.Subheading(text):
            return f"<h3>{_text(text)}</h3>"
        case model.Bullets(items):
            return "<ul>\n" + "".join(f"<li>{_text(item)}</li>\n" for item in items) + "</ul>"
        case model.Table():
            return _table(block)


def _table(table: model.Table) -> str:
    header = "".join(f'<th scope="col">{_text(cell)}</th>' for cell in table.header)
    rows = "".join(
        f'<tr><th scope="row">{_text(first)}</th>{"".join(f"<td>{_text(cell)}</td>" for cell in rest)}</tr>\n'
        for first, *rest in table.rows
    )
    kind = ' class="numbers"' if table.numbers else ""
    return (
        f"<table{kind}>\n<caption>{_text(table.caption)}</caption>\n"
        f"<thead><tr>{header}</tr></thead>\n<tbody>\n{rows}</tbody>\n</table>"
    )


def _text(text: model.Text) -> str:
    return "".join(_inline(part) for part in parts(text)).strip()


def _inline(part: str) -> str:
    escaped = escape(plain(part))
    if isinstance(part, Code):
        return f"<code>{escaped}</code>"
    return f"<strong>{escaped}</strong>" if isinstance(part, Strong) else escaped
