"""The bridge between a real mosquitto and a collector, each of which goes and comes back."""

from __future__ import annotations

import json
import logging
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from paho.mqtt.client import Client
from paho.mqtt.enums import CallbackAPIVersion, MQTTErrorCode

import hubbub_firmware.bridge.link as link_module
from hubbub_firmware.bridge.counters import BridgeCounters
from hubbub_firmware.bridge.errors import BridgeError
from hubbub_firmware.bridge.link import CollectorLink
from hubbub_firmware.bridge.mqtt_bridge import MOST_BYTES, WINDOW, BrokerSettings, MqttBridge
from hubbub_firmware.transports.mqtt import MqttTransport, publisher

from tests.firmware.bridge.broker import Broker, free_port
from tests.firmware.transports.servers import response, serving


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """No proxy, and short waits between attempts."""
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(link_module, "wait_ms", lambda attempt, source: 10)


def device(broker: Broker) -> MqttTransport:
    return MqttTransport(publisher("127.0.0.1", os.urandom, broker.port, plain=True, timeout=5))


def publish(broker: Broker, *bodies: bytes) -> list[bytes]:
    transport = device(broker)
    for body in bodies:
        assert transport.send(body).status == 200
    return list(bodies)


@contextmanager
def bridging(broker: Broker, url: str, counters: BridgeCounters | None = None, **keys: Any) -> Iterator[MqttBridge]:
    settings = BrokerSettings("127.0.0.1", broker.port, "hubbub/v1", "bridge", **keys)
    bridge = MqttBridge(settings, CollectorLink(url), counters or BridgeCounters())
    thread = threading.Thread(target=bridge.run)
    thread.start()
    try:
        yield bridge
    finally:
        bridge.stop()
        thread.join()


def until(condition: Callable[[], bool]) -> None:
    for _ in range(1000):
        if condition():
            return
        time.sleep(0.01)
    raise AssertionError("it did not come about")


def value(counters: BridgeCounters, name: str, **labels: str) -> float:
    return counters.registry.get_sample_value(name, labels) or 0


class Collector:
    """Answers as it is told, and remembers what it answered 200 to."""

    def __init__(self) -> None:
        self.taken: list[bytes] = []
        self.turned_away = 0
        self.troubles: list[bytes] = []
        self.status = 200
        self.troubles_status = 200

    def __call__(self, request: bytes) -> bytes:
        head, _, body = request.partition(b"\r\n\r\n")
        if head.startswith(b"POST /v1/troubles "):
            self.troubles.append(body)
            return response(self.troubles_status)
        assert head.startswith(b"POST /v1/reports ")
        if self.status == 200:
            self.taken.append(body)
        else:
            self.turned_away += 1
        return response(self.status, "Retry-After: 0")


def connected(counters: BridgeCounters, times: int = 1) -> Callable[[], bool]:
    return lambda: value(counters, "hubbub_bridge_connections_total") >= times


def test_every_upload_arrives_once_though_broker_and_collector_restart(tmp_path: Path) -> None:
    """Published while the collector is down, while it says 503, and around a restart of the broker: all arrive, none
    twice for good but what was in flight over the restart, and none is left with the broker."""
    collector, counters, port = Collector(), BridgeCounters(), free_port()
    url = f"http://127.0.0.1:{port}"
    with Broker(tmp_path) as broker:
        with bridging(broker, url, counters):
            until(connected(counters))
            published = publish(broker, *[b"down %d" % n for n in range(40)])
            until(lambda: value(counters, "hubbub_bridge_failed_attempts_total") > 2)
            broker.stop()
            broker.start()
            until(connected(counters, 2))
            published += publish(broker, *[b"restarted %d" % n for n in range(5)])
            collector.status = 503
            with serving(collector, port=port):
                until(lambda: collector.turned_away > 2)
                collector.status = 200
                published += publish(broker, *[b"up %d" % n for n in range(5)])
                until(lambda: set(collector.taken) == set(published))
        twice = len(collector.taken) - len(published)
        assert 0 <= twice <= 1  # the one whose acknowledgement belonged to the lost connection
        again = BridgeCounters()
        with serving(collector, port=port), bridging(broker, url, again):
            publish(broker, b"last")
            until(lambda: b"last" in collector.taken)
        assert len(collector.taken) == len(published) + twice + 1


