"""``hubbub demo-device``: boards from nothing, on the real MicroPython, over HTTP and MQTT, on a real series."""

from __future__ import annotations

import argparse
import dataclasses
import datetime
from collections import Counter
from importlib import resources
from pathlib import Path

from rich.console import Console

from hubbub_simulations.commands.demo import fresh_folder
from hubbub_simulations.demo.comparison import Comparison, compare, print_table
from hubbub_simulations.demo.picture import draw
from hubbub_simulations.demo.pipeline import collector, command, decode
from hubbub_simulations.demo_device.boards import Boards
from hubbub_simulations.demo_device.broker import bridge, broker, free_port
from hubbub_simulations.demo_device.counters import counted, wait_until
from hubbub_simulations.demo_device.thermometer import band, readings

SUMMARY = "run built boards on the real MicroPython against a collector, over HTTP and MQTT"
METRIC = "temperature_band"
_WIDTH = 100


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The command line."""
    parser.add_argument(
        "--output", type=Path, default=Path("demo-device-output"), help="folder for boards, data, table and picture"
    )
    parser.add_argument("--boards", type=int, default=3000, help="how many boards report (default: 3000)")
    parser.add_argument("--heap", default="96k", help="memory of each board, besides its flash (default: %(default)s)")


def demonstrate(arguments: argparse.Namespace, console: Console) -> Comparison:
    """Runs everything in ``arguments.output``, and returns the truth beside the estimates."""
    folder = fresh_folder(arguments.output)
    series = readings(arguments.boards)
    console.print(
        f"{len(series):,} boards, each a process of MicroPython with {arguments.heap} of heap, its own entropy chain, "
        "secret, budget and state, and one hour of Seattle's temperature in 2010 on its sensor\n"
    )
    registry, data = folder / "registry.toml", folder / "data"
    registry.write_text(_registry())
    over = {name: Boards(console, registry, folder / name, name, arguments.heap) for name in ("https", "mqtt")}
    admin = free_port()
    with (
        collector(console, registry, data, "--admin", f"127.0.0.1:{admin}") as url,
        broker(console, folder) as port,
        bridge(console, port, url),
    ):
        local: dict[str, dict[str, object]] = {
            "https": {"collector": url, "plain": True},
            "mqtt": {"broker": "127.0.0.1", "port": port, "plain": True},
        }
        with (
            over["https"].running(series[0::2], local["https"]) as one,
            over["mqtt"].running(series[1::2], local["mqtt"]) as other,
        ):
            for name, boards in (("https", one), ("mqtt", other)):
                for board in boards:
                    board.result()
                console.print(f"{len(boards):,} boards reported over {name}", highlight=False)
        wait_until(lambda: counted(admin, "hubbub_records_stored_total") >= len(series), "not every report arrived")
    console.print(command(console, "seal", str(registry), "--data", str(data), "--all"), highlight=False, markup=False)
    compared = compare(decode(console, registry, METRIC, data), Counter(map(band, series)))
    # A distribution reads from its lowest band to its highest.
    rows = sorted(compared.rows, key=lambda row: int(row.value.partition("-")[0]))
    comparison = dataclasses.replace(compared, rows=tuple(rows))
    console.print()
    print_table(console, [comparison], len(comparison.rows), "boards by temperature", "band")
    draw([comparison], folder / "estimates.png", len(comparison.rows), "boards")
    return comparison


def run(arguments: argparse.Namespace) -> int:
    """Runs the demonstration on the terminal."""
    console = Console()
    if not console.is_terminal:
        console = Console(width=_WIDTH)
    demonstrate(arguments, console)
    console.print(f"\npicture: {arguments.output / 'estimates.png'}", highlight=False)
    return 0


def _registry() -> str:
    """The registry of the demonstration, which expires in a year, whenever it is run."""
    text = (resources.files("hubbub_simulations.demo_device") / "registry.toml").read_text(encoding="utf-8")
    return text.replace("2000-01-01", str(datetime.datetime.now(datetime.UTC).date() + datetime.timedelta(days=365)))
