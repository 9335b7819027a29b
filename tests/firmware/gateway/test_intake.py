from __future__ import annotations

import sqlite3
import threading
from pathlib import Path
from typing import Any

import pytest

from hubbub_firmware.gateway.counters import GatewayCounters
from hubbub_firmware.gateway.duplicates import Duplicates
from hubbub_firmware.gateway.frames import ClockError, FrameError, FrameReader
from hubbub_firmware.gateway.intake import Intake
from hubbub_firmware.gateway.lines import take_lines
from hubbub_firmware.gateway.reading import lines_of
from hubbub_firmware.gateway.store import FullError, GatewayStore

from tests.client.reporter.reporting import NOW
from tests.firmware.gateway.gateways import frame, small_plan


class Setting:
    def __init__(self, folder: Path, limit: int = 100, now: int = NOW) -> None:
        self.now = now
        self.counters = GatewayCounters()
        self.store = GatewayStore(folder / "store", limit)
        self.intake = Intake(FrameReader(small_plan()), self.store, self.counters, clock=lambda: self.now)

    def count(self, outcome: str) -> float:
        return self.counters.registry.get_sample_value("hubbub_gateway_frames_total", {"outcome": outcome}) or 0


@pytest.fixture
def setting(tmp_path: Path) -> Any:
    made = Setting(tmp_path)
    yield made
    made.store.close()


def test_a_repetition_is_kept_once(setting: Setting) -> None:
    """The same frame of the same transmission counts once; another transmission of it, or one without a name, anew."""
    assert [setting.intake.take(frame(1), None, name) for name in ("a", "a", "b", None, None)] == [
        "accepted", "duplicate", "accepted", "accepted", "accepted",
    ]  # fmt: skip
    assert setting.store.waiting == 4
    assert (setting.count("accepted"), setting.count("duplicate")) == (4, 1)
    assert setting.intake.take(frame(2), None, "a") == "accepted"  # a sensor whose counter began anew


def test_a_failure_is_no_repetition_afterwards(setting: Setting) -> None:
    """What could not be stored is taken when it comes again, and is not mistaken for something that is there."""
    good = setting.store.add
    for error in (sqlite3.OperationalError("disk I/O error"), FullError("full")):

        def failing(said: Any, error: Exception = error) -> None:
            raise error

        setting.store.add = failing  # type: ignore[method-assign]
        with pytest.raises(type(error)):
            setting.intake.take(frame(1), None, "a")
    setting.now = 0
    with pytest.raises(ClockError):
        setting.intake.take(frame(1), None, "a")
    setting.now = NOW
    setting.store.add = good  # type: ignore[method-assign]
    assert setting.intake.take(frame(1), None, "a") == "accepted"
    assert [setting.count(outcome) for outcome in ("storage", "full", "clock", "accepted")] == [1, 1, 1, 1]


def test_many_at_once_are_each_kept_once(setting: Setting) -> None:
    """Eight threads that post the same forty transmissions leave forty reports."""
    outcomes: list[str] = []

    def post() -> None:
        outcomes.extend(setting.intake.take(frame(n), None, str(n)) for n in range(40))

    threads = [threading.Thread(target=post) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert outcomes.count("accepted") == 40 == setting.store.waiting
    assert len(outcomes) == 320


def test_what_tells_repetitions_is_forgotten_and_says_nothing() -> None:
    """After its time, or past the limit, a token is gone; and it is another one in another process."""
    now = [0.0]
    duplicates = Duplicates(60, clock=lambda: now[0])
    token = duplicates.token("70B3D57ED0000001", b"x")
    duplicates.add(token)
    now[0] = 60
    assert duplicates.seen(token)
    now[0] = 61
    assert not duplicates.seen(token)
    assert token != Duplicates(60).token("70B3D57ED0000001", b"x")
    assert duplicates.token("a", b"bc") != duplicates.token("ab", b"c")
    for n in range(1 << 16):
        duplicates.add(n.to_bytes(16, "big"))
    assert duplicates.seen(bytes(16))
    duplicates.add(b"another")
    assert not duplicates.seen(bytes(16))


def test_reports_of_one_sensor_that_are_alike_all_count(setting: Setting) -> None:
    """Lines without a sequence number are all kept, whoever sent them, or rare answers would be overstated."""
    sent = [1] * 18 + [0] * 2
    take_lines([b"aa:bb " + frame(value).hex().encode() for value in sent], "hex", setting.intake, threading.Event())
    assert setting.count("accepted") == setting.store.waiting == 20


def test_lines_are_hex_or_base64_with_or_without_an_id(setting: Setting) -> None:
    """Each good line is a report, one with the id, number and frame of another is not; what is no frame is counted."""
    text = frame(3).hex()
    lines = [
        text,
        text,
        f"aa:bb {text}",
        f"aa:bb 17 {text}",
        f"aa:bb 0017 {text.upper()}",
        f"aa:bb 18 {text}",
        f"aa:bb 1 2 {text}",
        "",
        "zz",
        "0",
        f"a b {text}",
        "\xff\xfe",
        "02",
        "x" * 600,
    ]
    take_lines([line.encode("latin-1") + b"\r\n" for line in lines], "hex", setting.intake, threading.Event())
    assert setting.store.waiting == 5
    assert [setting.count(outcome) for outcome in ("accepted", "duplicate", "line", "index")] == [5, 1, 6, 1]
    take_lines([b"AQEA\n", b"AQ$=\n", b"AQ\n"], "base64", setting.intake, threading.Event())
    assert (setting.store.waiting, setting.count("line")) == (6, 8)


def test_a_line_that_cannot_be_kept_now_is_not_lost(setting: Setting) -> None:
    """While the store fails the same line is tried again, and the next one is not read; a stop ends that."""

    class Quick(threading.Event):
        waits = 0

        def wait(self, timeout: float | None = None) -> bool:
            Quick.waits += 1
            if Quick.waits == 3:
                setting.now = NOW
            return self.is_set()

    setting.now = 946_684_800
    take_lines([frame(1).hex().encode()], "hex", setting.intake, Quick())
    assert (Quick.waits, setting.store.waiting, setting.count("accepted")) == (3, 1, 1)
    stopped = threading.Event()
    stopped.set()
    take_lines([frame(1).hex().encode()], "hex", setting.intake, stopped)
    assert setting.store.waiting == 1


def test_bytes_become_lines_however_they_are_cut() -> None:
    """Lines come out whole from pieces of any length, the last one without an end too; of a long one only the start."""
    text = b"one\ntwo\r\n\nthree " + b"x" * 5000 + b"\nlast"
    for size in (1, 2, 7, 512):
        pieces: list[bytes | None] = [text[at : at + size] for at in range(0, len(text), size)]
        source = iter([*pieces[:1], b"", *pieces[1:], None])
        lines = list(lines_of(lambda source=source: next(source), threading.Event()))  # type: ignore[misc]
        assert [line.strip()[:9] for line in lines] == [b"one", b"two", b"", b"three xxx", b"last"]
        assert max(map(len, lines)) <= 513


def test_a_frame_that_never_will_be_taken_is_counted_by_its_reason(setting: Setting) -> None:
    """A bad frame raises FrameError, under its reason, and nothing is stored."""
    for bad, reason in ((b"", "empty"), (b"\x09", "index"), (b"\x00", "length"), (b"\x00\x07", "range")):
        with pytest.raises(FrameError):
            setting.intake.take(bad)
        assert setting.count(reason) == 1
    assert setting.store.waiting == 0
