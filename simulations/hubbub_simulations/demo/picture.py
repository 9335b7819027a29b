"""Draws the estimates: a dot, its interval and the truth for each of the most common values."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from hubbub_simulations.demo.comparison import Comparison

ESTIMATE, TRUTH = "#1f6f8b", "#d1495b"


def draw(comparisons: Sequence[Comparison], path: Path, top: int, unit: str = "devices") -> None:
    """One panel a mechanism, written as a PNG file."""
    figure = Figure(figsize=(5 * len(comparisons), 0.28 * top + 1.6), layout="constrained")
    FigureCanvasAgg(figure)
    panels = figure.subplots(1, len(comparisons), sharey=True, squeeze=False)[0]
    for panel, comparison in zip(panels, comparisons, strict=True):
        rows = comparison.rows[:top]
        places = range(len(rows))
        panel.errorbar(
            [row.count for row in rows],
            places,
            xerr=[[row.count - row.low for row in rows], [row.high - row.count for row in rows]],
            fmt="o",
            color=ESTIMATE,
            markersize=4,
            capsize=2,
            label="estimate, 95 % interval",
        )
        panel.scatter([row.truth for row in rows], places, marker="|", s=120, color=TRUTH, zorder=3, label="truth")
        panel.set_title(
            f"{comparison.mechanism}\nepsilon {comparison.epsilon:.4g}, {comparison.n:,} reports", fontsize=10
        )
        panel.set_xlabel(unit)
        panel.grid(axis="x", alpha=0.3)
        panel.axvline(0, color="black", linewidth=0.6)
    panels[0].set_yticks(list(range(top)), [row.value for row in comparisons[0].rows[:top]])
    panels[0].invert_yaxis()
    panels[-1].legend(loc="lower right", fontsize=8)
    figure.savefig(path, dpi=110)
