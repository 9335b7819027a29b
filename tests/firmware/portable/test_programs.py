"""The client's files, unchanged, under three interpreters: CPython, MicroPython of 64 bits in 96 KB, and of 32 bits."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.firmware.portable import given, interpreters
from tests.firmware.portable.byte_code import compile_package
from tests.firmware.portable.interpreters import CLIENT, Run
from tests.registries import MECHANISMS, registry_of

PROGRAMS = Path(__file__).with_name("programs")

pytestmark = pytest.mark.parametrize("run", interpreters.ALL.values(), ids=interpreters.ALL)


@pytest.fixture(scope="module")
def byte_code(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The client as .mpy, for what leaves a small heap no room to compile in."""
    return compile_package(CLIENT / "hubbub_client", tmp_path_factory.mktemp("client"))


def write(path: Path, document: Any) -> list[str]:
    """The arguments of a program that reads this document."""
    path.write_text(json.dumps(document))
    return [str(CLIENT), str(path)]


def lines(path: Path, cases: list[Any]) -> list[str]:
    """The same, of a file with one line a case."""
    path.write_text("".join(json.dumps(case) + "\n" for case in cases))
    return [str(CLIENT), str(path)]


def test_hashes_are_those_of_the_host(run: Run, tmp_path: Path) -> None:
    """XXH32, item keys, SplitMix64, buckets and fingerprints equal the host's, past what small integers hold."""
    expected = [(kind, case) for kind, cases in given.hashes().items() for case in cases]
    said = run(PROGRAMS / "hashing.py", lines(tmp_path / "given.json", expected), [tmp_path])
    assert said == f"{len(expected)} hashes hold\n"


def test_permanent_noise_is_that_of_the_host(run: Run, tmp_path: Path) -> None:
    """HMAC-SHA256 and the noise that is derived with it equal CPython's, at every length around a block's."""
    said = run(PROGRAMS / "permanent_noise.py", write(tmp_path / "given.json", given.streams()), [tmp_path])
    assert said == "12 streams hold\n"


def test_sampling_is_exact(run: Run) -> None:
    """Counted over whole sample spaces, every draw has exactly the probability that its threshold says."""
    assert run(PROGRAMS / "sampling.py", [str(CLIENT)], []) == "sampling is exact\n"


def test_what_is_sent_is_what_the_host_sends(run: Run, tmp_path: Path) -> None:
    """Records, uploads, frames, dates and values are the same bytes as on a host, torn ones refused."""
    assert run(PROGRAMS / "wire.py", write(tmp_path / "given.json", given.wire()), [tmp_path]) == "the wire holds\n"


def test_plans_are_checked(run: Run, byte_code: Path, tmp_path: Path) -> None:
    """A plan of each mechanism is taken, and refused when it is damaged in any of a dozen ways."""
    registry = registry_of(tmp_path, **{kind.replace("-", "_"): {"mechanism": kind} for kind in MECHANISMS})
    cases = given.plans(registry.document)
    _, path = lines(tmp_path / "plans.json", cases)
    client = CLIENT if run is interpreters.cpython else byte_code
    said = run(PROGRAMS / "plans.py", [str(client), path], [client / "hubbub_client", tmp_path])
    taken = sum(words is None for _, words in cases)
    assert said == f"{taken} plans taken, {len(cases) - taken + 7} refused\n"


def test_a_ledger_survives_and_is_its_own(run: Run, byte_code: Path, tmp_path: Path) -> None:
    """A ledger holds over a restart, refuses what is used up, and is refused where it is not the last of its own.

    What is left of it equals what CPython leaves.
    """
    registry = registry_of(tmp_path, app={"mechanism": "rappor", "bits": 128})
    arguments = write(tmp_path / "plan.json", registry.document)
    client = CLIENT if run is interpreters.cpython else byte_code
    folders = [client / "hubbub_client", tmp_path]
    said = run(PROGRAMS / "ledger.py", [str(client), arguments[1], str(tmp_path / "state")], folders)
    assert said == interpreters.cpython(PROGRAMS / "ledger.py", [*arguments, str(tmp_path / "other")])


def test_a_dimension_stands_in_front(run: Run, byte_code: Path, tmp_path: Path) -> None:
    """A report names the app's value in its first byte and is else the same; what is not a value of it is refused.

    The record equals CPython's.
    """
    versions = {"name": "version", "values": ["1.0", "1.1", "other"], "other": "other"}
    registry = registry_of(tmp_path, m={"mechanism": "rappor", "dimension": versions})
    arguments = write(tmp_path / "plan.json", registry.document)
    client = CLIENT if run is interpreters.cpython else byte_code
    said = run(PROGRAMS / "dimension.py", [str(client), arguments[1]], [client / "hubbub_client", tmp_path])
    assert said == interpreters.cpython(PROGRAMS / "dimension.py", arguments)
