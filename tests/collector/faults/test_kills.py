"""A few rounds of kills, and that they would notice a collector that loses or repeats uploads."""

from __future__ import annotations

from pathlib import Path

from tests.collector.faults.rounds import KINDS, Rounds, faulty


def test_killed_at_any_moment_it_counts_every_acknowledged_upload_once(tmp_path: Path) -> None:
    """Over a round of each kind, with retries to other workers and uploads of unknown metrics, every upload that was
    acknowledged is sealed exactly once, and of the others each is whole or not there.
    """
    outcome = Rounds(tmp_path, seed=7).run(len(KINDS))
    assert outcome.verdict.holds, outcome
    assert outcome.verdict.acknowledged > 100
    assert outcome.verdict.sent_again > 0
    assert set(outcome.kinds.values()) == {1}


def test_rounds_notice_an_early_acknowledgement(tmp_path: Path) -> None:
    """A collector that acknowledges before it commits is found to have lost uploads, by the first kill."""
    verdict = Rounds(tmp_path, 1, faulty("early")).run(1).verdict
    assert not verdict.holds
    assert verdict.missing > 0


def test_rounds_notice_a_repeat(tmp_path: Path) -> None:
    """A sealer that takes a repeat for something new is found to have counted uploads twice."""
    verdict = Rounds(tmp_path, 1, faulty("forgetful")).run(1).verdict
    assert not verdict.holds
    assert verdict.doubled > 0
