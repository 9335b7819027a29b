"""Whether what is sealed is what was acknowledged."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from hubbub_collector.layout import DataDirectory
from hubbub_registry import Metric

from tests.collector.faults.senders import Senders
from tests.collector.uploads import counts, sealed


@dataclass
class Verdict:
    """Numbers of uploads, but for ``records`` and ``strange``, which are of records, and ``parts``."""

    sent: int = 0
    acknowledged: int = 0
    sent_again: int = 0
    counted_unacknowledged: int = 0
    """Whole, and without an answer: allowed, since their senders send them again."""
    records: int = 0
    parts: int = 0
    missing: int = 0
    """Acknowledged, and not sealed whole."""
    doubled: int = 0
    torn: int = 0
    """Sealed in part."""
    strange: int = 0
    """Sealed, and never sent."""

    @property
    def holds(self) -> bool:
        """Whether every acknowledged upload is sealed exactly once, and none twice or in part."""
        return self.acknowledged > 0 and not (self.missing or self.doubled or self.torn or self.strange)


def judge(data: DataDirectory, metrics: Sequence[Metric], senders: Senders) -> Verdict:
    """Compares the sealed data with what the senders know. AssertionError: a part is not as its manifest."""
    found: Counter[bytes] = Counter()
    for metric in metrics:
        found += counts(sealed(data, metric))
    verdict = Verdict(sent=len(senders.uploads), records=found.total())
    for manifest in data.root.glob("sealed/*/*/*/*.json"):
        said = json.loads(manifest.read_text())
        assert hashlib.sha256((manifest.parent / said["file"]).read_bytes()).hexdigest() == said["sha256"]
        verdict.parts += 1
    for sent in senders.uploads:
        there = [found.pop(record, 0) for record in sent.records]
        verdict.acknowledged += sent.acknowledged
        verdict.sent_again += sent.tries > 1
        verdict.missing += sent.acknowledged and 0 in there
        verdict.doubled += max(there) > 1
        verdict.torn += 0 in there and any(there)
        verdict.counted_unacknowledged += not sent.acknowledged and 0 not in there
    verdict.strange = found.total()
    return verdict
