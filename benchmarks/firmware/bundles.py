"""The programs that hold all of hubbub, each linked with what it reaches into a bundle, and what each step saves."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from hubbub_firmware.build.bundle.bundle import STEPS, bundle
from hubbub_firmware.build.bundle.files import byte_code_files
from hubbub_firmware.build.modules import closure

from benchmarks.firmware import interpreter

MECHANISMS = ("hubbub_client.mechanisms.rappor", "hubbub_client.mechanisms.hadamard_count_mean_sketch")
# A state that is a path is for hosts; no board is given one.
_FOR_PATHS = "hubbub_client.file_storage"
_WHAT = {
    "link": "one module", "constants": "and constants written out", "messages": "and messages in a file",
    "methods": "and methods as functions", "overlays": "and what is rare comes and goes", "names": "and short names",
}  # fmt: skip


def compile_bundle(folder: Path, program: str, steps: Sequence[str] = STEPS) -> str:
    """Links ``programs/PROGRAM.py`` into a library, whose name in ``folder`` is returned."""
    text = (interpreter.PROGRAMS / f"{program}.py").read_text()
    sources = {name: path.read_text() for name, path in closure([text], MECHANISMS).items() if name != _FOR_PATHS}
    made = bundle({**sources, program: text}, [f"{program}:figures"], [], steps)
    library = folder / f"{program}-{len(steps)}"
    library.mkdir()
    for name, data in byte_code_files(made, "").items():
        (library / name).write_bytes(data)
    return library.name


def measured(folder: Path, library: str, heap: str) -> tuple[Mapping[str, int], int, int]:
    """Under 64 bits: the steps of a program, and the most in use at any moment; under 32: what is held."""
    plan = "plans/both.json"
    steps = interpreter.unix(folder, "on_bundle.py", [plan], heap, library)
    bits32 = interpreter.webassembly(folder, "on_bundle.py", [plan], library)
    return steps, fullest(folder, library, heap), bits32["held"]


def fullest(folder: Path, library: str, heap: str) -> int:
    """The most that was in use at any moment of a program, on 64 bits (programs/watching.py)."""
    return interpreter.unix(folder, "on_bundle.py", ["plans/both.json", "watch"], heap, library)["fullest"]


def steps_of(folder: Path, program: str, heap: str) -> dict[str, int]:
    """What each step of linking leaves, in the order in which they are taken: what is held, on 64 bits."""
    left = {}
    for count in range(1, len(STEPS)):
        library = compile_bundle(folder, program, STEPS[:count])
        name = f"by parts as a bundle: {_WHAT[STEPS[count - 1]]}, held"
        left[name] = interpreter.unix(folder, "on_bundle.py", ["plans/both.json"], heap, library)["held"]
    return left


def least(folder: Path) -> dict[str, int]:
    """The smallest heap in which each program runs to its end, where ``compile_bundle`` made its library before."""
    names = {"parts": "all by parts", "reporter": "all under a Reporter"}
    arguments = ["plans/both.json", "peak"]
    return {
        name: interpreter.least_heap(folder, "on_bundle.py", arguments, f"{program}-{len(STEPS)}")
        for program, name in names.items()
    }
