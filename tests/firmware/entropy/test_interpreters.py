"""The same files on the interpreters of boards, and how much memory they take there."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.firmware.entropy.test_drbg import CASES
from tests.firmware.portable import interpreters
from tests.firmware.portable.byte_code import compile_file, compile_package
from tests.firmware.portable.interpreters import CLIENT, REPOSITORY, Run
from tests.portable.faults import portable_files

FIRMWARE = REPOSITORY / "firmware"
PROGRAM = Path(__file__).with_name("programs") / "entropy.py"
# One of each kind of section: with and without personalisation and additional input.
SAMPLE = CASES[::8]
NAMES = ("EntropyInput", "Nonce", "PersonalizationString", "EntropyInputReseed", "AdditionalInputReseed")

MEMORY = """
import gc, sys
sys.path[:] = [sys.argv[1], ".frozen"]
from hubbub_client.storage import MemoryStorage
import hubbub_client.reasons
storage = MemoryStorage()
def held():
    gc.collect()
    return gc.mem_alloc()
class Source:
    name, sample_bits, entropy_milli = "system", 8, 4000
    def ready(self): return True
    def sample(self, count): return urandom(count)
from os import urandom
raw = Source()
before = held()
from hubbub_firmware.entropy import open_entropy
entropy = open_entropy(raw, storage, "linux", sys.implementation)
after = held()
for _ in range(600):
    entropy(100)
print(after - before, held() - after)
"""


def vectors(path: Path) -> str:
    with path.open("w") as lines:
        for case in SAMPLE:
            values = [case[name][0] for name in NAMES] + case["AdditionalInput"] + case["ReturnedBits"]
            lines.write(json.dumps([value.hex() for value in values]) + "\n")
    return str(path)


@pytest.mark.parametrize("run", list(interpreters.ALL.values())[1:], ids=list(interpreters.ALL)[1:])
def test_boards_give_the_bytes_that_hosts_give(run: Run, tmp_path: Path) -> None:
    """In 96 KB, with 64 and with 32 bits: vectors hold, every bad source is refused, and all output is CPython's."""
    arguments = [str(CLIENT), str(FIRMWARE), vectors(tmp_path / "vectors.json")]
    said = run(PROGRAM, arguments, [FIRMWARE / "hubbub_firmware", tmp_path])
    assert len(said) == 65
    assert said == interpreters.cpython(PROGRAM, arguments)


def test_memory_stays_small(tmp_path: Path) -> None:
    """From byte code, on 64 bits: code and state hold at most 20 KB after the boot, and 600 requests add nothing."""
    compile_package(CLIENT / "hubbub_client", tmp_path)
    for path in portable_files():
        if path.is_relative_to(FIRMWARE / "hubbub_firmware"):
            said = compile_file(path, (tmp_path / path.relative_to(FIRMWARE)).with_suffix(".mpy"))
            assert not said, said
    (tmp_path / "memory.py").write_text(MEMORY)
    said = interpreters.unix(tmp_path / "memory.py", [str(tmp_path)], heap="64k")
    held, grown = map(int, said.split())
    assert held <= 20_480
    assert grown <= 500
