"""Two hosts, one database, and crashes of each of them under load."""

from __future__ import annotations

from pathlib import Path

from tests.collector.faults.rounds import faulty
from tests.collector.postgres.rounds import KINDS, Rounds
from tests.collector.postgres.server import Server


def test_whatever_crashes_every_acknowledged_upload_counts_once(server: Server, url: str, tmp_path: Path) -> None:
    """A host, the database server and the sealer crash under load, with retries to the other host and uploads of
    unknown metrics: every acknowledged upload is sealed exactly once, and of the others each is whole or not there.
    """
    rounds = Rounds(server, url, tmp_path, seed=7)
    outcome = rounds.run(KINDS)
    assert outcome.verdict.holds, outcome
    assert outcome.verdict.acknowledged > 100
    assert outcome.verdict.sent_again > 0
    assert rounds.senders.refused.get(503, 0) > 0


def test_rounds_notice_an_early_acknowledgement(server: Server, url: str, tmp_path: Path) -> None:
    """A collector that acknowledges before it commits is found to have lost what the server could not take."""
    verdict = Rounds(server, url, tmp_path, 1, faulty("early")).run(["server"]).verdict
    assert not verdict.holds
    assert verdict.missing > 0
