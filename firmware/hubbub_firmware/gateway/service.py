"""A gateway as it runs: frames from a web server and a serial line into one store, and one sender out of it."""

from __future__ import annotations

import asyncio
import logging
import signal
import threading
from dataclasses import dataclass
from pathlib import Path

from aiohttp import web

from hubbub_client.errors import HubbubError
from hubbub_client.plan import Plan
from hubbub_firmware.bridge.errors import BridgeError
from hubbub_firmware.bridge.link import CollectorLink
from hubbub_firmware.gateway.counters import GatewayCounters
from hubbub_firmware.gateway.frames import FrameReader
from hubbub_firmware.gateway.intake import Intake
from hubbub_firmware.gateway.lines import take_lines
from hubbub_firmware.gateway.reading import serial_device, standard_input
from hubbub_firmware.gateway.sender import Sender
from hubbub_firmware.gateway.server import application
from hubbub_firmware.gateway.store import open_store

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Settings:
    """What ``hubbub gateway`` was told; see its arguments."""

    plan: Plan
    link: CollectorLink
    data: Path
    listen: tuple[str, int] | None
    secret: bytes
    serial: str | None
    baud: int
    encoding: str
    batch: int
    patience: int
    limit: int
    any_port: bool


class Service:
    """Runs a gateway until SIGTERM or SIGINT; with nothing but standard input, until that ends."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._counters = GatewayCounters()
        self._stop = threading.Event()
        self._failure: HubbubError | None = None

    def run(self) -> None:
        """Runs it. Raises BridgeError where the data directory is in use, or the serial device is none or is gone;
        OSError where the address cannot be listened on."""
        settings = self._settings
        reader = FrameReader(settings.plan, settings.any_port)
        store = open_store(settings.data, settings.limit)
        try:
            intake = Intake(reader, store, self._counters)
            sender = Sender(store, settings.link, self._counters, settings.batch, settings.patience)
            log.info("sensors with this plan send on LoRaWAN port %d", reader.port)
            sender.start()
            try:
                asyncio.run(self._serve(intake))
            finally:
                sender.stop()
        finally:
            store.close()
        if self._failure is not None:
            raise self._failure

    async def _serve(self, intake: Intake) -> None:
        settings = self._settings
        ended = asyncio.Event()
        loop = asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, ended.set)
        runner: web.AppRunner | None = None
        lines: threading.Thread | None = None
        try:
            if settings.listen is not None:
                runner = web.AppRunner(application(intake, self._counters, settings.secret), access_log=None)
                await runner.setup()
                await web.TCPSite(runner, *settings.listen).start()
                log.info("taking webhooks on port %d", runner.addresses[0][1])
            if settings.serial is not None:
                lines = threading.Thread(target=self._read_lines, args=(intake, loop, ended), name="lines")
                lines.start()
            await ended.wait()
        finally:
            self._stop.set()
            if runner is not None:
                await runner.cleanup()
            if lines is not None:
                await asyncio.to_thread(lines.join)

    def _read_lines(self, intake: Intake, loop: asyncio.AbstractEventLoop, ended: asyncio.Event) -> None:
        settings = self._settings
        assert settings.serial is not None  # noqa: S101 - that is why this thread was started
        try:
            if settings.serial == "-":
                lines = standard_input(self._stop)
            else:
                lines = serial_device(settings.serial, settings.baud, self._stop)
            log.info("reading lines")
            take_lines(lines, settings.encoding, intake, self._stop)
        except BridgeError as error:
            self._failure = error
        if self._failure is not None or settings.listen is None:
            loop.call_soon_threadsafe(ended.set)
