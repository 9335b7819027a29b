"""Runs a built folder under MicroPython, in a sandbox, with the memory of a board, and then with as little as works."""

from __future__ import annotations

import ast
import json
import shutil
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from hubbub_client.errors import HubbubError
from hubbub_client.mechanisms.joint import Part
from hubbub_client.plan import Metric, Plan
from hubbub_firmware.build.errors import CheckError
from hubbub_firmware.build.flash import flash_image
from hubbub_firmware.build.interpreter import bytes_of, find_interpreter, run_program
from hubbub_firmware.build.receivers import receiver
from hubbub_firmware.build.replacing import MARKER
from hubbub_firmware.settings import read_settings

_ON_BOARD = Path(__file__).parent / "on_board"
_REPORTS = 5
_FLASH_BYTES = 64 * 4096  # as the probe has it
_PREFIX = "probe "
_PLENTY = 4 << 20
# What the smallest heap that works is told to.
_GRAIN = 1024


def check(folder: Path, heap: str, *, peak: bool = True, frozen: bool = False) -> dict[str, Any]:
    """What the folder takes, and whether it fits into ``heap``: see figures.py for what it holds.

    ``fits`` is False, and ``problem`` says why, where it does not run in that memory, or where a metric gave no report.
    ``frozen`` has the library in flash, as in a firmware that was built with the folder's manifest: its code takes no
    heap then. ``peak=False`` leaves the smallest heap that works unsought. Raises CheckError where it cannot be run.
    """
    size = bytes_of(heap)
    interpreter = find_interpreter()
    board = _board(folder)
    settings = _settings(folder)
    plan = _plan(folder)
    library = flash_image(folder / "lib") if frozen else b""
    figures = {"board": board, "heap_bytes": size, "transport": settings["transport"], "frozen": frozen}
    with receiver(settings["transport"]) as collector, tempfile.TemporaryDirectory() as temporary:
        sandbox = Path(temporary, "box")

        def attempt(heap_bytes: int) -> dict[str, Any]:
            shutil.rmtree(sandbox, ignore_errors=True)
            _fill(sandbox, folder, plan, settings, collector.port)
            if library:
                shutil.rmtree(sandbox / "lib")
                (sandbox / "library.img").write_bytes(library)
            collector.sizes.clear()
            words = (str(sandbox), _platform(folder))
            return _told(*run_program(interpreter, heap_bytes, _ON_BOARD / "probe.py", *words))

        # The probe, its stand-ins and the image of the flash lie in the same heap, and are not the board's.
        own = attempt(_PLENTY).get("own", 0)

        def works(heap_bytes: int) -> dict[str, Any]:
            return _result(attempt(heap_bytes + own), plan, collector.sizes)

        figures |= works(size)
        if peak and figures["fits"]:
            figures["peak_heap"] = _smallest(works, figures["heap_after_import"], size)
    return figures


def _smallest(works: Callable[[int], dict[str, Any]], low: int, high: int) -> int:
    """The smallest heap in which everything still works, to the next KiB: the true peak, lost space included."""
    low, high = low // _GRAIN, -(-high // _GRAIN)
    while high - low > 1:
        middle = (low + high) // 2
        if works(middle * _GRAIN)["fits"]:
            high = middle
        else:
            low = middle
    return high * _GRAIN


def _told(status: int, output: str, errors: str) -> dict[str, Any]:
    """What a run's lines say, in one; ``ended`` is the last thing it said besides."""
    lines = (errors + output).splitlines()
    told = {
        key: value
        for line in lines
        if line.startswith(_PREFIX)
        for key, value in json.loads(line[len(_PREFIX) :]).items()
    }
    said = [line for line in lines if line and not line.startswith(_PREFIX)]
    return told | {"ended": said[-1] if said else f"it ended with {status}"}


