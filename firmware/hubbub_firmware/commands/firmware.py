"""``hubbub firmware``: a folder that a board runs, and the proof that it runs."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from hubbub_firmware.build.boards import find_board
from hubbub_firmware.build.check import check
from hubbub_firmware.build.figures import figures_text
from hubbub_firmware.build.folder import READABLE, build
from hubbub_firmware.settings import TRANSPORTS
from hubbub_registry.commands.compile import load_compilable

SUMMARY = "build a folder that a board runs from a registry, and check that it fits and works"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """``build`` and ``check``."""
    commands = parser.add_subparsers(dest="what", required=True, metavar="build|check")
    _add_build(commands.add_parser("build", help=_BUILD, description=_BUILD, allow_abbrev=False))
    _add_check(commands.add_parser("check", help=_CHECK, description=_CHECK, allow_abbrev=False))


_BUILD = "put a folder together that mpremote copies to a board"
_CHECK = "run a built folder under MicroPython with little memory, and say what it takes"


def _add_build(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("registry", metavar="REGISTRY.toml", type=Path)
    parser.add_argument("--board", metavar="NAME", required=True, help="which board; a wrong name lists them all")
    parser.add_argument("-o", "--output", metavar="DIR", type=Path, required=True, help="the folder to write")
    parser.add_argument("--transport", choices=TRANSPORTS, help="default: https, or frames on boards without a network")
    parser.add_argument("--mpy", action="store_true", help="compile to byte code: small boards have to have it")
    parser.add_argument(
        "--bundle", action="store_true", help="link the library into one module with short names: a third of the memory"
    )
    parser.add_argument("--force", action="store_true", help="replace an earlier build; your own files in it stay")


def _add_check(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("folder", metavar="DIR", type=Path)
    parser.add_argument("--heap", metavar="SIZE", default="96k", help="the memory it may take (default: %(default)s)")
    parser.add_argument(
        "--frozen", action="store_true", help="with the library in flash, as in a firmware built with manifest.py"
    )
    parser.add_argument("--json", action="store_true", help="for machines")


def run(arguments: argparse.Namespace) -> int:
    """Builds or checks. Raises RegistryError, BuildError, CheckError and OSError."""
    if arguments.what == "build":
        return _build(arguments)
    figures = check(arguments.folder, arguments.heap, frozen=arguments.frozen)
    print(json.dumps(figures, indent=2) if arguments.json else figures_text(figures))
    return 0 if figures["fits"] else 1


def _build(arguments: argparse.Namespace) -> int:
    board = find_board(arguments.board)
    registry = load_compilable(arguments.registry)
    transport = arguments.transport or ("frames" if board.sends_frames else "https")
    built = build(
        registry, board, transport, arguments.output,
        mpy=arguments.mpy, force=arguments.force, bundle=arguments.bundle,
    )  # fmt: skip
    cut = f"; {arguments.output / READABLE} is for people, and need not go there" if arguments.bundle else ""
    print(
        f"{arguments.output}: {built.modules} modules of {built.module_bytes:,} bytes, and a plan of "
        f"{built.plan_bytes:,} bytes\n"
        f"fill in {arguments.output / 'settings.json'}, read your sensor in {arguments.output / 'main.py'}, then:\n"
        f"  mpremote cp -r {arguments.output}/. :{cut}"
    )
    return 0
