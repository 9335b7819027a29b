"""Whether another process gives the same records: nothing may depend on a hash seed, a clock or an address."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from hubbub_client.plan import mechanism
from hubbub_registry import Metric
from hubbub_simulations.audit.driver import NAMESPACE, SECRET, sibling_entry
from hubbub_simulations.audit.errors import AuditError
from hubbub_simulations.audit.facts import Facts

_RECORDS = 32
_SEEDS = ("1", "2")


def check_elsewhere(
    metric: Metric, encoder: Callable[..., Any] | None, facts: Facts, values: Sequence[bytes], rng: random.Random
) -> None:
    """Encodes a few values with the same random bytes in two other processes, whose hash seeds differ.

    Raises AuditError where such a process does not answer.
    """
    made: Any = encoder or mechanism(metric.mechanism).Encoder
    size = made(metric.device, SECRET).random_bytes
    document = {
        "namespace": NAMESPACE,
        "entry": sibling_entry(metric),
        "secret": SECRET.hex(),
        "encoder": [made.__module__, made.__qualname__],
        "jobs": [(rng.choice(values).hex(), rng.randbytes(size).hex()) for _ in range(_RECORDS)],
    }
    one, other = (_ask(document, seed) for seed in _SEEDS)
    facts.add("every process gives the same records", one == other, _RECORDS)


def _ask(document: dict[str, Any], seed: str) -> list[str]:
    environment = {**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    # By its path, and with -P: it imports the client, and nothing of this package, which would take seconds.
    done = subprocess.run(  # noqa: S603 - our own file, in this very interpreter
        [sys.executable, "-P", str(Path(__file__).with_name("other_process.py"))],
        input=json.dumps(document),
        capture_output=True,
        text=True,
        env=environment,
        check=False,
    )
    if done.returncode:
        last = (done.stderr.strip().splitlines() or ["no message"])[-1]
        raise AuditError(f"the encoder {'.'.join(document['encoder'])} cannot be run in another process: {last}")
    answer: list[str] = json.loads(done.stdout)
    return answer
