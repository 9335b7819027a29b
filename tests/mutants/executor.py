"""Plants mutants one at a time in a copy of the tree, and runs the tests of the mutated file in a forked process.

Python starts once, with the libraries that the tests use, and each run is a fork of it: that takes a third of the time
that a process of its own would. Nothing of hubbub is imported before the fork.
"""

from __future__ import annotations

import os
import shlex
import signal
import sys
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple

from cosmic_ray.mutating import mutate_code
from cosmic_ray.plugins import get_operator

ROOTS = ("client", "firmware", "collector", "decoder", "simulations")
_TIMEOUT = 120.0
# The project's own settings name plugins that these tests do not need, and that take longer to load than they run.
_SETTINGS = "[pytest]\naddopts = --import-mode=importlib -p no:cacheprovider -x -q --assert=plain\n"


class Mutant(NamedTuple):
    """One fault: an operator's replacement number ``occurrence`` in a file."""

    path: str
    operator: str
    occurrence: int


class Fate(NamedTuple):
    """The mutant, the file before and after, and whether every test passed all the same."""

    mutant: Mutant
    before: str
    after: str
    survived: bool


class Executor:
    """Runs mutants in ``tree``, a copy of the working tree that nobody else uses. Its process is to do nothing else."""

    def __init__(self, tree: Path) -> None:
        self._tree = tree
        os.chdir(tree)
        os.environ |= {"CI": "1", "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "OPENBLAS_NUM_THREADS": "1"}
        sys.dont_write_bytecode = True
        sys.path[:0] = [str(tree / root) for root in ROOTS] + [str(tree)]
        (tree / "mutants.ini").write_text(_SETTINGS)
        for library in ("hypothesis", "msgpack", "numpy", "pytest", "rich", "scipy.stats", "xxhash"):
            __import__(library)

    def run(self, mutant: Mutant, tests: Sequence[str]) -> Fate | None:
        """What became of a mutant; None where it is the same text as before."""
        path = self._tree / mutant.path
        before = path.read_text()
        after = mutate_code(before, get_operator(mutant.operator)(), mutant.occurrence)
        if after is None or after == before:
            return None
        path.write_text(after)
        try:
            return Fate(mutant, before, after, self.passes(tests))
        finally:
            path.write_text(before)

    def passes(self, tests: Sequence[str]) -> bool:
        """Whether ``tests`` (each pytest's arguments, for a process of its own) pass, each within two minutes."""
        return all(_in_a_fork(partial(self._pytest, shlex.split(words))) for words in tests)

    def _pytest(self, words: Sequence[str]) -> int:
        import pytest

        return int(pytest.main(["-c", str(self._tree / "mutants.ini"), "--rootdir", str(self._tree), *words]))


def _in_a_fork(action: Callable[[], int]) -> bool:
    child = os.fork()
    if child == 0:
        try:
            os.setsid()
            null = os.open(os.devnull, os.O_RDWR)
            for descriptor in range(3):
                os.dup2(null, descriptor)
            os._exit(action())
        finally:
            os._exit(1)
    end = time.monotonic() + _TIMEOUT
    while time.monotonic() < end:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            return status == 0
        time.sleep(0.01)
    os.killpg(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return False
