"""``hubbub gateway``: takes frames of tiny links, and sends them to the collector as uploads."""

from __future__ import annotations

import argparse
import logging
import os
import sys
from pathlib import Path

from hubbub_client.plan import Plan
from hubbub_firmware.bridge.errors import BridgeError
from hubbub_firmware.bridge.link import TOKEN, link_to
from hubbub_firmware.commands.listening import address
from hubbub_firmware.gateway.lines import ENCODINGS
from hubbub_firmware.gateway.service import Service, Settings

SUMMARY = "take 11-byte frames (LoRaWAN webhooks, BLE or serial lines) to the collector as uploads"
SECRET = "HUBBUB_GATEWAY_SECRET"  # noqa: S105 - the name of the variable
_LEAST_SECRET = 16


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declares the command's arguments."""
    parser.add_argument("plan", metavar="PLAN", help="the compiled plan that the sensors have")
    parser.add_argument(
        "--collector", required=True, metavar="URL",
        help=f"such as https://collector.example.org; a token is taken from ${TOKEN}",
    )  # fmt: skip
    parser.add_argument("--data", required=True, type=Path, metavar="DIR", help="where reports wait; made if missing")
    parser.add_argument(
        "--listen", type=address(), default=None, metavar="HOST:PORT",
        help=f"take webhooks there; their secret is taken from ${SECRET}",
    )  # fmt: skip
    parser.add_argument("--serial", default=None, metavar="DEVICE|-", help="take lines from a serial device or stdin")
    parser.add_argument("--baud", type=int, default=115200, help="of the serial device (default: %(default)s)")
    parser.add_argument("--lines", choices=sorted(ENCODINGS), default="hex", help="how a frame is written in a line")
    parser.add_argument(
        "--batch", type=_positive, default=64, metavar="N", help="reports in an upload, at least (default: %(default)s)"
    )
    parser.add_argument(
        "--patience", type=_positive, default=900, metavar="SECONDS",
        help="after which fewer are sent (default: %(default)s)",
    )  # fmt: skip
    parser.add_argument(
        "--limit", type=_positive, default=1_000_000, metavar="N",
        help="reports that may wait for the collector (default: %(default)s)",
    )  # fmt: skip
    parser.add_argument("--any-port", action="store_true", help="take frames on whatever LoRaWAN port they come by")


def run(arguments: argparse.Namespace) -> int:
    """Runs until SIGTERM or SIGINT, or the end of stdin where that is all there is. Raises PlanError, BridgeError,
    TransportError for a bad URL, and OSError."""
    logging.basicConfig(stream=sys.stderr, level=logging.INFO, format="hubbub gateway: %(message)s")
    secret = os.environ.get(SECRET, "").encode("utf-8", "surrogateescape")
    if arguments.listen is None and arguments.serial is None:
        raise BridgeError("nothing to take frames from: give --listen, --serial, or both")
    if arguments.listen is not None and len(secret) < _LEAST_SECRET:
        raise BridgeError(f"${SECRET}: webhooks need a secret of at least {_LEAST_SECRET} bytes, in the environment")
    settings = Settings(
        plan=Plan.load(arguments.plan),
        link=link_to(arguments.collector),
        data=arguments.data,
        listen=arguments.listen,
        secret=secret,
        serial=arguments.serial,
        baud=arguments.baud,
        encoding=arguments.lines,
        batch=arguments.batch,
        patience=arguments.patience,
        limit=arguments.limit,
        any_port=arguments.any_port,
    )
    Service(settings).run()
    return 0


def _positive(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number above 0")
    return int(text)
