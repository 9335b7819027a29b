from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.firmware.portable import interpreters
from tests.vectors import make

PROGRAM = Path(__file__).with_name("run_vectors.py")
ARGUMENTS = [str(make.FOLDER), str(interpreters.CLIENT)]
CASES = {name: len(document["cases"]) for name, document in make.documents().items() if "cases" in document}


def test_the_vectors_are_what_the_code_makes() -> None:
    """The committed vectors equal those made anew: a change of format is never silent."""
    for name, document in make.documents().items():
        assert json.loads((make.FOLDER / name).read_text()) == document, f"{name}: see the top of tests/vectors/make.py"


def test_every_mechanism_has_vectors() -> None:
    """There are vectors, good and bad, for every mechanism of the table."""
    from hubbub_client.mechanisms.names import COMPOSITES, NAMES

    plan = json.loads((make.FOLDER / "plan.json").read_text())
    assert {entry["mechanism"] for entry in plan["metrics"]} == {*NAMES, *COMPOSITES}
    for entry in plan["metrics"]:
        cases = json.loads((make.FOLDER / f"records_{entry['name']}.json").read_text())["cases"]
        assert any("record" in case for case in cases)
        assert any("bad" in case for case in cases)


@pytest.mark.parametrize("run", [interpreters.cpython, interpreters.webassembly])
def test_the_vectors_hold(run: interpreters.Run) -> None:
    """The client's files, unchanged, give the vectors' records under CPython and on 32-bit MicroPython."""
    assert run(PROGRAM, ARGUMENTS, [make.FOLDER]) == f"{sum(CASES.values())} vectors hold\n"


@pytest.mark.parametrize("records", sorted(CASES))
def test_a_metric_and_its_vectors_fit_a_board(records: str) -> None:
    """Plan, encoder and vectors of one metric, good and bad, hold under real MicroPython in a heap of 96 KB."""
    name = records.removeprefix("records_").removesuffix(".json")
    said = interpreters.unix(PROGRAM, [*ARGUMENTS, name], heap="96k")
    assert said == f"{CASES[records]} vectors hold\n"
