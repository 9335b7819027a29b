"""Uploads from an MQTT broker to a collector, each acknowledged to the broker only once the collector has a verdict.

One thread speaks to the broker and one to the collector. Acknowledgements are sent by the first, and only over the
connection that their message came by: after a reconnection the same packet id may stand for another message, and
acknowledging that one would lose it. What was not acknowledged is delivered again, and counts once by its upload id.
"""

from __future__ import annotations

import logging
import queue
import threading
import time
from dataclasses import dataclass
from typing import Any

from paho.mqtt.client import Client, MQTTMessage, MQTTv5
from paho.mqtt.enums import CallbackAPIVersion, MQTTErrorCode
from paho.mqtt.packettypes import PacketTypes
from paho.mqtt.properties import Properties
from paho.mqtt.subscribeoptions import SubscribeOptions

from hubbub_client.delivery import KEPT, REFUSED
from hubbub_firmware.bridge.counters import BridgeCounters
from hubbub_firmware.bridge.errors import BridgeError
from hubbub_firmware.bridge.link import CollectorLink, post_until_settled, troubles_verdict, upload_verdict

WINDOW = 16
"""Messages in memory at once; the broker keeps the others (MQTT 5, Receive Maximum). One of them may be of a former
connection: the one whose post was under way when that was lost."""
MOST_BYTES = 2 << 20
"""Larger messages are not delivered (MQTT 5, Maximum Packet Size). No collector takes an upload of that size."""
_OF_THIS_CONNECTION = WINDOW - 1
_FOREVER = 0xFFFFFFFF  # a session that never expires
_KEEP_ALIVE = 60
_LEAVE = 5  # seconds that a broker has to say that it saw the last acknowledgements
_TURN = 0.05  # seconds that a finished post may wait for its acknowledgement
_LONGEST_PAUSE = 60
# MQTT 5, section 3.2.2.2: protocol version, client id, login, authorisation, ban, authentication method.
_FINAL = (0x84, 0x85, 0x86, 0x87, 0x8A, 0x8C)

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class BrokerSettings:
    """Where the broker is and as whom to connect; ``ca`` is a file of authorities, or None for plain TCP."""

    host: str
    port: int
    prefix: str
    client_id: str
    ca: str | None = None
    user: str | None = None
    password: str | None = None


