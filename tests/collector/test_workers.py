"""The parent of the workers: workers that hang or die at their start, and that will not stop."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.collector.uploads import registry_file

PARENT = """
import logging, os, signal, sys
from hubbub_client.errors import HubbubError
from hubbub_collector import workers
from hubbub_collector.worker import WorkerSettings
from hubbub_collector.workers import Workers

logging.basicConfig(stream=sys.stderr, level=logging.INFO)
settings = WorkerSettings(sys.argv[5], sys.argv[1], 0, "127.0.0.1", 0, 3600, 1 << 20, 1 << 20, None, 0)
worker, start, stop = sys.argv[2], float(sys.argv[3]), float(sys.argv[4])
workers._PAUSE_SECONDS = 0.05
prepare = workers.prepare_stores


def prepare_stores(*given):  # the first thing that it does with the lock held
    if "early" in sys.argv:
        os.kill(os.getpid(), signal.SIGHUP)
    prepare(*given)


workers.prepare_stores = prepare_stores
try:
    Workers(settings, 2, [sys.executable, "-c", worker], start, stop).run()
except HubbubError as error:
    sys.exit(f"error: {error}")
"""
HANGS = "import time; time.sleep(600)"
DIES = "import sys; sys.exit(3)"
STAYS = "import time; print('ready', flush=True); time.sleep(600)"
HUNG_UP = "import os, signal; os.kill(os.getpid(), signal.SIGHUP); " + STAYS
ONCE = """
import json, os, sys
number = json.loads(sys.stdin.readline())["number"]
if number == 0:
    try:
        os.mkdir({mark!r})
    except FileExistsError:
        sys.exit(3)
print("ready", flush=True)
sys.stdin.read()
"""
LONG = 3600.0


@contextmanager
def parent(data: Path, worker: str, start: float, stop: float, *more: str) -> Iterator[subprocess.Popen[str]]:
    """Runs the parent of two processes that run ``worker`` in a worker's place; kills what is left of them."""
    registry = registry_file(data.parent)
    command = [sys.executable, "-c", PARENT, str(data), worker, str(start), str(stop), str(registry), *more]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdout=pipe, stderr=pipe, text=True, start_new_session=True) as process:
        try:
            yield process
        finally:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)


def children(process: subprocess.Popen[str]) -> list[int]:
    """The process ids of a process's children."""
    return [int(child) for child in Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()]


def wait_for_children(process: subprocess.Popen[str], number: int) -> list[int]:
    """Waits until there are ``number`` children; returns their process ids."""
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline:
        if len(found := children(process)) == number:
            return found
        time.sleep(0.02)
    pytest.fail("the workers were not started")


@pytest.mark.parametrize(
    ("worker", "start", "words"),
    [(HANGS, 0.3, "worker 0 did not start within 0.3 seconds"), (DIES, LONG, "worker 0 did not start; what it said")],
    ids=["hangs", "dies"],
)
def test_a_worker_that_does_not_start_is_an_error(tmp_path: Path, worker: str, start: float, words: str) -> None:
    """Whether it hangs or dies, the collector ends with an error that says so, and leaves no process behind."""
    with parent(tmp_path / "data", worker, start, LONG) as process:
        _, said = process.communicate(timeout=30)
    assert process.returncode == 1
    assert f"error: {words}" in said
    assert "Traceback" not in said


def test_sigterm_is_honoured_while_a_worker_hangs_at_its_start(tmp_path: Path) -> None:
    """A collector that waits for a worker that will never listen stops on SIGTERM, and the worker is gone."""
    with parent(tmp_path / "data", HANGS, LONG, LONG) as process:
        (worker,) = wait_for_children(process, 1)
        process.send_signal(signal.SIGTERM)
        out, said = process.communicate(timeout=30)
    assert (process.returncode, out, said) == (0, "", "")
    assert not Path(f"/proc/{worker}").exists()


def test_a_worker_that_will_not_stop_is_killed(tmp_path: Path) -> None:
    """A worker that does not end when it is told to is killed after its time, and the log says so."""
    with parent(tmp_path / "data", STAYS, LONG, 0.3) as process:
        assert process.stdout is not None
        assert process.stdout.readline().startswith("listening on ")
        workers = wait_for_children(process, 2)
        process.send_signal(signal.SIGTERM)
        _, said = process.communicate(timeout=30)
    assert process.returncode == 0
    assert "worker 0 did not stop within 0.3 seconds; it is killed" in said
    assert not any(Path(f"/proc/{worker}").exists() for worker in workers)


def test_a_worker_that_cannot_start_again_ends_no_other(tmp_path: Path) -> None:
    """However often a worker that died fails to start again, the others go on, and it is tried again after a pause;
    once none listens any more the collector ends with an error.
    """
    with parent(tmp_path / "data", ONCE.format(mark=str(tmp_path / "mark")), LONG, LONG) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        assert process.stdout.readline().startswith("listening on ")
        first, second = wait_for_children(process, 2)
        os.kill(first, signal.SIGKILL)
        said = [process.stderr.readline() for _ in range(10)]
        assert "worker 0 ended with -9; starting it again\n" in said[0]
        assert all("worker 0 ended with 3; starting it again in 0.05 seconds\n" in line for line in said[1:])
        assert second in children(process)
        os.kill(second, signal.SIGKILL)
        _, rest = process.communicate(timeout=30)
    assert process.returncode == 1
    assert "the last of many; what it said is above" in rest


def test_a_hangup_while_it_starts_is_kept_for_later(tmp_path: Path) -> None:
    """SIGHUP to a collector that is starting, and to workers that are, ends none of them: all is read again as soon as
    they listen.
    """
    with parent(tmp_path / "data", HUNG_UP, LONG, 0.1, "early") as process:
        assert process.stdout is not None
        assert process.stderr is not None
        assert process.stdout.readline().startswith("listening on ")
        assert process.stderr.readline().endswith("reloaded: registry\n")
        assert len(children(process)) == 2
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=30)
    assert process.returncode == 0


def test_a_worker_whose_parent_is_gone_ends_quietly(tmp_path: Path) -> None:
    """A worker that has nobody to tell that it is ready stops without a word."""
    registry = registry_file(tmp_path)
    settings = (
        f'{{"registry": "{registry}", "data": "{tmp_path}", "number": 0, "host": "127.0.0.1", "port": 0,'
        ' "late": 3600, "body": 1024, "queue": 1024, "disk": null, "quarantine": 0}\n'
    )
    command = [sys.executable, "-m", "hubbub_collector.worker"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as worker:
        assert worker.stdout is not None
        assert worker.stdin is not None
        assert worker.stderr is not None
        worker.stdout.close()
        worker.stdin.write(settings.encode())
        worker.stdin.flush()
        said = worker.stderr.read()
        assert worker.wait(30) == 0
    assert said == b""
