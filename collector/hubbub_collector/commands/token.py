"""``hubbub token``: issues, lists and revokes the tokens of a collector that asks for one."""

from __future__ import annotations

import argparse
import json
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from rich.console import Console

from hubbub_collector.access.file import check_metric, keep_owner, read_tokens, write_tokens
from hubbub_collector.access.token import Token, draw_token
from hubbub_collector.commands.arguments import positive
from hubbub_collector.commands.tables import grid
from hubbub_collector.errors import CollectorError
from hubbub_collector.layout import DataDirectory
from hubbub_collector.lock import exclusive

SUMMARY = "issue, list and revoke tokens for a collector that asks for one (--require-token)"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declares the command's arguments."""
    commands = parser.add_subparsers(dest="action", required=True, metavar="issue | list | revoke")
    issue = commands.add_parser("issue", help="make a token, and print it this once")
    issue.add_argument(
        "--metrics", type=_metrics, default=(), metavar="NAME,...",
        help="what it is for: names, or fingerprints in hexadecimal (default: every metric)",
    )  # fmt: skip
    issue.add_argument(
        "--cap",
        type=positive,
        metavar="N",
        help="records that it may contribute to one metric and period (default: any)",
    )
    issue.add_argument("--label", default="", metavar="TEXT", help="a note for the list, such as the name of an app")
    listing = commands.add_parser("list", help="list the tokens; their secrets are nowhere")
    revoke = commands.add_parser("revoke", help="end a token; a running collector follows within a second or two")
    revoke.add_argument("id", metavar="ID", help="the 16 hexadecimal digits of the list")
    for command in (issue, listing, revoke):
        command.add_argument("--data", required=True, metavar="DIR", help="the collector's data directory")
        command.add_argument("--json", action="store_true", help="print JSON")


def run(arguments: argparse.Namespace) -> int:
    """Does what is asked. Raises CollectorError."""
    data = DataDirectory(Path(arguments.data))
    if arguments.action == "list":
        _print(read_tokens(data.tokens), as_json=arguments.json)
        return 0
    with exclusive(data.token_lock, "token command") as lock:
        keep_owner(lock, data.root)
        tokens = read_tokens(data.tokens)
        if arguments.action == "issue":
            text, token = _issue(arguments)
            _write(data, [*tokens, token])
            print(json.dumps({"id": token.id, "token": text}) if arguments.json else text)
            return 0
        if arguments.id not in {token.id for token in tokens}:
            raise CollectorError(f"{data.tokens}: has no token {arguments.id}; see hubbub token list")
        _write(data, [replace(token, revoked=token.revoked or token.id == arguments.id) for token in tokens])
    print(json.dumps({"revoked": arguments.id}) if arguments.json else f"{arguments.id} is revoked")
    return 0


def _issue(arguments: argparse.Namespace) -> tuple[str, Token]:
    text, id, digest = draw_token()
    today = datetime.now(UTC).strftime("%Y-%m-%d")
    return text, Token(id, digest, arguments.label, arguments.metrics, arguments.cap, today)


def _write(data: DataDirectory, tokens: list[Token]) -> None:
    try:
        write_tokens(data.tokens, tokens)
    except OSError as error:
        raise CollectorError(
            f"{data.tokens}: cannot be written ({error.strerror}); free some space, or correct its rights"
        ) from None


def _print(tokens: list[Token], *, as_json: bool) -> None:
    if as_json:
        rows = [
            {
                "id": token.id, "label": token.label, "metrics": list(token.metrics), "cap": token.cap,
                "issued": token.issued, "revoked": token.revoked,
            }
            for token in tokens
        ]  # fmt: skip
        print(json.dumps({"tokens": rows}, indent=1, ensure_ascii=False))
        return
    console = Console()
    if not tokens:
        console.print("there is no token")
        return
    table = grid("id", "label", "metrics", "cap", "issued", "")
    for token in tokens:
        table.add_row(
            token.id, token.label, ", ".join(token.metrics) or "all", "" if token.cap is None else f"{token.cap:,}",
            token.issued, "revoked" if token.revoked else "",
        )  # fmt: skip
    console.print(table)


def _metrics(text: str) -> tuple[str, ...]:
    try:
        return tuple(check_metric(name.strip()) for name in text.split(","))
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None
