"""``hubbub demo``: the main job end to end on one machine, on a real distribution."""

from __future__ import annotations

import argparse
import datetime
import shutil
from collections import Counter
from importlib import resources
from pathlib import Path

import numpy as np
from rich.console import Console

from hubbub_simulations.demo.census import population
from hubbub_simulations.demo.comparison import compare, print_table
from hubbub_simulations.demo.picture import draw
from hubbub_simulations.demo.pipeline import DemoError, collector, command, decode

SUMMARY = "run collector, fleet, sealing and decoding end to end on a real distribution"
METRICS = ("name_by_rappor", "name_by_cms", "name_by_hcms")
# Where there is no terminal to tell its width: what the table needs.
_WIDTH = 100
_MARKER = "made-by-hubbub-demo"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The command line."""
    parser.add_argument("--output", type=Path, default=Path("demo-output"), help="folder for data, table and picture")
    parser.add_argument("--devices", type=int, default=200_000, help="how many devices report (default: 200000)")
    parser.add_argument(
        "--candidates", type=int, default=200, help="how many names the analyst asks for (default: 200)"
    )
    parser.add_argument("--top", type=int, default=20, help="how many names the table and the picture show")
    parser.add_argument("--seed", type=int, default=1990, help="seed of the population (never of the noise)")


def demonstrate(arguments: argparse.Namespace, console: Console) -> Path:
    """Runs everything in ``arguments.output`` and returns the picture's path."""
    folder = fresh_folder(arguments.output)
    people = population()
    values = people.draw(arguments.devices, np.random.default_rng(arguments.seed))
    (folder / "values.txt").write_text("\n".join(values) + "\n")
    (folder / "candidates.txt").write_text("\n".join(people.names[: arguments.candidates]) + "\n")
    registry, data = folder / "registry.toml", folder / "data"
    registry.write_text(_registry())
    console.print(f"{arguments.devices:,} devices, each with a given name drawn from the 1990 US census\n")
    console.print(command(console, "check", str(registry)), highlight=False, markup=False)
    with collector(console, registry, data) as url:
        for metric in METRICS:
            sent = command(console, "fleet", str(registry), metric, str(folder / "values.txt"), "--url", url, *_FLEET)
            console.print(sent, highlight=False, markup=False)
    console.print(command(console, "seal", str(registry), "--data", str(data), "--all"), highlight=False, markup=False)
    truth = Counter(values)
    comparisons = [compare(decode(console, registry, metric, data), truth) for metric in METRICS]
    console.print()
    print_table(console, comparisons, arguments.top)
    picture = folder / "estimates.png"
    draw(comparisons, picture, arguments.top)
    return picture


# The embeddable client itself, once for each device; 100 devices behind each gateway, so that one machine can play all.
_FLEET = ("--client", "reference", "--per-upload", "100")


def run(arguments: argparse.Namespace) -> int:
    """Runs the demonstration on the terminal."""
    console = Console()
    if not console.is_terminal:
        console = Console(width=_WIDTH)
    picture = demonstrate(arguments, console)
    console.print(f"\npicture: {picture}", highlight=False)
    return 0


def _registry() -> str:
    """The registry of the demonstration, which expires in a year, whenever it is run."""
    text = (resources.files("hubbub_simulations.demo") / "registry.toml").read_text()
    return text.replace("2000-01-01", str(datetime.datetime.now(datetime.UTC).date() + datetime.timedelta(days=365)))


def fresh_folder(folder: Path) -> Path:
    """An empty folder: an earlier demonstration's is replaced, anybody else's is left alone."""
    if folder.exists() and any(folder.iterdir()):
        if not (folder / _MARKER).exists():
            raise DemoError(f"{folder} holds files that no demonstration made; name another folder with --output")
        shutil.rmtree(folder)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / _MARKER).write_text("This folder is replaced by the next `hubbub demo`.\n")
    return folder
