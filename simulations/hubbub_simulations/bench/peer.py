"""A peer library in a process and an environment of its own, asked to time itself."""

from __future__ import annotations

import hashlib
import json
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from hubbub_simulations.bench.measure import Timer
from hubbub_simulations.errors import PeerUnavailableError

_ANSWERING = Path(__file__).with_name("answering.py")
_PYTHON = (3, 11)  # what the peers' requirements were resolved for


class Peer:
    """A running peer. ``timer(task)`` measures one of the tasks that its ``serve.py`` lists."""

    def __init__(self, process: subprocess.Popen[str], name: str) -> None:
        self._process = process
        self._name = name

    def timer(self, task: str) -> Timer:
        """Times ``task`` in the peer's process. The timer raises PeerUnavailableError where the peer has died."""

        def seconds(number: int) -> float:
            assert self._process.stdin is not None  # noqa: S101 - both are pipes, see ``run_peer``
            assert self._process.stdout is not None  # noqa: S101
            try:
                self._process.stdin.write(json.dumps({"task": task, "number": number}) + "\n")
                self._process.stdin.flush()
                return float(json.loads(self._process.stdout.readline())["seconds"])
            except (OSError, ValueError, KeyError):
                raise PeerUnavailableError(
                    f"{self._name} stopped while it was timed on {task}; run its serve.py by hand to see why"
                ) from None

        return seconds


@contextmanager
def run_peer(folder: Path, cache: Path) -> Iterator[Peer]:
    """Times the tasks of ``folder/serve.py`` in the environment of ``folder/requirements.txt``, until the block ends.

    The environment is made under ``cache`` at first, and used again while the requirements stay the same.
    Raises PeerUnavailableError.
    """
    script, requirements = folder / "serve.py", folder / "requirements.txt"
    if not script.is_file() or not requirements.is_file():
        raise PeerUnavailableError(f"there is no serve.py with requirements.txt in {folder}; run from a checkout")
    python = environment(folder.name, requirements, cache)
    process = subprocess.Popen(  # noqa: S603 - the peer's script, from the folder that the caller named
        [str(python), "-P", str(_ANSWERING), str(script)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    try:
        yield Peer(process, folder.name)
    finally:
        if process.stdin is not None:
            process.stdin.close()
        try:
            process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        if process.stdout is not None:
            process.stdout.close()


def environment(name: str, requirements: Path, cache: Path) -> Path:
    """The Python of the peer's environment, made where it is not there yet."""
    digest = hashlib.sha256(requirements.read_bytes()).hexdigest()
    place = cache.absolute() / f"{name}-{digest[:12]}"
    python = place / "bin" / "python"
    complete = place / "complete"
    if not complete.exists():
        shutil.rmtree(place, ignore_errors=True)  # what an interrupted installation left
        _run([_interpreter(), "-m", "venv", str(place)], name)
        _run([str(python), "-m", "pip", "install", "--quiet", "--requirement", str(requirements)], name)
        complete.touch()
    return python


def _interpreter() -> str:
    if sys.version_info[:2] == _PYTHON:
        return sys.executable
    wanted = "python{}.{}".format(*_PYTHON)
    found = shutil.which(wanted)
    if found is None:
        raise PeerUnavailableError(f"the peers need {wanted}, which is not installed")
    return found


def _run(command: list[str], name: str) -> None:
    try:
        subprocess.run(command, check=True, capture_output=True, text=True)  # noqa: S603 - venv and pip, our arguments
    except OSError as error:
        raise PeerUnavailableError(f"the environment of {name} cannot be made ({error.strerror})") from None
    except subprocess.CalledProcessError as error:
        last = (error.stderr or error.stdout or "").strip().splitlines()[-1:] or ["no message"]
        raise PeerUnavailableError(f"the environment of {name} cannot be made: {last[0]}") from None
