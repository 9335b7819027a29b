"""What changed since last week? Two weeks of a simulated fleet, sealed, decoded and compared, with error bars.

Run it in a checkout: ``python examples/analysis/weekly_report.py [--devices 40000] [--picture weeks.png]``.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from pathlib import Path

import numpy as np
from fleet import collect, seal_all

from hubbub_decoder import Dataset, StateCache, Trend, trend
from hubbub_decoder.over_time.picture import draw
from hubbub_registry import load_registry

REGISTRY = Path(__file__).with_name("registry.toml")
# Shares of the devices: last week's, and this week's, in which an update made "dark" the default of some.
THEMES = {
    "system": (0.50, 0.44), "light": (0.22, 0.22), "dark": (0.20, 0.26), "sepia": (0.07, 0.07),
    "high contrast": (0.01, 0.01),
}  # fmt: skip
FONTS = {"Literata": (0.6, 0.6), "Georgia": (0.25, 0.25), "OpenDyslexic": (0.05, 0.05), "Verdana": (0.10, 0.10)}


def main() -> None:
    """Simulates, seals, decodes and prints."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--devices", type=int, default=40_000, help="reports a week; default: 40000")
    parser.add_argument("--picture", type=Path, metavar="FILE.png", help="also draw the themes, week by week")
    arguments = parser.parse_args()
    registry = load_registry(REGISTRY)
    rng = np.random.default_rng(7)
    with tempfile.TemporaryDirectory() as folder:
        data = Path(folder)
        for name, shares in (("theme", THEMES), ("font", FONTS)):
            metric = registry.metric(name)
            last = int(time.time()) // metric.period - 1
            for week, which in ((last - 1, 0), (last, 1)):
                holders = {value: round(arguments.devices * share[which]) for value, share in shares.items()}
                collect(data, metric, week, holders, rng)
        seal_all(data, registry)
        cache = StateCache(data / "states")  # next week only the new parts are read
        for name in ("theme", "font"):
            metric = registry.metric(name)
            report(trend(metric, Dataset(data, metric), cache=cache), arguments.picture if name == "theme" else None)


def report(weeks: Trend, picture: Path | None) -> None:
    """Last week with error bars, what changed in it, and a sentence for whoever reads no tables."""
    before, after = weeks.periods
    print(weeks.results[-1], end="\n\n")
    change = weeks.between(before, after)
    print(change, end="\n\n")
    moved = change.significant(alpha=0.01, correction="holm")
    for i in np.flatnonzero(moved):
        print(
            f"{change.value[i]}: {change.before[i]:.1%} -> {change.after[i]:.1%}, a change of "
            f"{change.difference[i]:+.1%} (95 % interval {change.low[i]:+.1%} to {change.high[i]:+.1%})"
        )
    if not moved.any():
        print("No value changed by more than its noise.")
    print()
    if picture is not None:
        draw(weeks, picture, top=5, simultaneous=True)


if __name__ == "__main__":
    main()
