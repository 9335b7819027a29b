"""What ``hubbub shuffle`` and ``hubbub open`` are both told: where to listen, how much to hold, how to log."""

from __future__ import annotations

import argparse

from hubbub_collector.commands.arguments import address, port, size
from hubbub_collector.errors import CollectorError
from hubbub_collector.limits.limits import Limits
from hubbub_collector.logs import FORMS
from hubbub_collector.shuffler.serving import Address
from hubbub_collector.tls import Certificate


def add_serving(parser: argparse.ArgumentParser, default_port: int) -> None:
    """Declares them."""
    parser.add_argument("--data", required=True, metavar="DIR", help="the data directory; made where it is missing")
    parser.add_argument("--secret", required=True, metavar="FILE", help="what shuffler and analyst share")
    parser.add_argument("--host", default="127.0.0.1", help="the address to listen on (default: %(default)s)")
    parser.add_argument(
        "--port", type=port, default=default_port, help="the port; 0 takes a free one (default: %(default)s)"
    )
    parser.add_argument("--tls-cert", metavar="FILE", help="serve TLS with this certificate chain (PEM)")
    parser.add_argument("--tls-key", metavar="FILE", help="and this key (PEM, without a password)")
    parser.add_argument(
        "--max-body", type=size("1K"), default="1M", metavar="SIZE", help="the largest body (default: %(default)s)"
    )
    parser.add_argument(
        "--queue", type=size("1M"), default="64M", metavar="SIZE", help="what may wait in memory (default: %(default)s)"
    )
    parser.add_argument(
        "--disk-budget", type=size("1M"), default=None, metavar="SIZE", help="disk space to use (default: no limit)"
    )
    parser.add_argument(
        "--admin", type=address, metavar="HOST:PORT", help="serve /metrics there, for operators only (default: nowhere)"
    )
    parser.add_argument("--log", choices=FORMS, default="text", help="the form of the log (default: %(default)s)")


def address_of(arguments: argparse.Namespace) -> Address:
    """Where to listen. Raises CollectorError for a certificate without its key."""
    if (arguments.tls_cert is None) != (arguments.tls_key is None):
        raise CollectorError("--tls-cert and --tls-key: give both, or neither")
    certificate = None if arguments.tls_cert is None else Certificate(arguments.tls_cert, arguments.tls_key)
    return Address(arguments.host, arguments.port, certificate)


def limits_of(arguments: argparse.Namespace) -> Limits:
    """What connections may take."""
    return Limits(body=arguments.max_body, arriving=arguments.queue)
