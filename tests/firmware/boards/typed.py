"""Checks each board against the stubs of its own MicroPython build: ``python -m tests.firmware.boards.typed``.

The stubs of two builds give the same names, ``machine`` and ``network`` among them, so each board is checked by itself,
with the stubs in place of what the host has. They are fetched once, at fixed versions, into the environment.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from hubbub_firmware.build.boards import boards_folder
from hubbub_firmware.build.modules import closure

REPOSITORY = Path(__file__).parents[3]
STDLIB = "micropython-stdlib-stubs==1.29.0.post2"
STUBS = {
    "rpi_pico_w": "micropython-rp2-rpi_pico_w-stubs==1.29.0.post1",
    "rpi_pico2_w": "micropython-rp2-rpi_pico2_w-stubs==1.29.0.post1",
    "esp32": "micropython-esp32-esp32_generic-stubs==1.29.0.post1",
    "esp32s3": "micropython-esp32-esp32_generic_s3-stubs==1.29.0.post1",
    "stm32": "micropython-stm32-stubs==1.29.0.post1",
    "nrf52840": "micropython-nrf-stubs==1.29.0.post1",
}
# Inside the environment: a fresh one fetches them anew, and no folder of the tree is written to.
CACHE = Path(sys.prefix) / "micropython-stubs"
_TOGETHER = 2
# Says everything twice, once for each interpreter; stubs of one of them cannot hold both.
_BRIDGES = {"hubbub_firmware.ticks"}


def fetched(requirement: str) -> Path:
    """The folder with a package of stubs alone, which is there whole or not at all. Raises RuntimeError."""
    folder = CACHE / requirement.replace("==", "-")
    if not folder.is_dir():
        CACHE.mkdir(exist_ok=True)
        new = Path(tempfile.mkdtemp(dir=CACHE))
        pip = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps"]
        try:
            subprocess.run([*pip, "--target", str(new), requirement], check=True, capture_output=True, text=True)
            new.rename(folder)
        except subprocess.CalledProcessError as error:
            raise RuntimeError(f"{requirement} cannot be fetched: {error.stderr}") from error
        except OSError:
            if not folder.is_dir():  # another run was first
                raise
        finally:
            shutil.rmtree(new, ignore_errors=True)
    return folder


def program_of(board: str) -> Path:
    """The module of a board."""
    return boards_folder() / board / "board.py"


def modules_of(program: Path) -> list[Path]:
    """A board's module, and those of hubbub_firmware that it reaches: what touches the hardware."""
    reached = closure([program.read_text(encoding="utf-8")])
    ours = [module for module in reached if module.startswith("hubbub_firmware") and module not in _BRIDGES]
    return [program, *(reached[module] for module in ours)]


def faults(board: str, program: Path | None = None) -> str:
    """What mypy finds in a board's modules, or nothing. ``program`` stands in for the board's own module."""
    return _faults(board, modules_of(program or program_of(board)))


def _faults(board: str, modules: list[Path]) -> str:
    stubs, stdlib = fetched(STUBS[board]), fetched(STDLIB)
    folders = [stubs, stdlib, REPOSITORY / "client", REPOSITORY / "firmware"]
    command = [
        sys.executable, "-m", "mypy", "--config-file", os.devnull, "--strict", "--python-version", "3.11",
        "--explicit-package-bases", "--no-site-packages", "--follow-imports", "silent", "--no-error-summary",
        "--hide-error-context", "--allow-any-generics", "--no-warn-return-any", "--no-warn-unused-ignores",
        "--custom-typeshed-dir", str(stdlib), "--cache-dir", str(CACHE / f"mypy-{board}"),
        *(os.path.relpath(path, REPOSITORY) for path in modules),
    ]  # fmt: skip
    environment = {**os.environ, "MYPYPATH": os.pathsep.join(map(str, folders))}
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment, cwd=REPOSITORY)
    if done.returncode not in (0, 1):
        return done.stdout + done.stderr
    # The stubs have faults of their own, which mypy reports besides.
    return "\n".join(line for line in done.stdout.splitlines() if CACHE.name not in line.partition(":")[0])


def all_faults() -> dict[str, str]:
    """Board -> what was found, for each board."""
    modules = [
        modules_of(program_of(board)) for board in STUBS
    ]  # here: CPython 3.11 may not parse in two threads at once
    with ThreadPoolExecutor(_TOGETHER) as pool:
        return dict(zip(STUBS, pool.map(_faults, STUBS, modules), strict=True))


def main() -> int:
    """Prints what was found; 1 where there is anything."""
    found = {board: text for board, text in all_faults().items() if text}
    for board, text in found.items():
        print(f"{board}:\n{text}")
    print(f"{len(STUBS) - len(found)} of {len(STUBS)} boards agree with the stubs of their MicroPython")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
