"""Devices that keep an upload until it is answered and send the same bytes again; and what they were told."""

from __future__ import annotations

import asyncio
import os
import random
import time
from dataclasses import dataclass, field

import aiohttp

from hubbub_collector.upload import Batch, pack
from hubbub_registry import Metric

from tests.collector.serving import MSGPACK
from tests.collector.uploads import random_record, split

_MOST_RECORDS = 8


@dataclass
class Sent:
    """An upload: its body, and its records, each of which is in no other upload."""

    body: bytes
    records: list[bytes]
    acknowledged: bool = False
    tries: int = 0


@dataclass
class Senders:
    """Uploads of the metrics ``known`` and, now and then, of ``unknown``, which the collector quarantines."""

    known: Metric
    unknown: Metric
    dice: random.Random
    uploads: list[Sent] = field(default_factory=list)
    waiting: list[Sent] = field(default_factory=list)
    """Those without an answer, to be sent again."""
    unanswered: int = 0
    refused: dict[int, int] = field(default_factory=dict)
    """Answers that were not 2xx, by status."""

    def make(self) -> Sent:
        """A new upload: one or two periods, one or two metrics."""
        today = int(time.time() // self.known.period)
        batches = []
        for metric in (self.known, self.unknown) if self.dice.random() < 0.1 else (self.known,):
            for period in (today, today - 1) if self.dice.random() < 0.3 else (today,):
                count = self.dice.randint(1, _MOST_RECORDS)
                batches.append(Batch(metric.fingerprint, period, b"".join(random_record(metric) for _ in range(count))))
        metrics = {metric.fingerprint: metric for metric in (self.known, self.unknown)}
        records = [one for batch in batches for one in split(batch.records, metrics[batch.fingerprint])]
        sent = Sent(pack(os.urandom(16), batches), records)
        self.uploads.append(sent)
        return sent

    def choose(self) -> Sent:
        """What to send next: what waits for its answer, at times what was answered before, else something new."""
        if self.waiting and self.dice.random() < 0.5:
            return self.waiting.pop()
        if self.uploads and self.dice.random() < 0.05:
            return self.dice.choice(self.uploads)
        return self.make()

    async def run(self, url: str, connections: int, until: asyncio.Event) -> None:
        """Keeps ``connections`` busy. A connection that breaks is opened again while ``until`` is not set."""

        async def send(session: aiohttp.ClientSession) -> None:
            while not until.is_set():
                sent = self.choose()
                sent.tries += 1
                try:
                    async with session.post(f"{url}/v1/reports", data=sent.body, headers=MSGPACK) as answer:
                        await answer.read()
                        if answer.status in (200, 202):
                            sent.acknowledged = True
                            continue
                        self.refused[answer.status] = self.refused.get(answer.status, 0) + 1
                except (aiohttp.ClientError, ConnectionError):
                    self.unanswered += 1
                if not sent.acknowledged:
                    self.waiting.append(sent)
                await asyncio.sleep(0.02)

        async with aiohttp.ClientSession() as session:
            await asyncio.gather(*[send(session) for _ in range(connections)])
