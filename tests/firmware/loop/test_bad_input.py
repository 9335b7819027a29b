"""Bad input on the real interpreter: each gives one clear line, no report, and nothing half-written."""

from __future__ import annotations

import json

import pytest

from tests.firmware.loop.boards import Board
from tests.firmware.loop.test_loop import SILENT


@pytest.mark.parametrize(
    ("damage", "line"),
    [
        (lambda data: data[: len(data) // 2], "plan: neither JSON nor msgpack"),
        (lambda data: b"", "plan: neither JSON nor msgpack"),
        (lambda data: data.replace(b'"schema":1', b'"schema":2'), "plan: schema 2, this client reads schema 1"),
        (lambda data: data.replace(b'"reports_per_period":100', b'"reports_per_period":999'), "it was changed after"),
        (lambda data: data.replace(b'"metrics":[', b'"metrics":[7,'), "plan: a metric is damaged"),
    ],
    ids=["cut", "empty", "schema", "changed", "type"],
)
def test_a_damaged_plan_records_nothing(device: Board, damage: object, line: str) -> None:
    """A plan that is cut, changed, of another schema or of another shape stops the start before any state is made."""
    plan = device.folder / "plan.json"
    assert callable(damage)
    changed = damage(plan.read_bytes())
    assert changed != plan.read_bytes()
    plan.write_bytes(changed)
    console = device.run()
    assert console.startswith("hubbub: ")
    assert line in console
    assert console.endswith("; nothing is recorded\nran False\n")
    assert not device.state("").exists()
    assert device.reports() == 0


@pytest.mark.parametrize("name", ["plan.json", "settings.json"])
def test_a_missing_file_is_named(device: Board, name: str) -> None:
    """A file that was not copied is named."""
    (device.folder / name).unlink()
    assert device.run().startswith(f"hubbub: {name} cannot be read; build the folder and copy it again;")


@pytest.mark.parametrize(
    ("change", "line"),
    [
        ({"flush_second": 60}, "settings: there is no key 'flush_second'"),
        ({"flush_seconds": "60"}, "settings: flush_seconds is not a whole number"),
        ({"plain": 1}, "settings: plain is not true or false"),
        ({"read_seconds": 0}, "settings: read_seconds is not between 1 and"),
        ({"pending_bytes": 10}, "settings: pending_bytes is below"),
        ({"transport": "pigeon"}, "settings: transport is not one of: https, mqtt, frames"),
        ({"transport": "mqtt"}, "settings: this folder was built for another transport"),
        ({"collector": "ftp://x"}, ""),
        ({"ca": "gone.pem"}, "gone.pem cannot be read"),
    ],
    ids=lambda case: next(iter(case)) + str(next(iter(case.values()))) if isinstance(case, dict) else "",
)
def test_settings_that_cannot_be_used_are_named(device: Board, change: dict[str, object], line: str) -> None:
    """A misspelt key, a wrong type and a value that cannot work stop the start, with the key in the message."""
    device.set(**change)
    console = device.run()
    assert line in console
    assert console.endswith("; nothing is recorded\nran False\n")


def test_no_setting_is_ever_printed(device: Board) -> None:
    """A message about a setting does not hold what was set, which may be a password."""
    device.set(passphrase=["correct horse"])
    console = device.run()
    assert "settings: passphrase is not a text" in console
    assert "horse" not in console


@pytest.mark.parametrize(
    ("name", "trouble"), [("ledger", "state-damaged"), ("secret", "state-damaged")], ids=["ledger", "secret"]
)
def test_damaged_state_reports_nothing_more(device: Board, name: str, trouble: str) -> None:
    """A flipped bit in the ledger or the secret ends all reports, and the operator is told how often it mattered."""
    device.run()
    path = device.state(name)
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)
    console = device.run()
    assert "nothing more is reported" in console
    assert console.endswith("ran True\n")
    assert device.reports() == 1
    assert device.troubles() == {trouble: 1}
    device.run([])
    assert device.troubles() == {trouble: 1}


def test_state_that_was_put_back_reports_nothing_more(device: Board) -> None:
    """A ledger that is older than a report it paid for is noticed, and told."""
    device.run()
    old = device.state("ledger").read_bytes()
    device.run(setup=SILENT)
    device.state("ledger").write_bytes(old)
    console = device.run()
    assert "the ledger is older than what it paid for" in console
    assert device.troubles() == {"state-rolled-back": 1}


def test_a_value_outside_the_range_is_not_moved_into_it(device: Board) -> None:
    """A reading above or below the declared range, or no number at all, is refused, not clamped, and not printed."""
    console = device.run([("level", 61), ("level", -21), ("level", "warm"), ("level", "1e1")])
    assert "hubbub: metric level: a value is not an integer from -20 to 60" in console
    assert not [text for text in ("61", "-21", "warm", "1e1") if text in console]
    assert device.reports() == 0
    device.run([("level", 60), ("level", -21)])
    assert device.reports() == 1


def test_an_unknown_metric_is_refused(device: Board) -> None:
    """A name that the plan does not have is answered with those it has, and not printed: it may be a value."""
    console = device.run([("37.5 degrees", "a"), ("band", "z"), ("band", 1)])
    assert "that metric is not in the plan of org.example.test: band, level" in console
    assert "37.5" not in console
    assert device.reports() == 0


def test_a_clock_that_was_never_set_reports_nothing(device: Board) -> None:
    """Without a build's time and without a network it is 1970 to the board: no report, and a count for the operator."""
    (device.folder / "build.json").unlink()
    console = device.run(setup=SILENT)
    assert "the clock was never set" in console
    assert device.reports() == 0
    device.run([])
    assert device.troubles() == {"clock": 1}


def test_a_clock_that_was_never_set_learns_the_time(device: Board) -> None:
    """The collector's date is enough: from the first answer on, reports are made."""
    (device.folder / "build.json").write_text(json.dumps({"board": "unix", "built": 0}))
    assert device.run() == "ran True\n"
    assert device.reports() == 1


def test_without_noise_there_is_no_report_and_no_reading(device: Board) -> None:
    """A dead source is told on the console and to the operator; the sensor is not even read, and nothing is made up."""
    setup = (
        "from hubbub_firmware.entropy.raw.system import SystemSource\n"
        "board.raw_source = lambda: SystemSource(lambda count: bytes(count))\n"
        "def read():\n"
        "    print('the sensor was read')\n"
        "    return READINGS\n"
    )
    console = device.run(setup=setup)
    assert "nothing is recorded before the next start" in console
    assert "the sensor was read" not in console
    assert device.reports() == 0
    assert device.troubles() == {"entropy": 1}
    assert device.run() == "ran True\n"
    assert device.reports() == 1


def test_what_waits_is_sent_without_noise(device: Board) -> None:
    """A report that was made while there was noise leaves the board when there is none any more."""
    device.run(setup=SILENT)
    setup = (
        "from hubbub_firmware.entropy.raw.system import SystemSource\n"
        "board.raw_source = lambda: SystemSource(lambda count: bytes(count))\n"
    )
    device.run(setup=setup)
    assert device.receiver.sizes == [37 + 1]


def test_a_source_that_dies_later_stops_reports(device: Board) -> None:
    """A source that fails after the start gives no report from then on; budget and console say no value."""
    setup = (
        "from hubbub_firmware.device import Device\n"
        "made = Device(board)\n"
        "made.record(read)\n"
        "def dead(count):\n"
        "    raise OSError(5)\n"
        "made.reporter._session.source = dead\n"
        "before = made.reporter.spent()\n"
        "made.record(read)\n"
        "print(made.reporter.spent() == before, made.problem)\n"
    )
    console = device.run(setup=setup)
    assert "True" in console
