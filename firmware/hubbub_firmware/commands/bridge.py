"""``hubbub bridge``: takes uploads from a message broker to the collector."""

from __future__ import annotations

import argparse
import logging
import os
import signal
import sys

from prometheus_client import start_http_server

from hubbub_firmware.bridge.counters import BridgeCounters
from hubbub_firmware.bridge.link import TOKEN, link_to
from hubbub_firmware.bridge.mqtt_bridge import BrokerSettings, MqttBridge
from hubbub_firmware.commands.listening import address

SUMMARY = "take uploads from an MQTT broker to the collector"
PASSWORD = "HUBBUB_MQTT_PASSWORD"  # noqa: S105 - the name of the variable


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """``mqtt``, the one kind of broker so far."""
    kinds = parser.add_subparsers(dest="kind", required=True, metavar="mqtt")
    mqtt = kinds.add_parser("mqtt", help=SUMMARY, description=SUMMARY, allow_abbrev=False)
    mqtt.add_argument("--broker", required=True, type=address(8883), metavar="HOST[:PORT]", help="an MQTT 5 broker")
    mqtt.add_argument(
        "--collector", required=True, metavar="URL",
        help=f"such as https://collector.example.org; a token is taken from ${TOKEN}",
    )  # fmt: skip
    mqtt.add_argument(
        "--topic", default="hubbub/v1", metavar="PREFIX",
        help="above /reports and /troubles (default: %(default)s)",
    )  # fmt: skip
    mqtt.add_argument(
        "--client-id", default="hubbub-bridge", metavar="NAME",
        help="names the session that the broker keeps; another one for each bridge (default: %(default)s)",
    )  # fmt: skip
    mqtt.add_argument("--user", default=None, help=f"the password is taken from ${PASSWORD}")
    security = mqtt.add_mutually_exclusive_group(required=True)
    security.add_argument("--ca", metavar="FILE", help="the authorities that may stand behind the broker's certificate")
    security.add_argument("--plain", action="store_true", help="no TLS: for a broker on this machine")
    mqtt.add_argument("--metrics", type=address(), default=None, metavar="HOST:PORT", help="serve Prometheus there")


def run(arguments: argparse.Namespace) -> int:
    """Bridges until SIGTERM or SIGINT. Raises BridgeError, TransportError for a bad URL, and OSError."""
    logging.basicConfig(stream=sys.stderr, level=logging.INFO, format="hubbub bridge: %(message)s")
    counters = BridgeCounters()
    host, port = arguments.broker
    broker = BrokerSettings(
        host, port, arguments.topic, arguments.client_id, arguments.ca, arguments.user, os.environ.get(PASSWORD)
    )
    bridge = MqttBridge(broker, link_to(arguments.collector), counters)
    if arguments.metrics is not None:
        start_http_server(arguments.metrics[1], arguments.metrics[0], registry=counters.registry)
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: bridge.stop())
    bridge.run()
    return 0
