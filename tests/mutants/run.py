"""Mutation testing of the privacy-critical files: plants small faults, one at a time, and sees whether a test notices.

Run it as ``make mutants`` (or ``python -m tests.mutants.run [GROUP ...]``). It works on a copy of the tree. Exit status
1 where a mutant survived that ``docs/mutants.md`` does not explain.
"""

from __future__ import annotations

import argparse
import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path
from typing import NamedTuple

from rich.console import Console
from rich.progress import MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

HERE = Path(__file__).parent
REPOSITORY = HERE.parents[1]
EXPLAINED = REPOSITORY / "docs" / "mutants.md"
# One replacement for each operator, the likeliest slip: the tool would plant eleven for every plus sign.
_SLIPS = (
    "Add_Sub|Sub_Add|Mul_Add|LShift_RShift|RShift_LShift|BitAnd_BitOr|BitOr_BitAnd|BitXor_BitOr|BitXor_BitAnd"
    "|FloorDiv_Mul|Mod_FloorDiv|Pow_Mul"
)
_LEFT_OUT = rf"core/ReplaceBinaryOperator_(?!({_SLIPS})$)"
_TIMEOUT = 60.0


class Survivor(NamedTuple):
    """A fault that no test noticed: the file, the line as it was, and as it was made."""

    path: str
    before: str
    after: str

    def row(self) -> str:
        """The first three cells of its row in ``docs/mutants.md``."""
        return f"| {Path(self.path).name} | `{self.before}` | `{self.after}` |"


def copy_tree(to: Path) -> None:
    """Copies what git tracks, as it is in the working tree."""
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=REPOSITORY, capture_output=True, text=True, check=True)
    for name in filter(None, listed.stdout.split("\0")):
        if (REPOSITORY / name).is_file():
            (to / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(REPOSITORY / name, to / name)


def run_group(name: str, group: dict[str, list[str]], console: Console) -> list[Survivor]:
    """Plants every fault of a group; returns those that survived."""
    with tempfile.TemporaryDirectory(prefix="hubbub-mutants-") as folder:
        tree = Path(folder) / "tree"
        copy_tree(tree)
        roots = ("client", "firmware", "collector", "decoder", "simulations")
        path = os.pathsep.join(str(tree / root) for root in roots)
        environment = {**os.environ, "PYTHONPATH": path, "CI": "1", "PYTHONDONTWRITEBYTECODE": "1"}
        (tree / "session.toml").write_text(_configuration(group))
        session = tree / "session.sqlite"

        def tool(*words: str) -> None:
            command = [str(Path(sys.executable).parent / words[0]), *words[1:]]
            subprocess.run(command, cwd=tree, env=environment, check=True, stdout=subprocess.DEVNULL)

        tool("cosmic-ray", "baseline", "session.toml")
        tool("cosmic-ray", "init", "session.toml", "session.sqlite")
        tool("cr-filter-operators", "session.sqlite", "session.toml")
        _watch(name, session, tree, environment, console)
        return survivors(session)


def _configuration(group: dict[str, list[str]]) -> str:
    files = ", ".join(f'"{file}"' for file in group["files"])
    command = f"{sys.executable} -m pytest -x -q -p no:cacheprovider {' '.join(group['tests'])}"
    return f"""
[cosmic-ray]
module-path = [{files}]
timeout = {_TIMEOUT}
excluded-modules = []
test-command = "{command}"
[cosmic-ray.distributor]
name = "local"
[cosmic-ray.filters.operators-filter]
exclude-operators = ['{_LEFT_OUT}']
"""


def _watch(name: str, session: Path, tree: Path, environment: dict[str, str], console: Console) -> None:
    command = [str(Path(sys.executable).parent / "cosmic-ray"), "exec", "session.toml", "session.sqlite"]
    columns = (TextColumn("{task.description}"), MofNCompleteColumn(), TimeElapsedColumn(), TimeRemainingColumn())
    with (
        Progress(*columns, console=console) as progress,
        subprocess.Popen(command, cwd=tree, env=environment, stdout=subprocess.DEVNULL) as running,
    ):
        task = progress.add_task(name, total=_count(session, "work_items"))
        while running.poll() is None:
            progress.update(task, completed=_count(session, "work_results"))
            try:
                running.wait(2)
            except subprocess.TimeoutExpired:
                continue
        progress.update(task, completed=_count(session, "work_results"))
    if running.returncode:
        raise SystemExit(f"{name}: the mutation tool ended with {running.returncode}")


def _count(session: Path, table: str) -> int:
    with sqlite3.connect(f"file:{session}?mode=ro", uri=True) as db:
        (count,) = db.execute(f"SELECT count(*) FROM {table}").fetchone()  # noqa: S608 - two constants
    return int(count)


def survivors(session: Path) -> list[Survivor]:
    """The faults of a finished session that no test noticed."""
    query = """
        SELECT s.module_path, r.diff FROM work_results r JOIN mutation_specs s USING (job_id)
        WHERE r.test_outcome = 'SURVIVED' ORDER BY s.module_path, s.start_pos_row
    """
    with sqlite3.connect(session) as db:
        return [_survivor(path, diff) for path, diff in db.execute(query)]


def _survivor(path: str, diff: str) -> Survivor:
    lines = [line for line in diff.splitlines() if not line.startswith(("---", "+++"))]
    before = " ".join(line[1:].strip() for line in lines if line.startswith("-"))
    after = " ".join(line[1:].strip() for line in lines if line.startswith("+"))
    return Survivor(path, before.replace("|", "&#124;"), after.replace("|", "&#124;"))


def main() -> int:
    """Runs the groups that were named, or all, and lists the survivors that nobody has explained."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    groups = tomllib.loads((HERE / "groups.toml").read_text())
    parser.add_argument("groups", nargs="*", help=f"of {', '.join(groups)}; all by default")
    console = Console(stderr=True)
    explained = EXPLAINED.read_text()
    unexplained = 0
    for name in parser.parse_args().groups or groups:
        for survivor in run_group(name, groups[name], console):
            if survivor.row() not in explained:
                print(survivor.row() + " |")
                unexplained += 1
    console.print(f"{unexplained} mutants survived unexplained")
    return 1 if unexplained else 0


if __name__ == "__main__":
    sys.exit(main())
