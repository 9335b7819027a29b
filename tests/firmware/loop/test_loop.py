"""The main loop, on the real interpreter: it records, uploads, and goes on whatever happens."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from hubbub_firmware.settings import TRANSPORTS, keys_of

from tests.firmware.build.folders import folder_of
from tests.firmware.loop.boards import METRICS, Board, board

SILENT = "def refuse(*_):\n    raise OSError(118)\n\n\nboard.connect = refuse"


def test_a_reading_becomes_a_report(device: Board) -> None:
    """What the sensor gives is recorded and uploaded, in one run, with nothing to complain of."""
    assert device.run([("band", "a"), ("level", 21)]) == "ran True\n"
    assert device.reports() == 1
    assert not device.troubles()


def test_reports_wait_for_the_network(device: Board) -> None:
    """Without a network nothing is lost: the next start sends what this one recorded."""
    console = device.run(setup=SILENT)
    assert "hubbub: no network (" in console
    assert console.endswith("ran True\n")
    assert device.reports() == 0
    assert [path for path in device.state("").iterdir() if path.name.startswith(("open-", "upload-"))]
    device.run([])
    assert device.reports() == 1


def test_an_error_of_the_program_stops_nothing(device: Board) -> None:
    """A sensor that raises is told by the type of its error alone, whose text may hold a value; the next one counts."""
    setup = "def broken():\n    yield ('band', 'a')\n    raise ValueError('it was 37 degrees')\n\n\nread = broken"
    console = device.run(setup=setup)
    assert "hubbub: reading the sensor failed (ValueError)" in console
    assert "37" not in console
    assert device.reports() == 1


def test_a_watchdog_is_fed(device: Board) -> None:
    """The feed is called at least once in each second of a wait, and around whatever takes long."""
    device.set(read_seconds=2)
    setup = (
        "from time import ticks_diff, ticks_ms\n"
        "fed = []\nloop_run = run\n\n\n"
        "def run(*words, **keys):\n"
        "    done = loop_run(*words, feed=lambda: fed.append(ticks_ms()), **keys)\n"
        "    print(max([ticks_diff(fed[i + 1], fed[i]) for i in range(len(fed) - 1)]) < 1900, len(fed) > 4)\n"
        "    return done\n"
    )
    assert "True True" in device.run(setup=setup, rounds=2)


def test_what_nobody_foresaw_does_not_end_the_loop(device: Board) -> None:
    """Where a step itself breaks, or memory runs out in it, the next step is taken all the same."""
    setup = (
        "fed = []\nloop_run = run\n\n\n"
        "def feed():\n"
        "    fed.append(1)\n"
        "    if len(fed) == 4:\n"
        "        raise MemoryError('37 degrees')\n\n\n"
        "def run(*words, **keys):\n"
        "    return loop_run(*words, feed=feed, **keys)\n"
    )
    console = device.run(setup=setup)
    assert "hubbub: MemoryError; going on" in console
    assert console.endswith("ran True\n")
    assert "37" not in console
    assert device.reports() == 1


def test_the_moment_of_an_upload_comes_from_the_source_alone(device: Board) -> None:
    """The wait is uniform between half of and one and a half times the interval, whatever was recorded."""
    device.set(flush_seconds=1000)
    setup = (
        "from hubbub_firmware.device import Device\n"
        "made = Device(board)\n"
        "def due(drawn):\n"
        "    made._source = lambda count: drawn.to_bytes(count, 'little')\n"
        "    made.schedule()\n"
        "    return made._due_ms\n"
        "print(due(0), due(1 << 63), due((1 << 64) - 1))\n"
        "made.record(lambda: [('band', 'a')])\n"
        "print(due(0), due(1 << 63), due((1 << 64) - 1))\n"
        "def dead(count):\n"
        "    from hubbub_client.errors import EntropyError\n"
        "    raise EntropyError('dead')\n"
        "made._source = dead\n"
        "made.schedule()\n"
        "print(made._due_ms)\n"
    )
    lines = device.run([], setup=setup).splitlines()
    assert lines[:3] == ["500000 1000000 1500000", "500000 1000000 1500000", "1000000"]


def test_uploads_wait_for_their_time(device: Board) -> None:
    """Between two uploads nothing is sent; at its time it is."""
    setup = (
        "from hubbub_firmware.device import Device\n"
        "made = Device(board)\n"
        "made.upload()\n"
        "made.record(lambda: [('band', 'a')])\n"
        "made.upload_where_due()\n"
        "made._due_ms = 1\n"
        "made.wait(5)\n"
        "made.upload_where_due()\n"
        "print('due again', made._due_ms > 1000)\n"
    )
    device.run([], setup=setup)
    assert device.reports() == 1


def test_a_failed_start_says_so(device: Board) -> None:
    """A board of another kind does not run the folder."""
    console = device.run(setup="board.PLATFORM = 'rp2'")
    assert console.startswith(
        "hubbub: this folder was built for unix, and this board is a linux; nothing is recorded\n"
    )
    assert console.endswith("\nran False\n")
    assert not device.state("").exists()


def test_the_same_folder_runs_on_cpython(tmp_path: Path) -> None:
    """The loop is one source for both interpreters: CPython runs the folder as MicroPython does."""
    with board(folder_of(tmp_path / "source", METRICS), tmp_path) as device:
        assert device.run([("band", "a"), ("level", 21)], words=[sys.executable, "-W", "error"]) == "ran True\n"
        assert device.reports() == 1
        assert not device.troubles()


def test_every_setting_is_documented() -> None:
    """Each key of each transport is in the table of docs/firmware.md."""
    table = (Path(__file__).parents[3] / "docs" / "firmware.md").read_text().split("## Settings")[1].split("\n## ")[0]
    for transport in TRANSPORTS:
        assert not [key for key in keys_of(transport) if f"`{key}`" not in table]


def test_two_starts_share_one_budget(device: Board) -> None:
    """What was spent before a restart stays spent: one report a period is one, over starts."""
    assert METRICS["level"].get("reports_per_period", 1) == 1
    device.run([("level", 1)])
    assert "hubbub: metric level: period-used-up" in device.run([("level", 1)])
    assert device.reports() == 1
    assert json.loads((device.folder / "plan.json").read_text())["metrics"][1]["reports_per_period"] == 1