class MqttBridge:
    """Runs between ``broker`` and the collector at ``link`` until ``stop`` is set."""

    def __init__(self, broker: BrokerSettings, link: CollectorLink, counters: BridgeCounters) -> None:
        self._broker = broker
        self._link = link
        self._counters = counters
        self._stop = threading.Event()
        self._connection = 0
        self._lost = True
        self._pause = 0
        self._refused: str | None = None
        self._waiting: queue.SimpleQueue[tuple[int, MQTTMessage] | None] = queue.SimpleQueue()
        self._settled: queue.SimpleQueue[tuple[int, int]] = queue.SimpleQueue()  # connection and packet id
        self._unacknowledged = 0  # messages of this connection
        self._left_out = False  # whether there is one more, which came past the window
        self._client = self._make_client()

    def stop(self) -> None:
        """Ends ``run``: what the collector has is acknowledged, everything else stays with the broker."""
        self._stop.set()

    def run(self) -> None:
        """Bridges until stopped. Raises BridgeError where the broker refuses this client or its subscription."""
        poster = threading.Thread(target=self._post, name="collector")
        poster.start()
        try:
            while not self._stop.is_set():
                if self._lost:
                    self._stop.wait(self._pause)
                    self._pause = min(2 * self._pause or 1, _LONGEST_PAUSE)
                    self._connect()
                else:
                    self._turn()
        finally:
            self._stop.set()
            self._waiting.put(None)
            poster.join()
            self._acknowledge()
            self._take_leave()
        if self._refused is not None:
            raise BridgeError(self._refused)

    def _make_client(self) -> Client:
        client = Client(CallbackAPIVersion.VERSION2, self._broker.client_id, protocol=MQTTv5, manual_ack=True)
        if self._broker.user is not None:
            client.username_pw_set(self._broker.user, self._broker.password)
        if self._broker.ca is not None:
            client.tls_set(ca_certs=self._broker.ca)
        client.on_connect = self._on_connect
        client.on_subscribe = self._on_subscribe
        client.on_message = self._on_message
        return client

    def _connect(self) -> None:
        """Tries once to make a connection."""
        properties = Properties(PacketTypes.CONNECT)  # type: ignore[no-untyped-call]
        properties.SessionExpiryInterval = _FOREVER
        properties.ReceiveMaximum = _OF_THIS_CONNECTION
        properties.MaximumPacketSize = MOST_BYTES
        self._connection += 1
        self._forget()
        try:
            self._client.connect(
                self._broker.host, self._broker.port, _KEEP_ALIVE, clean_start=False, properties=properties
            )
        except (OSError, ValueError) as error:
            log.warning("no connection to the broker (%s); trying again", type(error).__name__)
        else:
            self._lost = False

    def _forget(self) -> None:
        """Lets go of what the former connection brought: the broker delivers it again, under other packet ids."""
        self._unacknowledged = 0
        self._left_out = False
        while not self._waiting.empty():
            try:
                self._waiting.get_nowait()
            except queue.Empty:  # the other thread has taken it, and sees that it is old
                break

    def _turn(self) -> None:
        """Reads and writes what there is, then acknowledges what is settled."""
        code = self._client.loop(_TURN)
        if code != MQTTErrorCode.MQTT_ERR_SUCCESS and not self._stop.is_set():
            log.warning("the connection to the broker was lost (%s); connecting again", code.name)
            self._lost = True
        self._acknowledge()
        if self._left_out and not self._unacknowledged:
            log.info("connecting again for what the broker sent past the window")
            self._lost = True

    def _take_leave(self) -> None:
        """Disconnects once the broker has seen the acknowledgements, or does not answer.

        It answers in order, so an answer to anything says so: here to the end of a subscription that there is not. A
        bridge that starts at once in this one's place would else be sent again what is acknowledged.
        """
        answered = threading.Event()
        self._client.on_unsubscribe = lambda *_: answered.set()
        self._client.on_message = None  # the broker keeps it
        until = time.monotonic() + _LEAVE
        if not self._lost:
            self._client.unsubscribe(f"{self._broker.prefix}/nothing")
        while not self._lost and not answered.is_set() and time.monotonic() < until:
            self._lost = self._client.loop(_TURN) != MQTTErrorCode.MQTT_ERR_SUCCESS
        self._client.disconnect()

    def _acknowledge(self) -> None:
        while not self._settled.empty():
            connection, packet_id = self._settled.get()
            if connection == self._connection and not self._lost:
                self._client.ack(packet_id, 1)
                self._unacknowledged -= 1
        self._counters.waiting.set(self._waiting.qsize())

    def _post(self) -> None:
        """The collector's thread: posts what waits, in order, until it is told to end."""
        for connection, message in iter(self._waiting.get, None):
            if connection != self._connection:
                continue  # the broker delivers it again
            troubles = message.topic.endswith("/troubles")
            settled = post_until_settled(
                self._link.send_troubles if troubles else self._link.send,
                bytes(message.payload),
                self._stop,
                troubles_verdict if troubles else upload_verdict,
                self._attempt_failed,
            )
            if settled.verdict == KEPT:
                return
            if settled.verdict == REFUSED:
                log.warning("the collector refused a message for good: %s", settled.problem)
            self._counters.settled.labels("troubles" if troubles else "reports", settled.verdict).inc()
            self._settled.put((connection, message.mid))

    def _attempt_failed(self, problem: str) -> None:
        self._counters.attempts.inc()
        log.warning("the collector did not take a message, which is kept: %s", problem)

    def _on_connect(self, client: Client, _userdata: Any, flags: Any, reason: Any, _properties: Any) -> None:
        if reason.is_failure:
            if reason.value in _FINAL:
                self._give_up(f"the broker refused the connection: {reason}")
            else:
                log.warning("the broker refused the connection for now: %s", reason)
            return
        self._pause = 1  # not 0: a broker that drops every connection at once is not to be stormed
        if not flags.session_present:
            log.warning("the broker has no session of this bridge: what was published before now is not delivered")
        options = SubscribeOptions(qos=1, retainHandling=SubscribeOptions.RETAIN_DO_NOT_SEND)
        client.subscribe([(f"{self._broker.prefix}/{kind}", options) for kind in ("reports", "troubles")])

    def _on_subscribe(self, _client: Client, _userdata: Any, _mid: int, reasons: list[Any], _properties: Any) -> None:
        if any(reason.is_failure for reason in reasons):
            self._give_up(f"the broker refused the subscription to {self._broker.prefix}: {reasons[0]}")
            return
        self._counters.connections.inc()
        log.info("bridging %s", self._broker.prefix)

    def _on_message(self, _client: Client, _userdata: Any, message: MQTTMessage) -> None:
        if not message.qos:  # no broker holds these back, or has them again
            self._counters.discarded.labels("qos-0").inc()
            return
        if self._unacknowledged >= _OF_THIS_CONNECTION:  # mosquitto 2.0.11 may send more after it was restarted
            self._left_out = True
            return
        self._unacknowledged += 1
        if len(message.payload) > MOST_BYTES:
            self._counters.discarded.labels("too-large").inc()
            self._settled.put((self._connection, message.mid))
        else:
            self._waiting.put((self._connection, message))

    def _give_up(self, problem: str) -> None:
        self._refused = problem
        self._stop.set()
