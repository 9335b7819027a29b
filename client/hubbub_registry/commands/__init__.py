"""The one command, ``hubbub``: its subcommands are the entry points of the group ``hubbub.commands``.

A subcommand is a module with ``SUMMARY``, ``add_arguments(parser)`` and ``run(arguments) -> int``. Only the module of
the subcommand that was asked for is imported, so each may need packages of its own.
"""

from __future__ import annotations

import argparse
import difflib
import os
import sys
from collections.abc import Sequence
from importlib.metadata import EntryPoint, version

from hubbub_client.errors import HubbubError
from hubbub_registry.commands.discovery import Command, find_commands, missing_package, summary

INTERRUPTED = 130  # 128 + SIGINT, as a shell counts
PIPE_CLOSED = 141  # 128 + SIGPIPE
_USAGE = "usage: hubbub COMMAND [ARGUMENT ...]"


def main(argv: Sequence[str] | None = None) -> int:
    """Runs ``hubbub``; returns the exit status: 0, 1 for an error, 2 for wrong usage, 130 where interrupted, 141 where
    the reader of the output has gone, whatever the command or the format.

    ``argv`` is without the program's name; ``sys.argv`` where it is None. What a user can do wrong gives one line a
    problem on stderr and no stack trace.
    """
    name, *rest = [*(sys.argv[1:] if argv is None else argv), ""]
    commands = find_commands()
    try:
        if name in ("-h", "--help"):
            print(_help(commands))
            status = 0
        elif name == "--version":
            print(f"hubbub {version('hubbub')}")
            status = 0
        elif name in commands:
            status = _run(name, commands[name], rest[:-1])
        else:
            status = _unknown(name, commands)
        if sys.stdout is not None:  # as it is where it was closed from the start
            sys.stdout.flush()
    except BrokenPipeError:
        # The reader of stdout has gone; the interpreter must not fail again when it flushes at its end.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return PIPE_CLOSED
    except KeyboardInterrupt:
        return INTERRUPTED
    return status


def _run(name: str, entry_point: EntryPoint, argv: list[str]) -> int:
    try:
        command: Command = entry_point.load()
        parser = argparse.ArgumentParser(prog=f"hubbub {name}", description=command.SUMMARY, allow_abbrev=False)
        command.add_arguments(parser)
        return command.run(parser.parse_args(argv))
    except SystemExit as stop:  # argparse, after --help or wrong usage
        if isinstance(stop.__context__, BrokenPipeError):  # rich's console makes that of one
            return PIPE_CLOSED
        return stop.code if isinstance(stop.code, int) else 1
    except ModuleNotFoundError as error:
        return _fail(name, missing_package(entry_point, error))
    except HubbubError as error:
        return _fail(name, str(error))
    except UnicodeEncodeError as error:
        # Never a replacement character: what is printed may be data.
        return _fail(
            name, f"the output is in {error.encoding}, which lacks a character; set PYTHONUTF8=1 and run again"
        )
    except BrokenPipeError:
        raise
    except OSError as error:
        return _fail(name, _of_os(error))


def _fail(name: str, message: str) -> int:
    for line in message.splitlines():
        print(f"hubbub {name}: error: {line}", file=sys.stderr)
    return 1


def _of_os(error: OSError) -> str:
    """What the system refused, on one line, with the file where there is one."""
    what = error.strerror or str(error) or type(error).__name__
    return what if error.filename is None else f"{os.fsdecode(error.filename)}: {what}"


def _unknown(name: str, commands: dict[str, EntryPoint]) -> int:
    if not name:
        print(_help(commands), file=sys.stderr)
    else:
        near = difflib.get_close_matches(name, commands, n=1)
        hint = f"did you mean {near[0]!r}?" if near else "see: hubbub --help"
        print(f"{_USAGE}\nhubbub: error: there is no command {name!r}; {hint}", file=sys.stderr)
    return 2


def _help(commands: dict[str, EntryPoint]) -> str:
    lines = [_USAGE, "", "Telemetry under local differential privacy: hear the crowd, not the person.", "", "commands:"]
    wide = max(len(name) for name in commands)
    lines += [f"  {name:{wide}}  {summary(entry_point)}".rstrip() for name, entry_point in commands.items()]
    lines += ["", "hubbub COMMAND --help says more of one command; hubbub --version says which hubbub this is."]
    return "\n".join(lines)