def _result(merged: dict[str, Any], plan: Plan, sizes: list[int]) -> dict[str, Any]:
    """The figures of one run."""
    problem = f"metric {merged['metric']}: {merged['problem']}" if "metric" in merged else None
    if problem is None and not merged.get("done"):
        problem = merged["ended"]
    if problem is None and "times" not in merged:
        problem = "main.py did not call hubbub_firmware.loop.run"
    if problem is None and merged["frames"] is not None:
        sizes = merged["frames"]
    if problem is None and len(sizes) < len(plan.metrics):
        problem = merged.get("said") or "an upload did not arrive"
    return {
        "fits": problem is None,
        "problem": problem,
        "heap_after_import": merged.get("imported"),
        "metrics": {} if problem else _per_metric(merged["times"], plan, sizes),
        "readings_refused": merged.get("refused", {}),
        "readings_problem": merged.get("said"),
    }


def _per_metric(times: dict[str, list[int]], plan: Plan, sizes: list[int]) -> dict[str, Any]:
    """The median time of a report, and the sizes of a record and of an upload with nothing else in it."""
    return {
        metric.name: {
            "microseconds": sorted(times[metric.name])[len(times[metric.name]) // 2],
            "record_bytes": metric.record_bytes,
            "upload_bytes": size,
        }
        for metric, size in zip(plan.metrics.values(), sizes, strict=False)
    }


def _fill(sandbox: Path, folder: Path, plan: Plan, settings: dict[str, Any], port: int) -> None:
    """The folder as it lies on the board, with settings that lead to the receiver, and what the probe needs."""
    shutil.copytree(folder, sandbox, ignore=shutil.ignore_patterns("state"))  # the unix board keeps it there
    shutil.copytree(_ON_BOARD / "stubs", sandbox / "stubs")
    with (sandbox / "flash.img").open("wb") as image:
        image.truncate(_FLASH_BYTES)
    local = {"ca": "", "plain": True, "collector": f"http://127.0.0.1:{port}", "broker": "127.0.0.1", "port": port}
    given = json.loads((folder / "settings.json").read_bytes())
    changed = {key: value for key, value in local.items() if key in settings}
    (sandbox / "settings.json").write_text(json.dumps(given | changed))
    task = {
        "now": max(int(time.time()), 0),
        "reports": _REPORTS,
        "metrics": [
            {
                "name": metric.name, "period": metric.period, "value": _value(metric),
                "dimension": None if metric.dimension is None else metric.dimension["values"][0],
            }
            for metric in plan.metrics.values()
        ],
    }  # fmt: skip
    (sandbox / "check.json").write_text(json.dumps(task))


def _value(metric: Metric) -> str | list[str]:
    """A value that the metric takes; a pair of them for a joint one."""
    if metric.mechanism == "joint":
        first, second = (_value(Part(metric, side)) for side in range(2))
        return [str(first), str(second)]
    if metric.values:
        return metric.values[0].decode()
    p = metric.parameters
    return str(p["low"] - p["below_zero"]) if "span" in p else "hubbub"


def _board(folder: Path) -> str:
    try:
        return str(json.loads((folder / MARKER).read_bytes())["board"])
    except (OSError, ValueError, KeyError, TypeError):
        raise CheckError(f"{folder} is no folder that hubbub firmware build made") from None


def _platform(folder: Path) -> str:
    """The board's sys.platform, as its board.py states it, or falls back to; read without running it."""
    for node in ast.parse((folder / "board.py").read_bytes()).body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "PLATFORM":
            value = node.value.orelse if isinstance(node.value, ast.IfExp) else node.value
            return str(ast.literal_eval(value))
    raise CheckError(f"{folder / 'board.py'} states no PLATFORM")


def _settings(folder: Path) -> dict[str, Any]:
    try:
        return dict(read_settings((folder / "settings.json").read_bytes()))
    except (HubbubError, OSError) as error:
        raise CheckError(f"{folder}: {error}") from None


def _plan(folder: Path) -> Plan:
    try:
        return Plan.load(str(folder / "plan.json"))
    except (HubbubError, OSError) as error:
        raise CheckError(f"{folder}: {error}") from None
