"""The files of a bundle: what a board runs, and what people read to see what that is."""

from __future__ import annotations

from collections.abc import Mapping

from hubbub_firmware.build.bundle.bundle import MODULE, Bundle
from hubbub_firmware.build.bundle.messages import FILE
from hubbub_firmware.build.byte_code import byte_code


def byte_code_files(made: Bundle, architecture: str) -> dict[str, bytes]:
    """Name -> content of the byte code and the messages. Raises BuildError where mpy-cross is missing or refuses."""
    sources = {f"{name}.py": text.encode() for name, text in made.modules.items()}
    return byte_code(sources, architecture, MODULE) | _messages(made)


def text_files(modules: Mapping[str, str], made: Bundle) -> dict[str, bytes]:
    """The same of program text: ``made.modules``, or ``made.readable`` with the names of the sources."""
    return {f"{name}.py": text.encode() for name, text in modules.items()} | _messages(made)


def _messages(made: Bundle) -> dict[str, bytes]:
    return {FILE: made.messages.encode()} if made.messages else {}
