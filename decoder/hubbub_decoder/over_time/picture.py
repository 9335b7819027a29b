"""Draws a trend: a line through each value's estimates, and the band around it."""

from __future__ import annotations

import datetime
from pathlib import Path

from hubbub_decoder.errors import DecodeError, OutputError
from hubbub_decoder.output.visible import visible_value
from hubbub_decoder.over_time.figures import label_text, quantity_of
from hubbub_decoder.over_time.glyphs import Glyphs
from hubbub_decoder.over_time.trend import Trend

_FORMATS = frozenset({".png", ".svg", ".pdf"})
_MOST_TICKS = 12


def check_picture(path: Path) -> None:
    """Before hours of reading. Raises DecodeError without matplotlib, or for a name that ends in no format of ours."""
    try:
        import matplotlib  # noqa: F401
    except ImportError:
        raise DecodeError("--plot needs matplotlib; pip install matplotlib") from None
    if path.suffix.lower() not in _FORMATS:
        raise DecodeError(f"--plot {path}: a picture's name ends in .png, .svg or .pdf; rename it")


def draw(trend: Trend, path: Path, *, top: int, simultaneous: bool = False, cell: str | None = None) -> tuple[str, ...]:
    """Writes ``path`` as a picture, of the format that its name ends in (PNG, SVG, PDF), with ``top`` values.

    ``cell`` names the part of all reports that the trend is of, for the title. Returns notes: which characters are
    drawn as their code points, as the font lacks them. Raises DecodeError without matplotlib or for another format,
    OutputError where it cannot be written.
    """
    check_picture(path)
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8, 4.5), layout="constrained")
    axes = figure.subplots()
    glyphs = Glyphs()
    quantity = quantity_of(trend.pooled)
    scale = 100.0 if quantity == "frequency" else 1.0
    times = [_begins(period * trend.seconds) for period in trend.periods]
    estimate, (low, high) = trend.estimate(), trend.bands(simultaneous=simultaneous)
    for i, value in enumerate(trend.value[:top]):
        label = glyphs.drawn(visible_value(label_text(value)))
        (line,) = axes.plot(times, scale * estimate[:, i], marker="o", markersize=3, linewidth=1, label=label)  # type: ignore[arg-type]
        axes.fill_between(times, scale * low[:, i], scale * high[:, i], color=line.get_color(), alpha=0.2, linewidth=0)  # type: ignore[arg-type]
    title = trend.metric if cell is None else f"{trend.metric}: {visible_value(cell)}"
    axes.set_title(glyphs.drawn(title), fontsize=10)
    axes.set_ylabel("% of reports" if quantity == "frequency" else quantity)
    covered = "all together" if simultaneous else "each"
    axes.set_xlabel(f"period (UTC); bands cover {covered} with {100 * trend.level:.4g} %")
    axes.grid(alpha=0.3)
    if quantity != "quantile":  # which may lie far from 0, and have nothing to do with it
        axes.axhline(0, color="black", linewidth=0.6)
    if quantity != "mean":  # whose one line needs no name
        axes.legend(fontsize=8, loc="upper left", bbox_to_anchor=(1, 1))
    every = -(-len(times) // _MOST_TICKS)
    axes.set_xticks(times[::every], [trend.begins(period) for period in trend.periods[::every]])  # type: ignore[arg-type]
    figure.autofmt_xdate()
    try:
        figure.savefig(path, dpi=110)
    except OSError as error:
        raise OutputError(f"--plot {path}: {error.strerror or error}; write where there is room") from None
    return glyphs.notes()


def _begins(time: int) -> datetime.datetime:
    try:
        return datetime.datetime.fromtimestamp(time, datetime.UTC)
    except (OverflowError, ValueError, OSError):
        raise DecodeError(
            f"--plot: a period begins at Unix time {time}, which is in no calendar; leave --plot out"
        ) from None