def test_what_the_collector_does_not_have_stays_with_the_broker(tmp_path: Path) -> None:
    """A bridge that ends, by SIGTERM and status 0, before the collector took a message leaves it to the next one."""
    port = free_port()
    command = [sys.executable, "-c", "import sys; from hubbub_registry.commands import main; sys.exit(main())"]
    with Broker(tmp_path) as broker:
        arguments = ["bridge", "mqtt", "--broker", f"127.0.0.1:{broker.port}", "--plain"]
        arguments += ["--collector", f"http://127.0.0.1:{port}", "--client-id", "bridge"]
        process = subprocess.Popen([*command, *arguments], stderr=subprocess.PIPE, text=True)
        assert process.stderr is not None
        lines = iter(process.stderr.readline, "")
        assert any("bridging hubbub/v1" in line for line in lines)
        publish(broker, b"a secret body")
        assert any("is kept" in line for line in lines)
        process.send_signal(signal.SIGTERM)
        rest = process.communicate(timeout=20)[1]
        assert process.returncode == 0
        assert "secret" not in rest
        assert "Traceback" not in rest
        collector = Collector()
        with serving(collector, port=port), bridging(broker, f"http://127.0.0.1:{port}"):
            until(lambda: collector.taken == [b"a secret body"])


def test_a_refused_upload_is_counted_and_holds_up_nothing(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """400 settles a message for good: it is counted, logged without its payload, and the next one goes on."""
    collector, counters = Collector(), BridgeCounters()
    collector.status = 400
    caplog.set_level(logging.WARNING)
    with Broker(tmp_path) as broker, serving(collector) as server, bridging(broker, server.url, counters):
        until(connected(counters))
        publish(broker, b"a secret body")
        until(lambda: value(counters, "hubbub_bridge_messages_total", kind="reports", outcome="refused") == 1)
        collector.status = 200
        publish(broker, b"good")
        until(lambda: collector.taken == [b"good"])
    assert "refused a message for good: status 400" in caplog.text
    assert "secret" not in caplog.text


def test_troubles_pass_and_never_hold_up_reports(tmp_path: Path) -> None:
    """Counts reach /v1/troubles; a collector that has no such address loses them, and not the reports behind them."""
    collector, counters = Collector(), BridgeCounters()
    with Broker(tmp_path) as broker, serving(collector) as server, bridging(broker, server.url, counters):
        until(connected(counters))
        device(broker).send_troubles({"entropy": 3})
        until(lambda: [json.loads(body) for body in collector.troubles] == [{"entropy": 3}])
        collector.troubles_status = 404
        device(broker).send_troubles({"entropy": 3})
        publish(broker, b"good")
        until(lambda: collector.taken == [b"good"])


def test_a_broker_that_refuses_the_login_ends_the_bridge(tmp_path: Path) -> None:
    """Refused for good, the bridge says so and ends, instead of knocking for ever."""
    (tmp_path / "passwords").write_text("")
    with Broker(tmp_path, "allow_anonymous false", f"password_file {tmp_path}/passwords") as broker:
        settings = BrokerSettings("127.0.0.1", broker.port, "hubbub/v1", "bridge", None, "who", "word")
        with pytest.raises(BridgeError, match="refused the connection"):
            MqttBridge(settings, CollectorLink("http://127.0.0.1:1"), BridgeCounters()).run()


def held(bridge: Any) -> int:
    """Messages in the bridge's memory, but for one that is being posted."""
    return int(bridge._waiting.qsize())


def test_a_message_that_no_broker_holds_back_is_not_kept(tmp_path: Path) -> None:
    """With the collector down, messages at QoS 0 are counted and dropped, and a report at QoS 1 behind them stays."""
    counters, port = BridgeCounters(), free_port()
    collector = Collector()
    with (
        Broker(tmp_path, "max_queued_messages 0") as broker,
        bridging(broker, f"http://127.0.0.1:{port}", counters) as bridge,
    ):
        until(connected(counters))
        client = Client(CallbackAPIVersion.VERSION2)
        client.connect("127.0.0.1", broker.port)
        client.loop_start()
        for _ in range(3 * WINDOW):
            client.publish("hubbub/v1/reports", bytes(1000), qos=0).wait_for_publish(10)
        client.disconnect()
        client.loop_stop()
        until(lambda: value(counters, "hubbub_bridge_discarded_total", reason="qos-0") == 3 * WINDOW)
        assert held(bridge) == 0
        publish(broker, b"good")
        with serving(collector, port=port):
            until(lambda: collector.taken == [b"good"])


def test_reconnections_do_not_add_up_in_memory(tmp_path: Path) -> None:
    """While one post is stuck and the connection is lost again and again, no more than WINDOW messages are held."""
    counters, port = BridgeCounters(), free_port()
    collector = Collector()
    with (
        Broker(tmp_path, "max_queued_messages 0") as broker,
        bridging(broker, f"http://127.0.0.1:{port}", counters) as bridge,
    ):
        until(connected(counters))
        published = publish(broker, *[b"%d" % n for n in range(2 * WINDOW)])
        for times in (2, 3):
            until(lambda: held(bridge) >= WINDOW - 2)
            connection: Any = bridge
            connection._client.socket().shutdown(socket.SHUT_RDWR)
            until(connected(counters, times))
        until(lambda: held(bridge) >= WINDOW - 2)
        assert held(bridge) + 1 <= WINDOW
        with serving(collector, port=port):
            until(lambda: set(collector.taken) == set(published))
        assert len(collector.taken) <= len(published) + 2


def test_what_a_broker_sends_past_the_window_comes_again() -> None:
    """A message past the window is neither kept nor acknowledged, and fetched by another connection once the others
    are settled; one past the size is settled at once."""
    settings = BrokerSettings("127.0.0.1", 1, "hubbub/v1", "bridge")
    counters = BridgeCounters()
    bridge: Any = MqttBridge(settings, CollectorLink("http://127.0.0.1:1"), counters)
    client = bridge._client = FakeClient()
    bridge._lost = False
    bridge._on_message(None, None, message(1, bytes(MOST_BYTES + 1)))
    bridge._turn()
    assert (held(bridge), client.acknowledged) == (0, [1])
    assert value(counters, "hubbub_bridge_discarded_total", reason="too-large") == 1
    for mid in range(2, 3 * WINDOW):
        bridge._on_message(None, None, message(mid))
    assert held(bridge) == WINDOW - 1
    for mid in range(2, WINDOW + 1):
        bridge._turn()
        assert not bridge._lost
        bridge._settled.put((bridge._connection, mid))
    bridge._turn()
    assert (bridge._lost, client.acknowledged) == (True, list(range(1, WINDOW + 1)))
    bridge._connect()
    assert held(bridge) == 0


def message(mid: int, payload: bytes = b"x") -> Any:
    return type("Message", (), {"mid": mid, "qos": 1, "payload": payload})


class FakeClient:
    def __init__(self) -> None:
        self.acknowledged: list[int] = []

    def ack(self, mid: int, qos: int) -> None:
        self.acknowledged.append(mid)

    def loop(self, seconds: float) -> MQTTErrorCode:
        return MQTTErrorCode.MQTT_ERR_SUCCESS

    def connect(self, *_: Any, **__: Any) -> None:
        pass


def test_nothing_is_acknowledged_over_another_connection_than_its_own() -> None:
    """After a reconnection a packet id may stand for another message, so an older message's is not acknowledged."""
    settings = BrokerSettings("127.0.0.1", 1, "hubbub/v1", "bridge")
    bridge: Any = MqttBridge(settings, CollectorLink("http://127.0.0.1:1"), BridgeCounters())
    client = bridge._client = FakeClient()
    bridge._connection, bridge._lost = 2, False
    for connection, mid in ((1, 7), (2, 8), (1, 9)):
        bridge._settled.put((connection, mid))
    bridge._acknowledge()
    assert client.acknowledged == [8]
    bridge._lost = True
    bridge._settled.put((2, 10))
    bridge._acknowledge()
    assert client.acknowledged == [8]
