from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.vectors import make

REPOSITORY = Path(__file__).parents[2]
RUN = [str(REPOSITORY / "tests/client/run_vectors.py"), str(make.FOLDER), str(REPOSITORY / "client")]
MICROPYTHON = str(Path(sys.executable).parent / "micropython")


def test_the_vectors_are_what_the_code_makes() -> None:
    """The committed vectors equal those made anew: a change of format is never silent."""
    for name, document in make.documents().items():
        assert json.loads((make.FOLDER / name).read_text()) == document, f"{name}: see the top of tests/vectors/make.py"


def test_every_mechanism_has_vectors() -> None:
    """There are vectors, good and bad, for every mechanism of the table."""
    from hubbub_client.mechanisms import NAMES

    plan = json.loads((make.FOLDER / "plan.json").read_text())
    assert {entry["mechanism"] for entry in plan["metrics"]} == set(NAMES)
    for entry in plan["metrics"]:
        cases = json.loads((make.FOLDER / f"records_{entry['name']}.json").read_text())["cases"]
        assert any("record" in case for case in cases)
        assert any("bad" in case for case in cases)


@pytest.mark.parametrize(
    "interpreter", [[sys.executable], [MICROPYTHON, "-X", "heapsize=1m"]], ids=["cpython", "micropython"]
)
def test_the_vectors_hold(interpreter: list[str]) -> None:
    """The client's files, unchanged, give the vectors' records under CPython and under real MicroPython."""
    done = subprocess.run([*interpreter, *RUN], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr + done.stdout
    total = sum(len(document["cases"]) for document in make.documents().values() if "cases" in document)
    assert done.stdout == f"{total} vectors hold\n"
