"""``hubbub collect``: runs the collector."""

from __future__ import annotations

import argparse
import resource

from hubbub_collector.commands.arguments import address, database, network, port, positive, rate, seconds, size
from hubbub_collector.errors import CollectorError
from hubbub_collector.limits.limits import Limits
from hubbub_collector.logs import FORMS, configure
from hubbub_collector.tls import check_pair
from hubbub_collector.worker import SPARE_FILES, WorkerSettings
from hubbub_collector.workers import Workers
from hubbub_registry import load_registry

_LEAST = "1M"
"""Of a budget, for all workers and for each: an empty store takes a part of that already."""
SUMMARY = "take uploads over HTTP and keep them on stable storage"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declares the command's arguments."""
    parser.add_argument("registry", metavar="REGISTRY.toml", help="the metrics that are collected")
    parser.add_argument("--data", required=True, metavar="DIR", help="the data directory; made where it is missing")
    parser.add_argument(
        "--store", type=database, metavar="URL",
        help="keep uploads in this PostgreSQL database, which several hosts may share (default: files in DIR)",
    )  # fmt: skip
    parser.add_argument("--host", default="127.0.0.1", help="the address to listen on (default: %(default)s)")
    parser.add_argument("--port", type=port, default=8080, help="the port; 0 takes a free one (default: %(default)s)")
    parser.add_argument("--workers", type=positive, default=1, metavar="N", help="processes (default: %(default)s)")
    parser.add_argument(
        "--late", type=seconds("1h"), default="28d", metavar="AGE",
        help="how long after its end a period is accepted (default: %(default)s)",
    )  # fmt: skip
    _add_limits(parser)
    _add_access(parser)
    parser.add_argument(
        "--admin", type=address, metavar="HOST:PORT",
        help="serve /metrics, /healthz, /readyz and /quarantine there, for operators only (default: nowhere)",
    )  # fmt: skip
    parser.add_argument("--log", choices=FORMS, default="text", help="the form of the log (default: %(default)s)")


def _add_limits(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--max-body", type=size("1K"), default="1M", metavar="SIZE", help="the largest upload (default: %(default)s)"
    )
    parser.add_argument(
        "--queue", type=size(_LEAST), default="64M", metavar="SIZE",
        help="uploads that may wait in memory, over all workers, and as much of uploads that are still arriving"
        " (default: %(default)s)",
    )  # fmt: skip
    parser.add_argument(
        "--disk-budget", type=size(_LEAST), default=None, metavar="SIZE",
        help="disk space for uploads that are not sealed yet, over all workers (default: no limit)",
    )  # fmt: skip
    parser.add_argument(
        "--quarantine-budget", type=size(), default="64M", metavar="SIZE",
        help="batches of unknown metrics that are kept aside, over all workers; 0 keeps none (default: %(default)s)",
    )  # fmt: skip
    parser.add_argument(
        "--connections", type=positive, default=Limits.connections, metavar="N",
        help="open connections of one worker (default: %(default)s)",
    )  # fmt: skip
    for option, default, text in (
        ("--head-timeout", "10s", "for the head of a request to arrive"),
        ("--body-timeout", "30s", "for its body to arrive"),
        ("--idle-timeout", "75s", "until a connection without a request is closed"),
    ):
        parser.add_argument(
            option, type=seconds("1s"), default=default, metavar="TIME", help=f"time {text} (default: %(default)s)"
        )


def _add_access(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--rate", type=rate, metavar="N/UNIT", help="requests of one source to one worker, such as 50/s (default: any)"
    )
    parser.add_argument(
        "--trusted-proxy", type=network, action="append", default=[], metavar="CIDR",
        help="believe X-Forwarded-For from these addresses; may be given several times (default: none)",
    )  # fmt: skip
    parser.add_argument(
        "--require-token",
        action="store_true",
        help="take uploads with a token of hubbub token only (default: of anybody)",
    )
    parser.add_argument("--tls-cert", metavar="FILE", help="serve TLS with this certificate chain (PEM)")
    parser.add_argument("--tls-key", metavar="FILE", help="and this key (PEM, without a password)")


def run(arguments: argparse.Namespace) -> int:
    """Collects until SIGTERM or SIGINT. Raises RegistryError, CollectorError."""
    configure(arguments.log)
    for option, budget in (("--queue", arguments.queue), ("--disk-budget", arguments.disk_budget)):
        if budget is not None and budget < arguments.workers * size()(_LEAST):
            raise CollectorError(f"{option}: {arguments.workers} workers need at least {_LEAST} each")
    if arguments.disk_budget is not None and arguments.disk_budget <= arguments.quarantine_budget:
        raise CollectorError(
            "--disk-budget: it holds the quarantine too, which a stranger can fill; give it more than the "
            f"{arguments.quarantine_budget} bytes of --quarantine-budget, or make that smaller"
        )
    if (arguments.tls_cert is None) != (arguments.tls_key is None):
        raise CollectorError("--tls-cert and --tls-key: give both, or neither")
    # Here, before anything is made: what is wrong with a file is told once, and not by every worker.
    load_registry(arguments.registry, candidates=False)
    if arguments.tls_cert is not None:
        check_pair(arguments.tls_cert, arguments.tls_key)
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    if most != resource.RLIM_INFINITY and arguments.connections + SPARE_FILES > most:
        raise CollectorError(
            f"--connections: {arguments.connections} connections and {SPARE_FILES} other files are more than the {most}"
            " that a process may open here; raise that limit (LimitNOFILE in systemd), or take fewer connections"
        )
    settings = WorkerSettings(
        registry=arguments.registry,
        data=arguments.data,
        number=0,
        host=arguments.host,
        port=arguments.port,
        late=arguments.late,
        body=arguments.max_body,
        queue=arguments.queue,
        disk=arguments.disk_budget,
        quarantine=arguments.quarantine_budget,
        connections=arguments.connections,
        head_seconds=arguments.head_timeout,
        body_seconds=arguments.body_timeout,
        idle_seconds=arguments.idle_timeout,
        rate=arguments.rate,
        trusted=tuple(arguments.trusted_proxy),
        require_token=arguments.require_token,
        tls_cert=arguments.tls_cert,
        tls_key=arguments.tls_key,
        log=arguments.log,
        store=arguments.store,
    )
    Workers(settings, arguments.workers, admin=arguments.admin).run()
    return 0
