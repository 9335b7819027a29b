"""The one command: it finds its subcommands, and says what went wrong without a stack trace."""

import os
import subprocess
import sys
from importlib.metadata import EntryPoint, metadata
from pathlib import Path

import pytest

from hubbub_registry import commands
from hubbub_registry.commands import discovery, main
from hubbub_registry.commands.discovery import GROUP, find_commands, missing_package, summary

from tests.registry.documents import SKETCH, table, write

Captured = pytest.CaptureFixture[str]


@pytest.fixture
def plugin(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The source file of a subcommand ``plugged`` that is the only one installed; a test writes what ``run`` does."""
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(commands, "find_commands", lambda: {"plugged": EntryPoint("plugged", "hubbub_plugged", GROUP)})
    monkeypatch.delitem(sys.modules, "hubbub_plugged", raising=False)
    return tmp_path / "hubbub_plugged.py"


def write_plugin(path: Path, body: str) -> None:
    """A subcommand whose ``run`` has this body."""
    path.write_text(
        f"from hubbub_client.errors import HubbubError\nSUMMARY: str = 'does a thing'\n"
        f"def add_arguments(parser):\n    parser.add_argument('--number', type=int)\n"
        f"def run(arguments):\n    {body}\n"
    )


@pytest.mark.parametrize(("body", "status"), [("return 0", 0), ("raise HubbubError('no output')", 1)])
def test_a_closed_output(
    plugin: Path, monkeypatch: pytest.MonkeyPatch, capsys: Captured, body: str, status: int
) -> None:
    """Without a standard output, as after ``>&-``, a subcommand's own status and error are what is left."""
    write_plugin(plugin, body)
    monkeypatch.setattr(sys, "stdout", None)
    assert main(["plugged"]) == status
    assert ("no output" in capsys.readouterr().err) is (status == 1)


@pytest.mark.parametrize("flag", ["-h", "--help"])
def test_help(capsys: Captured, flag: str) -> None:
    """``hubbub --help`` lists every subcommand with its summary."""
    assert main([flag]) == 0
    lines = capsys.readouterr().out.splitlines()
    for name, entry_point in find_commands().items():
        assert any(line.split() == [name, *summary(entry_point).split()] for line in lines)


@pytest.mark.parametrize("name", ["bench", "check", "collect", "compile", "decode", "fleet", "seal"])
def test_summaries(name: str) -> None:
    """Every subcommand has a summary that can be read without an import, and it is the one it has when imported."""
    entry_point = find_commands()[name]
    assert summary(entry_point) == entry_point.load().SUMMARY != ""


def test_help_imports_nothing_heavy() -> None:
    """Help needs no more than the base install: none of the packages of the extras is imported for it."""
    code = (
        "import sys; from hubbub_registry.commands import main; main(['--help']);"
        "assert not {'numpy', 'aiohttp', 'rich', 'pyarrow', 'scipy', 'msgpack', 'matplotlib'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True, capture_output=True)


def test_version(capsys: Captured) -> None:
    """``hubbub --version`` prints the version of the distribution."""
    assert main(["--version"]) == 0
    assert capsys.readouterr().out == f"hubbub {metadata('hubbub')['Version']}\n"


@pytest.mark.parametrize(
    ("argv", "says"),
    [
        ([], "usage: hubbub COMMAND"),
        (["chek"], "there is no command 'chek'; did you mean 'check'?"),
        (["xyzzy"], "there is no command 'xyzzy'; see: hubbub --help"),
        (["--verbose"], "there is no command '--verbose'"),
        (["check"], "hubbub check: error: the following arguments are required: REGISTRY.toml"),
        (["check", "--jso", "x"], "hubbub check: error: unrecognized arguments: --jso"),
        (["compile", "x", "-o", "y", "--format", "xml"], "hubbub compile: error: argument --format: invalid choice"),
    ],
)
def test_wrong_usage(capsys: Captured, argv: list[str], says: str) -> None:
    """Wrong usage exits with 2 and says on stderr what to write instead."""
    assert main(argv) == 2
    captured = capsys.readouterr()
    assert says in captured.err
    assert captured.out == ""


def test_help_of_a_command(capsys: Captured) -> None:
    """``hubbub COMMAND --help`` is that command's own help."""
    assert main(["check", "--help"]) == 0
    assert "usage: hubbub check" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("body", "status", "stderr"),
    [
        ("return 0", 0, ""),
        ("return 3", 3, ""),
        ("raise HubbubError('it is wrong')", 1, "hubbub plugged: error: it is wrong\n"),
        ("raise HubbubError('a: 1\\nb: 2')", 1, "hubbub plugged: error: a: 1\nhubbub plugged: error: b: 2\n"),
        ("open('/nowhere/at all')", 1, "hubbub plugged: error: /nowhere/at all: No such file or directory\n"),
        ("raise OSError('odd')", 1, "hubbub plugged: error: odd\n"),
        ("raise OSError", 1, "hubbub plugged: error: OSError\n"),
        ("raise PermissionError(13, 'Permission denied', b'x')", 1, "hubbub plugged: error: x: Permission denied\n"),
        (
            "print(chr(233).encode('ascii'))",
            1,
            "hubbub plugged: error: the output is in ascii, which lacks a character; set PYTHONUTF8=1 and run again\n",
        ),
        ("raise KeyboardInterrupt", 130, ""),
        (
            "import no_such_package.part",
            1,
            "hubbub plugged: error: the package no_such_package that it needs is not installed; "
            "run: pip install no_such_package\n",
        ),
    ],
)
def test_errors(plugin: Path, capsys: Captured, body: str, status: int, stderr: str) -> None:
    """Each kind of ending has its exit status, and one line for each problem on stderr."""
    write_plugin(plugin, body)
    assert main(["plugged"]) == status
    assert capsys.readouterr().err == stderr


def test_bugs_are_not_hidden(plugin: Path) -> None:
    """What no user did wrong keeps its stack trace."""
    write_plugin(plugin, "return {}['a bug']")
    with pytest.raises(KeyError):
        main(["plugged"])


def test_plugged_in_help(plugin: Path, capsys: Captured) -> None:
    """A subcommand of another distribution is listed like our own, without being imported."""
    write_plugin(plugin, "return 0")
    assert main(["--help"]) == 0
    assert "  plugged  does a thing\n" in capsys.readouterr().out
    assert "hubbub_plugged" not in sys.modules


def test_no_source_no_summary(tmp_path: Path, plugin: Path) -> None:
    """A subcommand whose module is nowhere, or has no literal summary, is listed without one."""
    assert summary(EntryPoint("x", "hubbub_nowhere.commands.x", GROUP)) == ""
    assert summary(EntryPoint("x", "hubbub_registry.commands.nowhere", GROUP)) == ""
    plugin.write_text("A = 1\nSUMMARY = str(3)\n")
    assert summary(EntryPoint("x", "hubbub_plugged", GROUP)) == ""


@pytest.mark.parametrize("room", discovery._EXTRAS)
def test_extras(room: str) -> None:
    """A room of ours whose packages are missing names the extra to install, and that extra exists."""
    entry_point = EntryPoint("x", f"{room}.commands.x", GROUP)
    message = missing_package(entry_point, ModuleNotFoundError("no", name="pyarrow.parquet"))
    extra = discovery._EXTRAS[room]
    assert message == f"the package pyarrow that it needs is not installed; run: pip install 'hubbub[{extra}]'"
    assert extra in metadata("hubbub").get_all("Provides-Extra", [])


def test_a_missing_module_of_its_own_is_a_bug() -> None:
    """A room that cannot find its own module raises, for no extra would help."""
    error = ModuleNotFoundError("no", name="hubbub_decoder.commands")
    with pytest.raises(ModuleNotFoundError):
        missing_package(EntryPoint("x", "hubbub_decoder.commands.x", GROUP), error)


def test_as_a_module_into_a_closed_pipe(tmp_path: Path) -> None:
    """``python -m hubbub_registry`` is the command, and ends quietly where the reader of its output has gone."""
    path = write(tmp_path, *(table(f"metrics.m{i}", SKETCH) for i in range(3)))
    command = [sys.executable, "-m", "hubbub_registry", "check", str(path), "--json"]
    assert subprocess.run(command, check=True, capture_output=True, text=True).stdout.startswith("{")
    reader, writer = os.pipe()
    os.close(reader)
    try:
        ended = subprocess.run(command, stdout=writer, stderr=subprocess.PIPE, check=False)
    finally:
        os.close(writer)
    assert (ended.returncode, ended.stderr) == (141, b"")


def test_first_claim_of_a_name(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where two distributions claim one name, the first on the path has it, and names are in order."""
    claims = [EntryPoint("b", "first", GROUP), EntryPoint("a", "other", GROUP), EntryPoint("b", "second", GROUP)]
    monkeypatch.setattr(discovery, "entry_points", lambda group: claims)
    assert [(name, found.module) for name, found in find_commands().items()] == [("a", "other"), ("b", "first")]
