"""Draws a trend: a line through each value's estimates, and the band around it."""

from __future__ import annotations

import datetime
from pathlib import Path

from hubbub_decoder.errors import DecodeError, OutputError
from hubbub_decoder.output.visible import visible_value
from hubbub_decoder.over_time.figures import label_text, quantity_of
from hubbub_decoder.over_time.trend import Trend


def draw(trend: Trend, path: Path, *, top: int, simultaneous: bool = False) -> None:
    """Writes ``path`` as a picture, of the format that its name ends in (PNG, SVG, PDF), with ``top`` values.

    Raises DecodeError without matplotlib or for another format, OutputError where it cannot be written.
    """
    try:
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure
    except ImportError:
        raise DecodeError("--plot needs matplotlib; pip install matplotlib") from None
    figure = Figure(figsize=(8, 4.5), layout="constrained")
    formats = FigureCanvasAgg(figure).get_supported_filetypes()
    if path.suffix[1:].lower() not in formats:
        raise DecodeError(f"--plot {path}: a picture's name ends in .png, .svg or .pdf; rename it")
    axes = figure.subplots()
    quantity = quantity_of(trend.pooled)
    scale = 100.0 if quantity == "frequency" else 1.0
    times = [_begins(period * trend.seconds) for period in trend.periods]
    estimate, (low, high) = trend.estimate(), trend.bands(simultaneous=simultaneous)
    for i, value in enumerate(trend.value[:top]):
        # A dollar sign would begin a formula.
        label = visible_value(label_text(value)).replace("$", r"\$")
        (line,) = axes.plot(times, scale * estimate[:, i], marker="o", markersize=3, linewidth=1, label=label)  # type: ignore[arg-type]
        axes.fill_between(times, scale * low[:, i], scale * high[:, i], color=line.get_color(), alpha=0.2, linewidth=0)  # type: ignore[arg-type]
    axes.set_title(trend.metric.replace("$", r"\$"), fontsize=10)
    axes.set_ylabel("% of reports" if quantity == "frequency" else quantity)
    axes.set_xlabel(f"period (UTC); bands cover {'all together' if simultaneous else 'each'} with {trend.level:.4g}")
    axes.grid(alpha=0.3)
    if quantity != "quantile":  # which may lie far from 0, and have nothing to do with it
        axes.axhline(0, color="black", linewidth=0.6)
    axes.legend(fontsize=8, loc="upper left", bbox_to_anchor=(1, 1))
    figure.autofmt_xdate()
    try:
        figure.savefig(path, dpi=110)
    except OSError as error:
        raise OutputError(f"--plot {path}: {error.strerror or error}; write where there is room") from None


def _begins(time: int) -> datetime.datetime:
    try:
        return datetime.datetime.fromtimestamp(time, datetime.UTC)
    except (OverflowError, ValueError, OSError):
        raise DecodeError(
            f"--plot: a period begins at Unix time {time}, which is in no calendar; leave --plot out"
        ) from None
