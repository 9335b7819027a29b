"""``hubbub shuffle``: runs a shuffler, at a party that is not the analyst."""

from __future__ import annotations

import argparse
import asyncio
import re
from pathlib import Path

from hubbub_collector.access.gate import Gate
from hubbub_collector.commands.arguments import network, positive, rate, seconds
from hubbub_collector.commands.serving_arguments import add_serving, address_of, limits_of
from hubbub_collector.limits.rate import RateLimit, parse_rate
from hubbub_collector.limits.source import Sources
from hubbub_collector.logs import configure
from hubbub_collector.shuffler.forwarder import Forwarder, read_secret
from hubbub_collector.shuffler.service import Shuffling, shuffle
from hubbub_collector.shuffler.serving import run as run_service

SUMMARY = "mix sealed reports of many devices, and forward them to the analyst's hubbub open"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declares the command's arguments."""
    parser.add_argument("--forward", required=True, metavar="URL", help="the address of the analyst's hubbub open")
    parser.add_argument("--forward-ca", metavar="FILE", help="its certificate authorities (PEM; default: the system's)")
    parser.add_argument(
        "--key", type=_key, action="append", required=True, metavar="ID",
        help="the id of the key that reports are sealed to; may be given several times",
    )  # fmt: skip
    parser.add_argument(
        "--threshold",
        type=positive,
        required=True,
        metavar="N",
        help="uploads that are mixed with one another at least",
    )
    parser.add_argument(
        "--max-wait", type=seconds(), default="1h", metavar="TIME",
        help="how long so many wait for more before they are forwarded (default: %(default)s)",
    )  # fmt: skip
    parser.add_argument(
        "--hold", type=seconds("1d"), default="60d", metavar="AGE",
        help="when uploads that find no crowd are forgotten (default: %(default)s)",
    )  # fmt: skip
    parser.add_argument(
        "--size", type=positive, action="append", default=[], metavar="BYTES",
        help="take ciphertexts of this size only, see hubbub keys size; may be given several times (default: any)",
    )  # fmt: skip
    parser.add_argument(
        "--rate", type=rate, metavar="N/UNIT", help="requests of one source, such as 50/s (default: any)"
    )
    parser.add_argument(
        "--trusted-proxy", type=network, action="append", default=[], metavar="CIDR",
        help="believe X-Forwarded-For from these addresses; may be given several times (default: none)",
    )  # fmt: skip
    add_serving(parser, 8081)


def run(arguments: argparse.Namespace) -> int:
    """Shuffles until SIGTERM or SIGINT. Raises CollectorError."""
    configure(arguments.log, command="shuffle")
    settings = Shuffling(
        Path(arguments.data), frozenset(arguments.key), arguments.threshold, arguments.max_wait, arguments.hold,
        frozenset(arguments.size), arguments.queue, arguments.disk_budget, limits_of(arguments), arguments.admin,
    )  # fmt: skip
    address = address_of(arguments)
    forwarder = Forwarder(arguments.forward, read_secret(arguments.secret), arguments.forward_ca)

    async def main(stop: asyncio.Event) -> None:
        gate = None
        if arguments.rate is not None:
            limit = RateLimit(parse_rate(arguments.rate))
            gate = Gate((Sources(arguments.trusted_proxy, rotated=limit.forget), limit))
        await shuffle(settings, address, forwarder, stop, gate)

    run_service(main)
    return 0


def _key(text: str) -> bytes:
    if not re.fullmatch(r"[0-9a-f]{16}", text):
        raise argparse.ArgumentTypeError(f"{text!r} is not the id of a key: write the 16 digits of hubbub keys new")
    return bytes.fromhex(text)
