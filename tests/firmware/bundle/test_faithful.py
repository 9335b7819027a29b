"""A bundle does what the modules do that it was made of: the programs that test those run on it, unchanged."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.client.test_vectors import CASES
from tests.client.test_vectors import PROGRAM as VECTORS
from tests.firmware.bundle.bundles import SINGLE, Bundled, bundled
from tests.firmware.portable import given, interpreters
from tests.firmware.portable.interpreters import Run
from tests.firmware.portable.test_programs import PROGRAMS, lines, write
from tests.registries import MECHANISMS, registry_of
from tests.vectors import make


@pytest.fixture(scope="module")
def programs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Bundled]:
    """Each program on its bundle."""
    names = ("hashing", "permanent_noise", "sampling", "wire", "plans", "ledger")
    folder = tmp_path_factory.mktemp("bundles")
    made = {name: bundled(PROGRAMS / f"{name}.py", folder / name) for name in names}
    single = bundled(VECTORS, folder / "vectors", SINGLE)
    return made | {"vectors": single, "vectors of all": bundled(VECTORS, folder / "all")}


def code(bundle: Bundled, run: Run) -> Path:
    """Byte code, but for CPython, which runs the text that it was made of."""
    return bundle.text if run is interpreters.cpython else bundle.byte_code


@pytest.mark.parametrize("form", ["text", "readable"])
def test_the_vectors_hold_under_cpython(programs: dict[str, Bundled], form: str) -> None:
    """All records are the vectors', with short names and with those of the sources."""
    vectors = programs["vectors of all"]
    said = interpreters.cpython(vectors.program, [str(make.FOLDER), str(getattr(vectors, form))])
    assert said == f"{sum(CASES.values())} vectors hold\n"


@pytest.mark.parametrize("records", sorted(CASES))
def test_the_vectors_hold_on_a_board(programs: dict[str, Bundled], records: str) -> None:
    """The records of each metric are the vectors' under real MicroPython, in a heap of 96 KB.

    A joint metric's two mechanisms are in memory together, so that the bundle which can encode it holds all in there.
    """
    vectors = programs["vectors of all" if "joint" in records else "vectors"]
    name = records.removeprefix("records_").removesuffix(".json")
    arguments = [str(make.FOLDER), str(vectors.byte_code), name]
    said = interpreters.unix(vectors.program, arguments, heap="96k")
    assert said == f"{CASES[records]} vectors hold\n"


@pytest.mark.parametrize("run", interpreters.ALL.values(), ids=interpreters.ALL)
def test_the_portable_programs_hold(programs: dict[str, Bundled], run: Run, tmp_path: Path) -> None:
    """Hashes, permanent noise, sampling, the wire, plans and a ledger are the modules', on each interpreter."""
    hashes = [(kind, case) for kind, cases in given.hashes().items() for case in cases]
    all_kinds = registry_of(tmp_path, **{kind.replace("-", "_"): {"mechanism": kind} for kind in MECHANISMS})
    plans = given.plans(all_kinds.document)
    taken = sum(words is None for _, words in plans)
    cases = {
        "hashing": (lines(tmp_path / "hashes.json", hashes), f"{len(hashes)} hashes hold\n"),
        "permanent_noise": (write(tmp_path / "streams.json", given.streams()), "12 streams hold\n"),
        "sampling": ([""], "sampling is exact\n"),
        "wire": (write(tmp_path / "wire.json", given.wire()), "the wire holds\n"),
        "plans": (lines(tmp_path / "plans.json", plans), f"{taken} plans taken, {len(plans) - taken + 7} refused\n"),
    }
    for name, (arguments, expected) in cases.items():
        library = code(programs[name], run)
        assert run(programs[name].program, [str(library), *arguments[1:]], [library, tmp_path]) == expected, name


@pytest.mark.parametrize("run", interpreters.ALL.values(), ids=interpreters.ALL)
def test_a_ledger_is_the_same_bytes(programs: dict[str, Bundled], run: Run, tmp_path: Path) -> None:
    """What a program leaves of a ledger through a bundle equals what it leaves through modules, to the last byte."""
    registry = registry_of(tmp_path, app={"mechanism": "rappor", "bits": 128})
    plain = write(tmp_path / "plan.json", registry.document)
    expected = interpreters.cpython(PROGRAMS / "ledger.py", [*plain, str(tmp_path / "plain")])
    ledger = programs["ledger"]
    library = code(ledger, run)
    arguments = [str(library), plain[1], str(tmp_path / "bundled")]
    assert run(ledger.program, arguments, [library, tmp_path]) == expected
