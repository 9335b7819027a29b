"""Bundles of the portable library for programs that know nothing of bundles: only the imports in them are others."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from hubbub_client.mechanisms import module_name
from hubbub_client.mechanisms.names import COMPOSITES, NAMES
from hubbub_firmware.build.bundle.bundle import MODULE, Bundle, bundle
from hubbub_firmware.build.bundle.entry import kept_of, redirected, roots_of
from hubbub_firmware.build.bundle.files import byte_code_files, text_files
from hubbub_firmware.build.modules import closure

SINGLE = tuple(f"hubbub_client.mechanisms.{module_name(name)}" for name in NAMES)
MECHANISMS = SINGLE + tuple(f"hubbub_client.mechanisms.{module_name(name)}" for name in COMPOSITES)


@dataclass(frozen=True)
class Bundled:
    """A program, and its bundle in three forms: ``byte_code``, the ``text`` of it, and that with ``readable`` names."""

    program: Path
    byte_code: Path
    text: Path
    readable: Path
    made: Bundle


def bundled(program: Path, folder: Path, mechanisms: tuple[str, ...] = MECHANISMS) -> Bundled:
    """The bundle of what a program imports of the library, written to ``folder``."""
    text = program.read_text()
    sources = {module: path.read_text() for module, path in closure([text], mechanisms).items()}
    made = bundle(sources, roots_of(text), kept_of(text))
    forms = {"byte_code": byte_code_files(made, ""), "text": text_files(made.modules, made),
             "readable": text_files(made.readable, made)}  # fmt: skip
    for form, files in forms.items():
        (folder / form).mkdir(parents=True)
        for name, data in files.items():
            (folder / form / name).write_bytes(data)
    (folder / program.name).write_text(redirected(text, made.roots, MODULE))
    return Bundled(folder / program.name, folder / "byte_code", folder / "text", folder / "readable", made)
