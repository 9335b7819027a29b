from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from hubbub_client import FileStorage, Plan
from hubbub_client.charges import charged_after
from hubbub_client.ledger import Ledger
from hubbub_client.report_files import PENDING, fate_of

from tests.client.reporter.reporting import Collector, reporter_of
from tests.registries import registry_of

# Each kill comes at a random moment of a child's short life, so that they fall at every point of it.
KILLS = int(os.environ.get("HUBBUB_KILLS", "1000"))
MEMORY = Path("/dev/shm")  # noqa: S108 - where writing is fast; a process that is killed loses nothing of it


@pytest.fixture
def folder() -> Iterator[Path]:
    place = tempfile.mkdtemp(prefix="hubbub-kills-", dir=MEMORY if MEMORY.is_dir() else None)
    yield Path(place)
    shutil.rmtree(place)


def killed(folder: Path, kills: int, mode: str) -> tuple[int, Plan]:
    """The exit status of the loop, and the plan; state, sink and acknowledgements are in ``folder``."""
    sketch = {"mechanism": "count-mean-sketch", "epsilon": 1, "reports_per_period": 10**6, "lifetime_epsilon": 10**6}
    rappor = {"mechanism": "rappor", "reports_per_period": 10**6}
    registry = registry_of(folder, m=sketch, r=rappor)
    (folder / "plan.json").write_text(json.dumps(registry.document))
    names = [str(folder / name) for name in ("plan.json", "state", "sink", "acknowledged")]
    program = Path(__file__).with_name("kill_loop.py")
    paths = json.dumps([path for path in sys.path if path])
    done = subprocess.run([sys.executable, str(program), paths, *names, str(kills), mode], check=False)
    return done.returncode, registry.plan


def delivered(folder: Path, plan: Plan) -> Collector:
    """Everything that ever left the device, what waited after the last kill included."""
    collector = Collector()
    collector.bodies += [path.read_bytes() for path in (folder / "sink").iterdir() if path.suffix != ".part"]
    with reporter_of(plan, str(folder / "state"), collector) as reporter:
        assert reporter.flush().kept == 0
    return collector


def check(folder: Path, plan: Plan, status: int) -> int:
    """Holds what left the device against its ledger; the number of reports."""
    assert status == 0
    collector = delivered(folder, plan)
    records: dict[bytes, list[bytes]] = {metric.fingerprint: [] for metric in plan.metrics.values()}
    widths = {metric.fingerprint: metric.record_bytes for metric in plan.metrics.values()}
    for batches in collector.uploads().values():
        for fingerprint, _, joined in batches:
            width = widths[fingerprint]
            records[fingerprint] += [joined[at : at + width] for at in range(0, len(joined), width)]
    storage = FileStorage(str(folder / "state"))
    ledger = Ledger.load(storage)
    assert ledger is not None
    assert not [name for name in storage.names() if fate_of(name) in PENDING]
    sketch, rappor = plan.metric("m"), plan.metric("r")
    acknowledged = (folder / "acknowledged").read_bytes()
    sketches, rappors = records[sketch.fingerprint], records[rappor.fingerprint]
    assert len(sketches) == len(set(sketches)) >= acknowledged.count(b"m")
    assert len(rappors) >= acknowledged.count(b"r")
    entry = ledger.entries["m"]
    assert len(sketches) <= entry.reports, "unpaid"
    assert entry.spent == entry.reports * sketch.epsilon_nano
    entry = ledger.entries["r"]
    assert len(rappors) <= entry.reports
    assert entry.spent == charged_after(rappor, entry.reports) >= charged_after(rappor, len(rappors))
    storage.close()
    return len(sketches)


def test_a_process_killed_a_thousand_times_never_undercounts(folder: Path) -> None:
    """Killed with SIGKILL at 1,000 random moments, a device has paid for every report, and loses none that it made."""
    status, plan = killed(folder, KILLS, "honest")
    assert check(folder, plan, status) >= KILLS


def test_a_ledger_joined_with_the_reports_survives_kills(folder: Path) -> None:
    """Where a report and its payment are one append, 300 kills leave as many reports as were paid for, to the last."""
    status, plan = killed(folder, 300, "joined")
    reports = check(folder, plan, status)
    ledger = Ledger.load(FileStorage(str(folder / "state")))
    assert ledger is not None
    assert ledger.entries["m"].reports == reports >= 300


def test_a_client_that_spends_late_is_caught(folder: Path) -> None:
    """A client that stores what it spent after it queued the report does not survive 300 of the same kills."""
    status, plan = killed(folder, 300, "late")
    assert status == 0
    with pytest.raises(AssertionError, match="unpaid"):
        check(folder, plan, status)
