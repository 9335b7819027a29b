"""Killed at any step, a gateway neither shows two noises for one period nor forgets what it spent."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from itertools import count
from pathlib import Path

import pytest

from hubbub_client.ledger import Ledger
from hubbub_client.storage import MemoryStorage
from hubbub_firmware.curator import aggregates, payment, releases
from hubbub_firmware.curator.releases import read_releases

from tests.firmware.curator.gateway import DAY, SENSORS, START, curated, gateway, reading

METRICS = (curated("c"), curated("d", statistic="histogram", low=0, high=9, buckets=2))
Shown = dict[tuple[str, int], list[int]]


class Cut(BaseException):
    """The power fails."""


class CutStorage(MemoryStorage):
    """A storage that fails at one write, before it or after it, and at every one that follows."""

    def __init__(self, files: dict[str, bytes], at: int, *, after: bool) -> None:
        super().__init__()
        self.files, self._left, self._after = files, at, after

    def write(self, name: str, data: bytes) -> None:
        self._left -= 1
        if self._left > 0 or (self._left == 0 and self._after):
            super().write(name, data)
        if self._left <= 0:
            raise Cut


def shown_by(storage: MemoryStorage) -> Shown:
    """Everything that can ever be shown: the stored releases."""
    return {(each["metric"], each["period"]): each["values"] for each in read_releases(storage)}


def drawing() -> Callable[[object], Callable[[int], int]]:
    """Noise that is another one at each draw."""
    draws = count(1)
    return lambda _metric: lambda value: value + 1000 * next(draws)


def live(at: int, *, after: bool, next_day: bool = False) -> tuple[bool, MemoryStorage]:
    """A life of three days, cut once at a write; whether it was, and the state in the end. Checks it all along.

    Where it is cut it runs again at once, or on the next day only, when more is to be released.
    """
    files: dict[str, bytes] = {}
    noise = drawing()
    if next_day:  # a gateway that is installed
        installed = MemoryStorage()
        installed.files = files
        gateway(installed, *METRICS)
    storage: MemoryStorage = CutStorage(files, at, after=after)
    seen: Shown = {}
    cut = False
    for day in range(4):
        for _ in range(3):  # the run, the run after a cut, and one more that must change nothing
            try:
                run = gateway(storage, *METRICS, now=START + day * DAY, noise=noise)
                run.take([reading("a", 3, metric.name, START + day * DAY) for metric in METRICS], SENSORS)
                run.release()
            except Cut:
                cut = True
                storage = MemoryStorage()
                storage.files = files
                if next_day and day < 3:
                    break
            now = shown_by(storage)
            assert {key: now[key] for key in seen} == seen, "a release that was shown has changed"
            seen = now
            ledger = Ledger.load(storage)
            for metric in METRICS if ledger else ():
                entry = ledger.entries.get(payment.entry_name(metric)) if ledger else None
                shown = sum(name == metric.name for name, _ in seen)
                assert shown * metric.charge_nano <= (entry.spent if entry else 0), "a release was not paid for"
    return cut, storage


@pytest.mark.parametrize("next_day", [False, True], ids=["at once", "next day"])
@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
def test_cut_at_every_write(after: bool, next_day: bool) -> None:
    """Cut before or after any single write, all periods are released in the end, once, and paid for exactly once."""
    for at in count(1):
        cut, storage = live(at, after=after, next_day=next_day)
        assert len(shown_by(storage)) == 3 * len(METRICS)
        ledger = Ledger.load(storage)
        assert ledger is not None
        assert [entry.spent for entry in ledger.entries.values()] == [3 * 10**9] * len(METRICS)
        assert not [each for waiting in (aggregates.load(storage) or {}).values() for each in waiting.aggregates if (
            each < START // DAY + 3
        )]  # fmt: skip
        if not cut:
            assert at > 25  # it has come past every write of a whole life
            break


def cut_everywhere() -> None:
    """A whole life for each write there is."""
    for at in range(1, 40):
        live(at, after=False)
        live(at, after=True)


def test_paying_after_the_release_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """A gateway that stores the release before it pays does not survive the check above."""
    late: list[tuple[object, ...]] = []
    store = releases.write_release

    def pay_later(*arguments: object) -> None:
        late.append(arguments)

    def store_then_pay(storage: MemoryStorage, document: dict[str, object]) -> None:
        store(storage, document)
        payment.pay_once(*late.pop())  # type: ignore[arg-type]

    monkeypatch.setattr("hubbub_firmware.curator.curator.pay_once", pay_later)
    monkeypatch.setattr("hubbub_firmware.curator.curator.write_release", store_then_pay)
    with pytest.raises(AssertionError, match="a release was not paid for"):
        cut_everywhere()


@pytest.mark.skipif(sys.platform == "win32", reason="no SIGKILL")
def test_sigkill_at_every_system_call(tmp_path: Path) -> None:
    """A real process on real files, killed by SIGKILL before every sync and rename, with the library's own noise."""
    script = Path(__file__).with_name("killed_gateway.py")
    ran = subprocess.run(
        [sys.executable, str(script), str(tmp_path)], cwd=Path(__file__).parents[3], capture_output=True, text=True
    )
    assert ran.returncode == 0, ran.stderr
    kills, shown = map(int, ran.stdout.split())
    assert kills >= 20
    assert shown >= 2
