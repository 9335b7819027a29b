"""Boards, each a process of MicroPython of its own, on the folder that was built.

The library lies in flash, as in a firmware that froze it. A process has no flash, so its image is one object in the
heap, which is made larger by as much.
"""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

from rich.console import Console

from hubbub_firmware.build.byte_code import byte_code
from hubbub_firmware.build.flash import FROM_FLASH, flash_image
from hubbub_firmware.build.interpreter import bytes_of, find_interpreter
from hubbub_simulations.demo.pipeline import DemoError, command

# Two at a time for each transport: a board waits for its flash most of the time.
_AT_ONCE = 2
_SECONDS = 120


class Boards:
    """The boards of one transport, in ``folder``, which is built and checked. Raises DemoError."""

    def __init__(self, console: Console, registry: Path, folder: Path, transport: str, heap: str) -> None:
        self._folder = folder.absolute()
        words = ["firmware", "build", str(registry), "--board", "unix", "--transport", transport, "--mpy"]
        command(console, *words, "-o", str(folder))
        checked = command(console, "firmware", "check", str(folder), "--frozen", "--heap", heap)
        console.print(checked, highlight=False, markup=False)
        # Compiled, since compiling takes a process longer than all that follows; a board would do it once a start.
        program = {"main.py": Path(__file__).with_name("main.py").read_bytes()}
        (folder / "main.mpy").write_bytes(byte_code(program, "")["main.mpy"])
        (folder / "main.py").unlink()
        image = flash_image(folder / "lib")
        (folder / "library.img").write_bytes(image)
        heap_bytes = bytes_of(heap) + len(image)
        self._words = [find_interpreter(), "-X", f"heapsize={heap_bytes}", FROM_FLASH, "../../library.img", "main"]

    @contextmanager
    def running(self, readings: Sequence[int], settings: dict[str, object]) -> Iterator[list[Future[None]]]:
        """One board for each reading, with ``settings`` in place of the template's; what they are to finish."""
        path = self._folder / "settings.json"
        path.write_text(json.dumps(json.loads(path.read_text()) | settings))
        with ThreadPoolExecutor(_AT_ONCE) as pool:
            try:
                yield [pool.submit(self._play, number, reading) for number, reading in enumerate(readings)]
            finally:
                pool.shutdown(cancel_futures=True)

    def _play(self, number: int, reading: int) -> None:
        """One board, with a state of its own. Raises DemoError with what it complained of."""
        place = self._folder / "boards" / str(number)
        place.mkdir(parents=True)
        done = subprocess.run(  # noqa: S603 - the interpreter that was found, and no shell
            [*self._words, str(reading)],
            cwd=place, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=_SECONDS, check=False,
        )  # fmt: skip
        if done.stdout != "done\n":
            raise DemoError(f"a board in {place}: {done.stdout.strip() or done.returncode}")
