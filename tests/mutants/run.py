"""Mutation testing of the privacy-critical files: plants small faults, one at a time, and sees whether a test notices.

Run it as ``make mutants`` (or ``python -m tests.mutants.run [GROUP or FILE ...]``). It works on copies of the tree.
Exit status 1 where a mutant survived that ``docs/mutants.md`` does not explain.
"""

from __future__ import annotations

import argparse
import difflib
import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import NamedTuple

from rich.console import Console
from rich.progress import MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from tests.mutants.executor import Executor, Fate, Mutant

HERE = Path(__file__).parent
REPOSITORY = HERE.parents[1]
EXPLAINED = REPOSITORY / "docs" / "mutants.md"
# One replacement for each operator, the likeliest slip: the tool would plant eleven for every plus sign.
_SLIPS = (
    "Add_Sub|Sub_Add|Mul_Add|LShift_RShift|RShift_LShift|BitAnd_BitOr|BitOr_BitAnd|BitXor_BitOr|BitXor_BitAnd"
    "|FloorDiv_Mul|Mod_FloorDiv|Pow_Mul"
)
_LEFT_OUT = rf"core/ReplaceBinaryOperator_(?!({_SLIPS})$)"
_executor: Executor


class Survivor(NamedTuple):
    """A fault that no test noticed: the file, the line as it was, and as it was made."""

    path: str
    before: str
    after: str

    def row(self) -> str:
        """The first three cells of its row in ``docs/mutants.md``."""
        return f"| {Path(self.path).name} | `{self.before}` | `{self.after}` |"


def copy_tree(to: Path) -> None:
    """Copies the working tree, but for what git ignores."""
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(command, cwd=REPOSITORY, capture_output=True, text=True, check=True)
    for name in filter(None, listed.stdout.split("\0")):
        if (REPOSITORY / name).is_file():
            (to / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(REPOSITORY / name, to / name)


def mutants_of(files: list[str], folder: Path) -> list[Mutant]:
    """Every fault that the tool knows in these files, less the replacements that are left out."""
    settings, session = folder / "session.toml", folder / "session.sqlite"
    listed = ", ".join(f'"{file}"' for file in files)
    settings.write_text(f"""
[cosmic-ray]
module-path = [{listed}]
timeout = 1.0
excluded-modules = []
test-command = "false"
[cosmic-ray.distributor]
name = "local"
[cosmic-ray.filters.operators-filter]
exclude-operators = ['{_LEFT_OUT}']
""")
    for words in (["cosmic-ray", "init", settings, session], ["cr-filter-operators", session, settings]):
        program = [str(Path(sys.executable).parent / str(words[0])), *map(str, words[1:])]
        subprocess.run(program, cwd=REPOSITORY, check=True, stdout=subprocess.DEVNULL)
    with sqlite3.connect(session) as db:
        return [
            Mutant(*row)
            for row in db.execute("""
                SELECT module_path, operator_name, occurrence FROM mutation_specs
                WHERE job_id NOT IN (SELECT job_id FROM work_results) ORDER BY module_path, start_pos_row
            """)
        ]


def run_group(name: str, files: dict[str, list[str]], console: Console, workers: int) -> Iterator[Survivor]:
    """Plants every fault of a group; gives those that survived."""
    columns = (TextColumn("{task.description}"), MofNCompleteColumn(), TimeElapsedColumn(), TimeRemainingColumn())
    with (
        tempfile.TemporaryDirectory(prefix="hubbub-mutants-") as folder,
        Progress(*columns, console=console) as progress,
    ):
        mutants = mutants_of(list(files), Path(folder))
        task = progress.add_task(name, total=len(mutants))
        with ProcessPoolExecutor(workers, initializer=_begin, initargs=(folder,)) as pool:
            if not all(pool.map(_passes, files.values())):
                raise SystemExit(f"{name}: the tests fail before any fault is planted")
            for fate in pool.map(_run, mutants, [files[mutant.path] for mutant in mutants]):
                progress.advance(task)
                if fate is not None and fate.survived:
                    survivor = survivor_of(fate)
                    if "TYPE_CHECKING" not in survivor.before:  # imports that exist on a host, where tests run
                        yield survivor


def _begin(folder: str) -> None:
    global _executor
    tree = Path(folder) / f"tree-{os.getpid()}"
    copy_tree(tree)
    _executor = Executor(tree)


def _passes(tests: list[str]) -> bool:
    return _executor.passes(tests)


def _run(mutant: Mutant, tests: list[str]) -> Fate | None:
    fate = _executor.run(mutant, tests)
    return fate if fate is not None and fate.survived else None


def survivor_of(fate: Fate) -> Survivor:
    """The lines that a mutant changed."""
    lines = list(difflib.unified_diff(fate.before.splitlines(), fate.after.splitlines(), lineterm="", n=0))[2:]
    before = " ".join(line[1:].strip() for line in lines if line.startswith("-"))
    after = " ".join(line[1:].strip() for line in lines if line.startswith("+"))
    return Survivor(fate.mutant.path, before.replace("|", "&#124;"), after.replace("|", "&#124;"))


def main() -> int:
    """Runs the groups that were named, or all, and lists the survivors that nobody has explained."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    groups = tomllib.loads((HERE / "groups.toml").read_text())
    parser.add_argument("groups", nargs="*", help=f"of {', '.join(groups)}, or names of files; all by default")
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1, help="processes (default: %(default)s)")
    arguments = parser.parse_args()
    console = Console(stderr=True)
    explained = EXPLAINED.read_text()
    unexplained = 0
    for name in arguments.groups or groups:
        chosen = groups.get(name) or {
            file: tests for group in groups.values() for file, tests in group.items() if file.endswith("/" + name)
        }
        if not chosen:
            parser.error(f"{name} is neither a group nor a file that is mutated")
        for survivor in run_group(name, chosen, console, arguments.workers):
            if survivor.row() not in explained:
                print(survivor.row() + " |", flush=True)
                unexplained += 1
    console.print(f"{unexplained} mutants survived unexplained")
    return 1 if unexplained else 0


if __name__ == "__main__":
    sys.exit(main())
